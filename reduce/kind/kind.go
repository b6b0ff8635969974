package kind

// Kind names what a tool result is.
type Kind string

// The kinds. A reducer exists for some of them; the others are named so that the
// reports can say what was left alone.
const (
	Plain   Kind = "plain"
	Log     Kind = "log"
	JSON    Kind = "json"
	NDJSON  Kind = "ndjson"
	Search  Kind = "search"  // file:line:text
	Test    Kind = "test"    // test-runner output, its JSON and XML reports included
	Build   Kind = "build"   // compilers, package managers, build tools
	Stack   Kind = "stack"   // mostly stack traces
	Diff    Kind = "diff"    // unified diffs
	Listing Kind = "listing" // ls, find, tree, wc
	Code    Kind = "code"    // source text that no read tool produced
	Table   Kind = "table"   // aligned columns
	CSV     Kind = "csv"
	HTML    Kind = "html"
	XML     Kind = "xml"
	Metrics Kind = "metrics" // Prometheus text format
	Read    Kind = "read"    // a file's text, meant for editing
)

// Kinds lists every kind, in the order above.
func Kinds() []Kind {
	return []Kind{Plain, Log, JSON, NDJSON, Search, Test, Build, Stack, Diff, Listing, Code, Table, CSV, HTML, XML, Metrics, Read}
}
