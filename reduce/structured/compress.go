package structured

import (
	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

// Compress proposes the compressed form.
func Compress(text string, k kind.Kind, s form.Settings) (form.View, turn.Reason) {
	return form.View{}, turn.NoFormSmaller
}
