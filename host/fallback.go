package host

import (
	"sync"

	"token-terminator/request"
	"token-terminator/turn"
)

// The recovery tool as a request declares it. Hiding forms may only be sent with it.
const recoveryTool = "token_terminator"

func recoveryParams() []string { return []string{"action", "artifact_id", "offset"} }

// place is one message of one session: its chain hash says that it and everything
// before it are as they were.
type place struct {
	session string
	hash    turn.Digest
}

// fallback remembers the edits that were last sent for each message, so that exactly
// those can be sent again when the daemon is silent. They were pinned before they were
// first sent, so the promise holds; new messages stay as they are.
type fallback struct {
	mu    sync.Mutex
	max   int64
	bytes int64
	at    map[place]*keptEdits
	order []place        // in order of arrival, for forgetting
	held  map[string]int // messages by session
}

type keptEdits struct {
	edits   []blockEdit
	offered bool // the recovery tool was declared
	bytes   int64
}

// blockEdit is an edit with its place inside its message.
type blockEdit struct {
	block string
	edit  turn.Edit
}

func newFallback(max int64) *fallback {
	return &fallback{max: max, at: map[place]*keptEdits{}, held: map[string]int{}}
}

// knows says whether anything of a session is remembered.
func (f *fallback) knows(session string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held[session] > 0
}

// accept notes what was sent for doc: edits, or nothing where a message has none.
func (f *fallback) accept(session string, doc *request.Doc, edits []turn.Edit) {
	byMessage := map[int][]blockEdit{}
	for _, e := range edits {
		i, text, err := doc.At(e.Pointer)
		if err != nil {
			continue
		}
		byMessage[i] = append(byMessage[i], blockEdit{text.Block, e})
	}
	offered := offers(doc)
	chain := doc.Chain()
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, hash := range chain {
		p := place{session, hash}
		old := f.at[p]
		fresh := byMessage[i]
		if old == nil && fresh == nil {
			continue
		}
		if old == nil {
			old = &keptEdits{}
			f.at[p] = old
			f.order = append(f.order, p)
			f.held[session]++
		}
		f.bytes -= old.bytes
		old.edits, old.offered, old.bytes = fresh, offered, weight(fresh)
		f.bytes += old.bytes
	}
	f.forget()
}

func weight(edits []blockEdit) int64 {
	n := int64(128)
	for _, e := range edits {
		n += int64(len(e.edit.Value) + len(e.edit.Pointer) + 64)
	}
	return n
}

// forget drops what came first until the rest fits.
func (f *fallback) forget() {
	for f.bytes > f.max && len(f.order) > 0 {
		p := f.order[0]
		f.order = f.order[1:]
		f.bytes -= f.at[p].bytes
		delete(f.at, p)
		if f.held[p.session]--; f.held[p.session] == 0 {
			delete(f.held, p.session)
		}
	}
}

// edits are the remembered edits of the messages of doc, as doc spells their places.
func (f *fallback) edits(session string, doc *request.Doc) []turn.Edit {
	offered := offers(doc)
	var out []turn.Edit
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, hash := range doc.Chain() {
		k := f.at[place{session, hash}]
		if k == nil {
			continue
		}
		if k.offered && !offered {
			return nil // what hides text needs the tool, and so does what leans on it
		}
		for _, e := range k.edits {
			moved := e.edit
			moved.Pointer = doc.Pointer(i, placed(doc.Messages[i], e.block))
			out = append(out, moved)
		}
	}
	return out
}

// placed is where a message's only text stands: a host may turn a string into a single
// part and back when it moves its cache marks.
func placed(m request.Message, block string) string {
	if len(m.Texts) == 1 && (block == "/content" || block == "/content/0/text") {
		return m.Texts[0].Block
	}
	return block
}

func offers(doc *request.Doc) bool { return doc.Offers(recoveryTool, recoveryParams()...) }
