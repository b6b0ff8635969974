package tokens

import "strings"

// ForModel returns the counter of a model's own tokenizer. It is false for every
// model whose tokenizer is not public or not known here (Claude, Gemini, names
// never seen): nothing is guessed from the look of a name.
func ForModel(model string) (Counter, bool) {
	encoding, ok := EncodingOf(model)
	if !ok {
		return nil, false
	}
	c, err := Named(encoding)
	return c, err == nil
}

// EncodingOf names the encoding of a model, false when it has none here. It
// builds no table. The rules, first match wins: an exact name; an alias of a
// known route; a published prefix; a family of models.
func EncodingOf(model string) (string, bool) {
	route, name := splitRoute(model)
	name, ok := withoutWindow(route, name)
	if !ok || name == "" {
		return "", false
	}
	if tuned, found := strings.CutPrefix(name, "ft:"); found {
		name, _, _ = strings.Cut(tuned, ":") // a tuned model keeps the tokenizer of the one it was made from
	}
	for _, e := range exactNames {
		if e.name == name {
			return e.encoding, true
		}
	}
	if knownRoute(route) {
		for _, e := range routeAliases {
			if e.name == name {
				return e.encoding, true
			}
		}
	}
	for _, e := range namePrefixes {
		if strings.HasPrefix(name, e.name) {
			return e.encoding, true
		}
	}
	for _, family := range o200kFamilies {
		if inFamily(name, family) {
			return O200kBase, true
		}
	}
	return "", false
}

// splitRoute cuts "openrouter/openai/gpt-4o" into "openrouter/openai" and
// "gpt-4o". "openai:gpt-4o" is cut the same way, for known routes only: a colon
// elsewhere belongs to the name ("ft:gpt-4o:org").
func splitRoute(model string) (route, name string) {
	name = model
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		route, name = model[:i], model[i+1:]
	}
	head, rest, found := strings.Cut(name, ":")
	if !found {
		return route, name
	}
	if route != "" {
		head = route + "/" + head
	}
	if head != "" && knownRoute(head) {
		return head, rest
	}
	return route, name
}

// knownRoute says whether names under this route are the vendor's own.
func knownRoute(route string) bool {
	switch route {
	case "", "openai", "openai-codex", "openrouter/openai":
		return true
	}
	return false
}

const wideWindow = "-900k"

// withoutWindow takes the suffix of the wide context window off the names that
// are known to have one. Any other name with that suffix is unknown.
func withoutWindow(route, name string) (string, bool) {
	short, found := strings.CutSuffix(name, wideWindow)
	if !found {
		return name, true
	}
	if !knownRoute(route) {
		return "", false
	}
	for _, w := range wideNames {
		if short == w.name {
			return short, true
		}
		if day, ok := strings.CutPrefix(short, w.name+"-"); ok && w.dated && isDate(day) {
			return short, true
		}
	}
	return "", false
}

// isDate says whether s looks like 2026-03-05.
func isDate(s string) bool {
	if len(s) != len("2006-01-02") {
		return false
	}
	for i := range len(s) {
		dash := i == 4 || i == 7
		if dash != (s[i] == '-') || !dash && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// inFamily says whether name is the family's or starts with it at a word's end,
// so that "gpt-5.6-terra" is of gpt-5 and "gpt-50" is not.
func inFamily(name, family string) bool {
	rest, ok := strings.CutPrefix(name, family)
	return ok && (rest == "" || strings.IndexByte("-.:@", rest[0]) >= 0)
}

type named struct{ name, encoding string }

// wideNames are the models sold with the wide window under a name of their own.
var wideNames = []struct {
	name  string
	dated bool // dated snapshots have it too
}{
	{"gpt-5.4", true}, {"gpt-5.6-sol", true}, {"gpt-5.6-terra", true}, {"gpt-5.6-luna", true}, {"gpt-6.1-sol", true},
	{"gpt-6-sol", false}, {"gpt-6-luna", false}, {"gpt-6-astra", false}, {"gpt-daybreak-blue-latest", false},
}

// routeAliases are names no published table holds, valid on known routes only.
var routeAliases = []named{{"gpt-6.1-sol", O200kBase}}

// o200kFamilies are families all of whose members use o200k_base.
var o200kFamilies = []string{"gpt-4o", "gpt-4.1", "gpt-5", "o1", "o3", "o4"}

// exactNames are the names of tiktoken's published model table.
var exactNames = []named{
	{"o1", O200kBase}, {"o3", O200kBase}, {"o4-mini", O200kBase},
	{"gpt-5", O200kBase}, {"gpt-4.1", O200kBase}, {"gpt-4o", O200kBase},
	{"gpt-4", CL100kBase}, {"gpt-3.5-turbo", CL100kBase}, {"gpt-3.5", CL100kBase}, {"gpt-35-turbo", CL100kBase},
	{"davinci-002", CL100kBase}, {"babbage-002", CL100kBase},
	{"text-embedding-ada-002", CL100kBase}, {"text-embedding-3-small", CL100kBase}, {"text-embedding-3-large", CL100kBase},
	{"text-davinci-003", P50kBase}, {"text-davinci-002", P50kBase},
	{"code-davinci-002", P50kBase}, {"code-davinci-001", P50kBase},
	{"code-cushman-002", P50kBase}, {"code-cushman-001", P50kBase},
	{"davinci-codex", P50kBase}, {"cushman-codex", P50kBase},
	{"text-davinci-edit-001", P50kEdit}, {"code-davinci-edit-001", P50kEdit},
	{"text-davinci-001", R50kBase}, {"text-curie-001", R50kBase}, {"text-babbage-001", R50kBase}, {"text-ada-001", R50kBase},
	{"davinci", R50kBase}, {"curie", R50kBase}, {"babbage", R50kBase}, {"ada", R50kBase},
	{"text-similarity-davinci-001", R50kBase}, {"text-similarity-curie-001", R50kBase},
	{"text-similarity-babbage-001", R50kBase}, {"text-similarity-ada-001", R50kBase},
	{"text-search-davinci-doc-001", R50kBase}, {"text-search-curie-doc-001", R50kBase},
	{"text-search-babbage-doc-001", R50kBase}, {"text-search-ada-doc-001", R50kBase},
	{"code-search-babbage-code-001", R50kBase}, {"code-search-ada-code-001", R50kBase},
}

// namePrefixes are the prefixes of the same table; none starts another. gpt-oss adds special tokens to o200k_base and nothing else, and
// special tokens are never counted as such here.
var namePrefixes = []named{
	{"o1-", O200kBase}, {"o3-", O200kBase}, {"o4-mini-", O200kBase},
	{"gpt-5-", O200kBase}, {"gpt-4.5-", O200kBase}, {"gpt-4.1-", O200kBase},
	{"chatgpt-4o-", O200kBase}, {"gpt-4o-", O200kBase}, {"gpt-oss-", O200kBase},
	{"gpt-4-", CL100kBase}, {"gpt-3.5-turbo-", CL100kBase}, {"gpt-35-turbo-", CL100kBase},
}
