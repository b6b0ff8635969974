package reports

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// plain renders for a terminal.
type plain struct{}

// textWidth is the width of a text report, in runes.
const textWidth = 100

const pairWidth = len("Against optimum")

func (plain) title(b *strings.Builder, text string) {
	b.WriteString(text + "\n" + strings.Repeat("=", utf8.RuneCountInString(text)) + "\n")
}

func (plain) heading(b *strings.Builder, text string) { b.WriteString("\n" + text + "\n") }

func (plain) table(b *strings.Builder, t table) { t.writeText(b) }

func (plain) pair(b *strings.Builder, name, value string) {
	wrap(b, fmt.Sprintf("  %-*s ", pairWidth, name), value)
}

func (plain) item(b *strings.Builder, text string) { wrap(b, "  - ", text) }

func (plain) caption(b *strings.Builder, text string) { wrap(b, "", text) }

// wrap writes value after lead and breaks it at spaces so that no line passes
// textWidth; a word that is longer stands alone.
func wrap(b *strings.Builder, lead, value string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(lead)) // under the first word
	line, used := lead, utf8.RuneCountInString(lead)
	empty := true
	for _, word := range strings.Fields(value) {
		word = clean(word)
		width := utf8.RuneCountInString(word)
		if !empty && used+1+width > textWidth {
			b.WriteString(line + "\n")
			line, used, empty = indent, len(indent), true
		}
		if !empty {
			line += " "
			used++
		}
		line += word
		used += width
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// markdown renders for published results.
type markdown struct{}

func (markdown) title(b *strings.Builder, text string) { b.WriteString("# " + text + "\n\n") }

func (markdown) heading(b *strings.Builder, text string) { b.WriteString("\n## " + text + "\n\n") }

func (markdown) table(b *strings.Builder, t table) {
	t.writeMarkdown(b)
	b.WriteString("\n")
}

func (markdown) pair(b *strings.Builder, name, value string) {
	value = clean(value)
	if name == "Command" {
		value = "`" + value + "`"
	}
	b.WriteString("- **" + name + "**: " + value + "\n")
}

func (markdown) item(b *strings.Builder, text string) { b.WriteString("- " + clean(text) + "\n") }

func (markdown) caption(b *strings.Builder, text string) { b.WriteString(text + "\n") }
