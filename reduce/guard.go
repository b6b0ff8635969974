package reduce

import (
	"crypto/hmac"
	"strings"

	"token-terminator/turn"
)

// Guard looks for our own recovery markers in what a tool is about to be given. A
// model that copies a shortened text into a file, a patch or a command would write
// the marker where text was left out, and lose that text.
//
// Only a tag that verifies counts: a marker of another session, a forged one and
// an example from documentation are data and pass. A marker is found also when it
// was quoted or escaped, indented, commented out, numbered line by line, or broken
// over lines or list items; its first words need not be there.
type Guard struct {
	Key     []byte // the vault's marker key
	Session string // the session chain whose markers are meant
	// Resolve gives the artifacts whose shown id is, or begins with, prefix ("a_"
	// and 8 to 64 hex digits). It is asked only about ids a possible tag stands near.
	Resolve func(prefix string) []turn.ArtifactID
}

// Refusal is what Check found. The zero value lets the call run.
type Refusal struct {
	Refuse  bool
	Message string // for the model: what is wrong and what to do; holds ids only
	Found   []FoundMarker
}

// FoundMarker is one verified marker.
type FoundMarker struct {
	Pointer string // RFC 6901, the string in the arguments; "" when these are no JSON
	At      int    // where the id begins, in bytes of the decoded string
	ID      turn.ArtifactID
	Shown   string // the id as it stands in the marker
}

const (
	// maxGuardLookups bounds how many ids are looked up in one call, and
	// maxGluedLookups how many of them cut short. Real arguments need a handful; what
	// has more was not made by copying results.
	maxGuardLookups = 1 << 14
	maxGluedLookups = 1 << 10
	// markerGap is the most letters and digits between an id and its tag.
	markerGap = 48
	// tagGap is the most between the word tag and its value, as in tag":"….
	tagGap = 8
	// maxFound is how many markers one refusal names.
	maxFound = 8
)

// Check decides on one call of a tool. args are its arguments: JSON, of which every
// string is read decoded, or any other text. Calls of the recovery tool itself pass.
// Time is linear in args.
func (g Guard) Check(tool, args string) Refusal {
	if recovers(tool) {
		return Refusal{}
	}
	found := g.find(args)
	if len(found) == 0 {
		return Refusal{}
	}
	return Refusal{Refuse: true, Message: refusalMessage(tool, found), Found: found}
}

// recovers says whether tool is the recovery tool, also behind a host's prefix.
func recovers(tool string) bool {
	if before, ok := strings.CutSuffix(tool, RecoveryName); ok {
		return before == "" || strings.HasSuffix(before, "__") || strings.ContainsRune("./:", rune(before[len(before)-1]))
	}
	return false
}

func (g Guard) find(args string) []FoundMarker {
	texts := argumentTexts(args)
	search := guardSearch{guard: g, known: map[string][]turn.ArtifactID{}, seen: map[turn.ArtifactID]bool{}}
	// A number at the start of a line is the line's own, or digits of an id that was
	// broken there. Both readings are tried; the tag decides.
	for _, numbered := range []bool{false, true} {
		search.in(squeeze(texts, numbered))
	}
	return search.found
}

// guardSearch is one search; it remembers what was looked up.
type guardSearch struct {
	guard   Guard
	known   map[string][]turn.ArtifactID
	seen    map[turn.ArtifactID]bool
	lookups int
	glued   int // of lookups
	found   []FoundMarker
}

// in looks for ids with a tag behind them.
func (s *guardSearch) in(text squeezed) {
	for i := 0; i+2+turn.MinShownHex <= len(text.bytes) && len(s.found) < maxFound; i++ {
		if text.bytes[i] != 'a' || text.bytes[i+1] != '_' {
			continue
		}
		hex := 0
		for hex < turn.LongHex && i+2+hex < len(text.bytes) && isLowerHex(text.bytes[i+2+hex]) {
			hex++
		}
		if hex < turn.MinShownHex {
			continue
		}
		tags := tagsBehind(text.bytes, i+2+turn.MinShownHex, i+2+hex+markerGap)
		if len(tags) > 0 {
			s.verify(text, i, hex, tags)
		}
	}
}

// tagsBehind are the values that may belong to the word tag between from and to.
func tagsBehind(text []byte, from, to int) []string {
	window := string(text[from:min(len(text), to)])
	var tags []string
	for at := 0; ; {
		next := strings.Index(window[at:], guardTagWord)
		if next < 0 {
			return tags
		}
		at += next + len(guardTagWord)
		for start := from + at; start <= from+at+tagGap && start+tagHex <= len(text); start++ {
			if candidate := text[start : start+tagHex]; allLowerHex(candidate) {
				tags = append(tags, string(candidate))
			}
		}
	}
}

const guardTagWord = "tag"

// verify tries the id as it stands and, since letters that follow may have been
// glued to it, every shorter one.
func (s *guardSearch) verify(text squeezed, i, hex int, tags []string) {
	for n := hex; n >= turn.MinShownHex; n-- {
		shown := string(text.bytes[i : i+2+n])
		for _, id := range s.resolve(shown, n < hex) {
			want := Tag(s.guard.Key, id, s.guard.Session)
			for _, tag := range tags {
				if !hmac.Equal([]byte(tag), []byte(want)) {
					continue
				}
				if !s.seen[id] {
					s.seen[id] = true
					pointer, at := text.place(i)
					s.found = append(s.found, FoundMarker{Pointer: pointer, At: at, ID: id, Shown: shown})
				}
				return
			}
		}
	}
}

func (s *guardSearch) resolve(prefix string, glued bool) []turn.ArtifactID {
	if ids, ok := s.known[prefix]; ok {
		return ids
	}
	if s.lookups == maxGuardLookups || glued && s.glued == maxGluedLookups || s.guard.Resolve == nil {
		return nil
	}
	if glued {
		s.glued++
	}
	s.lookups++
	ids := s.guard.Resolve(prefix)
	s.known[prefix] = ids
	return ids
}

// refusalMessage tells the model what to do. It holds no text of the arguments.
func refusalMessage(tool string, found []FoundMarker) string {
	var b strings.Builder
	b.WriteString(plainToolName(tool) + " was not run: its arguments hold ")
	if len(found) == 1 {
		b.WriteString("a marker that stands for text left out of an earlier result")
	} else {
		b.WriteString(count(len(found)) + " markers that stand for text left out of earlier results")
	}
	b.WriteString(". Running it would put the marker where that text belongs. First fetch the original: ")
	for i, f := range found {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(RecoveryName + " action=artifact_get artifact_id=" + f.Shown)
	}
	b.WriteString(" (next pages with offset). Then call the tool again with the whole text and without the marker.")
	return b.String()
}

// plainToolName is the name when it is one; anything else is not repeated.
func plainToolName(tool string) string {
	if tool == "" || len(tool) > 64 {
		return "The call"
	}
	for i := range len(tool) {
		if c := tool[i]; !isWordByte(c) && c != '-' && c != '.' {
			return "The call"
		}
	}
	return tool
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isLowerHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

func allLowerHex(text []byte) bool {
	for _, c := range text {
		if !isLowerHex(c) {
			return false
		}
	}
	return true
}
