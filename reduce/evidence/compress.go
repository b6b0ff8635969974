package evidence

import (
	"unicode/utf8"

	"token-terminator/reduce/form"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

// MaxBytes bounds the text Compress looks at.
const MaxBytes = 8 << 20

// leastGain is the share of bytes, in percent, below which a view is not worth its
// notes.
const leastGain = 10

// Compress gives a view of the text with ordinary lines left out. The reason is ""
// when the view is good; otherwise it says why the text stays as it is.
func Compress(text string, k kind.Kind, set form.Settings) (form.View, turn.Reason) {
	set = set.WithDefaults()
	switch {
	case len(text) > MaxBytes:
		return form.View{}, turn.TooLarge
	case !utf8.ValidString(text):
		return form.View{}, turn.BadUnicode
	case !reducible(k):
		return form.View{}, turn.NoFormSmaller
	}
	var skip func(string) int
	if k == kind.Search {
		skip = hitText
	}
	s := read(text, skip)
	s.findRepeats()
	switch k {
	case kind.Test:
		s.judgeTests()
	case kind.Build:
		s.judgeBuild()
	case kind.Search:
		s.judgeSearch()
		set.Context = 0 // hits are no neighbours of each other
	case kind.Plain:
		s.judgePlain()
	}
	s.judge(k, set)
	if k == kind.Build {
		s.details()
	}
	s.surround(set.Context)
	v := s.render()
	gain := leastGain
	if k == kind.Plain {
		gain = plainGain
	}
	switch {
	case v.Shown == v.Total || len(v.Head) >= len(text):
		return form.View{}, turn.NoFormSmaller
	case (len(text)-len(v.Head))*100 < gain*len(text):
		return form.View{}, turn.LeastGain
	case !s.holds(v.Head):
		return form.View{}, turn.EvidenceLost
	case set.MaxTokens > 0 && set.Count(v.Head) > set.MaxTokens:
		return form.View{}, turn.NoForcedFit
	}
	return v, ""
}

// reducible says that this package has rules for the kind.
func reducible(k kind.Kind) bool {
	switch k {
	case kind.Log, kind.Search, kind.Test, kind.Build, kind.Stack, kind.Plain:
		return true
	}
	return false
}

// Signals counts the source lines that name an error, a warning, a failure or a
// panic. A line counts once for each word class it has.
func Signals(text string) form.Signals {
	var out form.Signals
	for _, b := range read(text, nil).sev {
		out.Errors += int(b & 1)
		out.Warnings += int(b >> 1 & 1)
		out.Failures += int(b >> 2 & 1)
		out.Panics += int(b >> 3 & 1)
	}
	return out
}
