package datasets

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"token-terminator/internal/amount"
)

// claude reads one Claude Code transcript: usually one session, more when the user
// went back and took another way, or when an old host wrote sub-agents into the
// same file. A sub-agent's own file is a session of its own.
func (r *reader) claude(lines []line) ([]Session, error) {
	t := r.transcript(lines)
	if len(t.order) == 0 {
		return nil, r.err(0, "", fmt.Errorf("%w: no answer of a model", ErrNoSession), "give the transcript of a session that was answered")
	}
	r.problems = append(r.problems, t.problems(r)...)
	var out []Session
	whole := t.counts // of the file; a session adds its own
	for _, leaf := range t.leaves() {
		path, fresh := t.path(leaf)
		if !fresh {
			continue
		}
		if len(out) == maxBranches {
			r.problems = append(r.problems, r.err(0, "", fmt.Errorf("%w: more than %d branches", ErrTooLarge, maxBranches), "the newest ones were read"))
			break
		}
		t.counts = maps.Clone(whole)
		b := builder{t: t, path: path}
		if s := b.session(r); len(s.Messages) > 0 {
			s.Notes = t.notes()
			out = append(out, s)
		}
	}
	return out, nil
}

// maxNamed bounds the broken lines of one transcript that are named.
const maxNamed = 10

// problems names the broken lines, as those of every other format are.
func (t *transcript) problems(r *reader) []error {
	var out []error
	for n, line := range t.broken {
		if n == maxNamed {
			more := len(t.broken) - n
			out = append(out, r.err(line, "", fmt.Errorf("%w: this line and %d after it", ErrNotJSON, more-1), hintBroken))
			break
		}
		out = append(out, r.err(line, "", ErrNotJSON, hintBroken))
	}
	return out
}

const hintBroken = "every line must be one JSON object; what the others say was read"

// maxBranches bounds the sessions one transcript may give.
const maxBranches = 64

// entry is one line of a transcript that stands in the parent chain.
type entry struct {
	line                              int // of the file
	at                                int // index among the entries
	kind, uuid, parent, logicalParent string
	agent                             string
	side, compactSummary, hidden      bool
	response                          string // key of the response an assistant line belongs to
	time                              time.Time
	message, attachment               json.RawMessage
}

// response is the lines of one answer.
type response struct {
	entries []*entry
	taken   bool // some session holds it
}

// transcript is a parsed file.
type transcript struct {
	entries     []*entry
	byUUID      map[string]*entry
	order       []string // response keys in the order of their first line
	responses   map[string]*response
	results     map[string][]result // by tool use id, in file order
	broken      []int
	counts      map[string]int
	answerBelow map[*entry]bool
	visited     map[*entry]bool
	lastMain    *entry
	lastOnSide  map[string]*entry
}

// rawLine is what we read of a line. The format belongs to the host and changes, so
// unknown fields are ignored.
type rawLine struct {
	Type                      string          `json:"type"`
	UUID                      string          `json:"uuid"`
	ParentUUID                string          `json:"parentUuid"`
	LogicalParentUUID         string          `json:"logicalParentUuid"`
	AgentID                   string          `json:"agentId"`
	RequestID                 string          `json:"requestId"`
	Subtype                   string          `json:"subtype"`
	Timestamp                 string          `json:"timestamp"`
	IsSidechain               bool            `json:"isSidechain"`
	IsCompactSummary          bool            `json:"isCompactSummary"`
	IsVisibleInTranscriptOnly bool            `json:"isVisibleInTranscriptOnly"`
	IsAPIErrorMessage         bool            `json:"isApiErrorMessage"`
	Message                   json.RawMessage `json:"message"`
	Attachment                json.RawMessage `json:"attachment"`
}

func (r *reader) transcript(lines []line) *transcript {
	t := &transcript{
		byUUID: map[string]*entry{}, responses: map[string]*response{}, results: map[string][]result{},
		counts: map[string]int{}, answerBelow: map[*entry]bool{}, visited: map[*entry]bool{}, lastOnSide: map[string]*entry{},
	}
	for _, l := range lines {
		var raw rawLine
		if err := checkJSON(l.text); err != nil || l.text[0] != '{' || json.Unmarshal(l.text, &raw) != nil {
			t.broken = append(t.broken, l.no)
			continue
		}
		t.add(l.no, raw)
	}
	return t
}

// chained says whether lines of a type may stand in the parent chain.
func chained(kind string) bool {
	switch kind {
	case "user", "assistant", "system", "attachment", "progress":
		return true
	}
	return false
}

