// Package scenarios holds texts whose evidence is known to the letter, and checks
// that a reduction leaves every piece of it visible.
//
// A scenario is a JSON file under cases/:
//
//	{
//	  "about":     "one sentence for a reader",
//	  "tool":      "bash", "command": "npm test", "exit_code": 1,
//	  "text":      "the output itself"            — one of text, file and make
//	  "file":      "a file under cases/"
//	  "make":      {"what": "warnings", "lines": 10000}
//	  "mixed":     true    the result has a part that is no text
//	  "retention": "fails" the vault cannot store the original
//	  "expect":    "unchanged", "smaller" or "any"
//	  "evidence":  ["strings that must stand in what is shown", …]
//	}
//
// What lives here: the cases, their loader, the check. What may not: a reduction.
package scenarios
