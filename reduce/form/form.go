// Package form holds the shapes the reducing stages share: what a stage may
// spend, and the view it proposes. No stage lives here, and no I/O.
package form

// Settings are the knobs of the evidence law. Zero values mean the defaults.
type Settings struct {
	// Head and Tail are lines (or records) always kept at both ends.
	Head, Tail int
	// Context is lines kept on each side of a line that is evidence.
	Context int
	// MaxTokens bounds a view, 0 none. A view over it is refused, never cut
	// ("no forced fit").
	MaxTokens int
	// Tight keeps fewer repeats of ordinary shapes; evidence stays.
	Tight bool
	// Count gives the tokens of a text; nil means bytes/4.
	Count func(string) int
}

// Defaults of CONTRACTS §9, in lines.
const (
	DefaultHead    = 10
	DefaultTail    = 10
	DefaultContext = 2
)

// WithDefaults fills zero values.
func (s Settings) WithDefaults() Settings {
	if s.Head == 0 {
		s.Head = DefaultHead
	}
	if s.Tail == 0 {
		s.Tail = DefaultTail
	}
	if s.Context == 0 {
		s.Context = DefaultContext
	}
	if s.Count == nil {
		s.Count = func(text string) int { return (len(text) + 3) / 4 }
	}
	return s
}

// View is a smaller way to show a text that hides part of it. The caller puts the
// marker between Head and Tail: for line text Head ends with a newline and Tail is
// empty; for JSON the marker stands inside a JSON string, so that Head+marker+Tail
// is valid JSON (InJSON says so: the marker must then be escaped).
type View struct {
	Head, Tail string
	InJSON     bool
	// Shown and Total count Unit ("lines" or "records") of the source. They come
	// from source indexes, never from guesses.
	Shown, Total int
	Unit         string
}

// Signals counts the severity words of a text, by source line.
type Signals struct {
	Errors, Warnings, Failures, Panics int
}