func (t *transcript) add(no int, raw rawLine) {
	if !chained(raw.Type) || raw.UUID == "" {
		t.count("lines of type " + printable(raw.Type) + " left out")
		return
	}
	if t.byUUID[raw.UUID] != nil {
		t.count("repeated lines left out")
		return
	}
	e := &entry{
		line: no, at: len(t.entries), kind: raw.Type, uuid: raw.UUID, parent: raw.ParentUUID, logicalParent: raw.LogicalParentUUID,
		agent: raw.AgentID, side: raw.IsSidechain, compactSummary: raw.IsCompactSummary, hidden: raw.IsVisibleInTranscriptOnly,
		message: raw.Message, attachment: raw.Attachment,
	}
	e.time, _ = time.Parse(time.RFC3339Nano, raw.Timestamp)
	t.link(e)
	t.entries = append(t.entries, e)
	t.byUUID[e.uuid] = e
	switch {
	case raw.Subtype == "compact_boundary":
		t.count("recorded compactions not applied")
	case raw.Type == "assistant":
		t.addAnswer(e, raw)
	case raw.Type == "user":
		t.addResults(e)
	}
}

// link finds the entry before e: its parent; after a compaction the parent the
// host calls logical, since compactions are not applied; when the parent is not in
// the file, the entry written before it.
func (t *transcript) link(e *entry) {
	before := t.lastMain
	if e.side {
		before = t.lastOnSide[e.agent]
		t.lastOnSide[e.agent] = e
	} else {
		t.lastMain = e
	}
	if e.parent == "" {
		e.parent = e.logicalParent
	}
	if e.parent == "" {
		return
	}
	if t.byUUID[e.parent] == nil {
		t.count("lines whose parent is not in the file")
		e.parent = ""
		if before != nil {
			e.parent = before.uuid
		}
	}
}

func (t *transcript) addAnswer(e *entry, raw rawLine) {
	var m struct {
		ID    string `json:"id"`
		Model string `json:"model"`
	}
	if json.Unmarshal(e.message, &m) != nil {
		t.count("answers of unknown shape left out")
		return
	}
	if m.Model == "<synthetic>" || raw.IsAPIErrorMessage {
		t.count("answers no provider gave left out")
		return
	}
	key := raw.RequestID + "\x00" + m.ID
	if m.ID == "" {
		key = "\x00" + e.uuid
	}
	e.response = key
	if t.responses[key] == nil {
		t.responses[key] = &response{}
		t.order = append(t.order, key)
	}
	t.responses[key].entries = append(t.responses[key].entries, e)
}

func (t *transcript) count(what string) { t.counts[what]++ }

// notes says what was left out, in a fixed order.
func (t *transcript) notes() []string {
	var out []string
	if len(t.broken) > 0 {
		shown := t.broken[:min(len(t.broken), maxNamed)]
		out = append(out, fmt.Sprintf("%s left out: %s", amount.Of(len(t.broken), "broken line"), strings.Trim(fmt.Sprint(shown), "[]")))
	}
	var whats []string
	for what := range t.counts {
		whats = append(whats, what)
	}
	slices.Sort(whats)
	for _, what := range whats {
		text := fmt.Sprintf("%d %s", t.counts[what], what)
		if t.counts[what] == 1 {
			text = "1 " + one(what)
		}
		out = append(out, text)
	}
	return out
}

// one takes the plural's s from what was counted: the first word that ends in one.
func one(what string) string {
	words := strings.Split(what, " ")
	for i, word := range words {
		if strings.HasSuffix(word, "s") {
			words[i] = strings.TrimSuffix(word, "s")
			break
		}
	}
	return strings.Join(words, " ")
}

// leaves are the answers no later answer follows, the newest first, so that the way
// that was taken in the end comes first; main lines come before side lines. What
// stands after the last answer of a way was sent in no request.
func (t *transcript) leaves() []*entry {
	var out []*entry
	for i := len(t.entries) - 1; i >= 0; i-- {
		e := t.entries[i]
		answered := e.response != ""
		if answered && !t.answerBelow[e] {
			out = append(out, e)
		}
		if p := t.byUUID[e.parent]; p != nil && (answered || t.answerBelow[e]) {
			t.answerBelow[p] = true
		}
	}
	slices.SortStableFunc(out, func(a, b *entry) int {
		if a.side != b.side {
			if a.side {
				return 1
			}
			return -1
		}
		return b.at - a.at
	})
	return out
}

// path gives the entries from the root to leaf; fresh is false when they hold no
// answer that another path did not hold. Every entry is walked once before that is
// known, so that the hanging results of parallel calls cost nothing.
func (t *transcript) path(leaf *entry) (path []*entry, fresh bool) {
	for e := leaf; e != nil && !t.visited[e]; e = t.byUUID[e.parent] {
		t.visited[e] = true
		if resp := t.responses[e.response]; e.response != "" && !resp.taken {
			resp.taken = true
			fresh = true
		}
	}
	if !fresh {
		return nil, false
	}
	for e, steps := leaf, 0; e != nil && steps <= len(t.entries); e, steps = t.byUUID[e.parent], steps+1 {
		path = append(path, e)
	}
	slices.Reverse(path)
	return path, true
}

// printable keeps a foreign word short and plain for a note.
func printable(s string) string {
	if s == "" {
		return "(none)"
	}
	return dumpName(clip(s, 40))
}
