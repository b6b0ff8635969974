package settings

import (
	"fmt"
	"strings"
)

// Markdown is the tables of docs/settings.md: every setting, every converted and every
// ignored variable.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| `TOKEN_TERMINATOR_…` | in config.toml | default | takes | set by | what |\n|---|---|---|---|---|---|\n")
	for _, sp := range table {
		def := sp.def
		if def == "" {
			def = "–"
		}
		if sp.unit != "" && def != "–" {
			def += " " + sp.unit
		}
		who := "session"
		if sp.daemon {
			who = "daemon"
		}
		doc := sp.doc
		if sp.later {
			doc = strings.TrimSpace(doc + " (no effect in this release)")
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s | %s |\n", sp.name, sp.key(), def, sp.wants(), who, doc)
	}
	b.WriteString("\n| old variable | is taken as |\n|---|---|\n")
	for _, c := range conversions {
		how := "as it is"
		if c.divide > 0 {
			how = fmt.Sprintf("divided by %v", c.divide)
		}
		fmt.Fprintf(&b, "| `%s` | `%s`, %s |\n", c.name, c.to, how)
	}
	for _, name := range ignored {
		fmt.Fprintf(&b, "| `%s` | nothing: it has no effect |\n", name)
	}
	return b.String()
}

// Names lists every variable an environment may have, whole: settings, old variables
// and ignored ones. No name of a key is among them.
func Names() []string {
	var names []string
	for _, sp := range table {
		names = append(names, Prefix+sp.name)
	}
	for _, c := range conversions {
		names = append(names, Prefix+c.name)
	}
	for _, name := range ignored {
		names = append(names, Prefix+name)
	}
	return names
}
