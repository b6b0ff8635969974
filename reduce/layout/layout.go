package layout

import (
	"errors"

	"token-terminator/reduce/kind"
)

// ErrNotLayout says that a text is no lossless layout.
var ErrNotLayout = errors.New("restore layout: text does not start with a layout line")

// Lossless returns the layout of text with the fewest tokens, if one is smaller.
// count gives tokens of a text; nil means bytes/4.
func Lossless(text string, k kind.Kind, count func(string) int) (string, bool) { return "", false }

// Restore returns the text a lossless layout was made from.
func Restore(out string) (string, error) { return "", ErrNotLayout }

// Equivalent returns text without what neither a JSON reader nor a terminal shows.
func Equivalent(text string, k kind.Kind, count func(string) int) (string, bool) { return "", false }
