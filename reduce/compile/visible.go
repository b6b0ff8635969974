package compile

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"token-terminator/reduce"
	"token-terminator/reduce/delta"
	"token-terminator/reduce/envelope"
	"token-terminator/reduce/kind"
	"token-terminator/request"
	"token-terminator/turn"
)

// view is the texts the model sees before one message, as bases for deltas. It
// grows with the messages of a turn.
type view struct {
	ix   *delta.Index
	next int // first message that is not in the index
}

func (v *view) index() *delta.Index { return v.ix }

// visible gives the texts visible before message i.
func (d *Draft) visible(i int) *view {
	if d.view == nil {
		d.view = d.startView()
	}
	for ; d.view.next < i; d.view.next++ {
		d.show(d.view.ix, d.view.next)
	}
	return d.view
}

// startView takes the index of the longest remembered prefix out of the cache,
// extends it to every remembered message and puts that back; the turn goes on with
// a copy.
func (d *Draft) startView() *view {
	keys := d.viewKeys()
	ix, from := delta.NewIndex(), 0
	for n := d.known; n > 0 && n > d.known-maxCacheWalk; n-- {
		if found, ok := d.c.indexes.get(keys[n-1]); ok {
			ix, from = found, n
			break
		}
	}
	if from < d.known {
		ix = ix.Clone()
		for j := from; j < d.known; j++ {
			d.show(ix, j)
		}
		d.c.indexes.put(keys[d.known-1], ix)
	}
	return &view{ix: ix.Clone(), next: d.known}
}

// viewKeys names what the model sees up to each remembered message: the chain hash
// and the decisions in force.
func (d *Draft) viewKeys() []viewKey {
	keys := make([]viewKey, d.known)
	var decisions turn.Digest
	b := 0
	for i := range d.known {
		for ; b < len(d.blocks) && d.blocks[b].Message == i; b++ {
			decision := d.blocks[b].Decision
			decisions = turn.Chain(decisions, turn.Sum(strconv.Itoa(i)+decision.Block))
			decisions = turn.Chain(decisions, turn.Sum(decision.Text))
		}
		keys[i] = viewKey{session: d.snap.Binding.Session, chain: d.chain[i], decisions: decisions}
	}
	return keys
}

// show adds what the model sees of message j to the index.
func (d *Draft) show(ix *delta.Index, j int) {
	m := d.doc.Messages[j]
	if m.Locked != "" {
		return // of two equal keys nobody knows which one the receiver takes
	}
	if m.Role == "assistant" {
		d.showCalls(ix, j)
		return
	}
	if m.Role != "tool" {
		return
	}
	call := d.call(j)
	path, read := call.ReadPath()
	for _, text := range m.Texts {
		if d.resting[turn.Base{Message: j, Block: text.Block}] {
			continue
		}
		value, ok := d.decided(j, text.Block)
		if !ok {
			var err error
			if value, err = d.doc.Value(text); err != nil {
				continue
			}
		}
		label := d.label(j, text.Block)
		base := delta.Base{Message: j, Block: text.Block, Label: label, Path: path, Text: value, IsRead: read}
		ix.Add(base)
		if env, ok := envelope.Open(value); ok {
			for _, field := range env.Fields() {
				base.Text, base.Label = field.Value, label+" "+fieldName(field, env.Fields())
				ix.Add(base)
			}
		}
	}
}

// fieldName is the key of an envelope's field, or the way to it where others have the
// same key: a note must name one text only.
func fieldName(field envelope.Field, all []envelope.Field) string {
	for _, other := range all {
		if other.Key == field.Key && other.Pointer != field.Pointer {
			return field.Pointer[1:]
		}
	}
	return field.Key
}

func (d *Draft) showCalls(ix *delta.Index, j int) {
	for k, c := range d.doc.Messages[j].Calls {
		args, err := d.doc.Value(c.Args)
		if err != nil {
			continue
		}
		call := kind.Call{Tool: c.Name, Args: args}
		path, _ := call.WritePath()
		for _, named := range delta.Arguments(args) {
			ix.Add(delta.Base{
				Message: j, Block: c.Args.Block,
				Label: "call " + strconv.Itoa(d.callNumber(j, k)) + " (" + hint(call) + ") " + named.Key, Path: path, Text: named.Value,
			})
		}
	}
}

// decided is the text in force of one string, when a decision changed it.
func (d *Draft) decided(message int, block string) (string, bool) {
	for _, b := range d.blocksOf(message) {
		if b.Decision.Block == block && b.Decision.Form != turn.Original {
			return b.Decision.Text, true
		}
	}
	return "", false
}

// blocksOf are the decisions of one message; blocks are ordered by message.
func (d *Draft) blocksOf(message int) []Block {
	lo, hi := 0, len(d.blocks)
	for lo < hi {
		mid := (lo + hi) / 2
		if d.blocks[mid].Message < message {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	end := lo
	for end < len(d.blocks) && d.blocks[end].Message == message {
		end++
	}
	return d.blocks[lo:end]
}

// label names a text of a result for the model: the result's number among those of
// the request, what the call was about and, where it has several texts, which one.
func (d *Draft) label(j int, block string) string {
	n := 0
	for _, m := range d.doc.Messages[:j+1] {
		if m.Role == "tool" {
			n++
		}
	}
	label := "result " + strconv.Itoa(n) + " (" + hint(d.call(j)) + ")"
	if texts := d.doc.Messages[j].Texts; len(texts) > 1 {
		part := slices.IndexFunc(texts, func(t request.Text) bool { return t.Block == block })
		label += " part " + strconv.Itoa(part+1)
	}
	return label
}

// callNumber numbers a call among all calls of the request, from 1.
func (d *Draft) callNumber(j, k int) int {
	n := k + 1
	for _, m := range d.doc.Messages[:j] {
		n += len(m.Calls)
	}
	return n
}

const hintRunes = 24

// hint tells a call from others in a few words: the tool, and the file or the
// beginning of the command.
func hint(c kind.Call) string {
	what := ""
	if path, ok := c.ReadPath(); ok {
		what = path
	} else if path, ok := c.WritePath(); ok {
		what = path
	} else {
		what = c.Command()
	}
	if slash := strings.LastIndexByte(what, '/'); slash >= 0 && !strings.ContainsAny(what, " \n") {
		what = what[slash+1:]
	}
	what, _, _ = strings.Cut(what, "\n")
	if utf8.RuneCountInString(what) > hintRunes {
		what = string([]rune(what)[:hintRunes]) + "…"
	}
	name := strings.Map(plainRune, c.Tool)
	if name == "" {
		name = "tool"
	}
	if what = strings.TrimSpace(strings.Map(plainRune, what)); what == "" {
		return name
	}
	return name + " " + what
}

// plainRune keeps what cannot be taken for a part of a note.
func plainRune(r rune) rune {
	if r < ' ' || r == '[' || r == ']' || r == '(' || r == ')' || r == '\u007f' {
		return -1
	}
	return r
}

// repeated proposes to point at an earlier block with the same old text that is
// itself not shown as it was.
func (d *Draft) repeated(block reduce.Block) (reduce.Proposal, bool) {
	digest := turn.Sum(block.Text)
	for _, b := range d.blocks {
		dec := b.Decision
		if dec.Before == digest && (dec.Form == turn.Compressed || dec.Form == turn.Layout) {
			return reduce.Repeat(d.label(b.Message, dec.Block), kind.Kind(dec.Kind), block.Text), true
		}
	}
	return reduce.Proposal{}, false
}
