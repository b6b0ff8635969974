package structured

import (
	"unicode/utf8"

	"token-terminator/reduce/form"
	"token-terminator/reduce/jsonscan"
	"token-terminator/reduce/kind"
	"token-terminator/turn"
)

// markerBytes is room for the caller's marker when sizes are compared.
const markerBytes = 150

// Compress proposes the compressed form of JSON, of JSON documents that follow one
// another, and of line-delimited JSON. The kind decides nothing: the text does.
// Reasons: TooLarge, BadUnicode, ParseFailed, TooDeep, NoFormSmaller, NoForcedFit,
// EvidenceLost.
func Compress(text string, _ kind.Kind, s form.Settings) (form.View, turn.Reason) {
	s = s.WithDefaults()
	if len(text) > maxBytes {
		return form.View{}, turn.TooLarge
	}
	if !utf8.ValidString(text) {
		return form.View{}, turn.BadUnicode
	}
	t, reason := parse(text)
	if reason != "" {
		return form.View{}, reason
	}
	if !isContainer(t.nodes[0].Kind) {
		return form.View{}, turn.NoFormSmaller
	}
	sel := choose(t, s)
	folds := fold(t, sel)
	if sel.losers == 0 && folds.hidden == 0 {
		return form.View{}, turn.NoFormSmaller
	}
	w := &writer{t: t, sel: sel, folds: folds, out: make([]byte, 0, len(text)/4+256), root: -1}
	v := w.view()
	w.count(&v)
	return check(t, sel, v, s)
}

// view prints the text and leaves the marker's place open.
func (w *writer) view() form.View {
	t := w.t
	if t.stream {
		w.lines()
		return form.View{Head: string(w.out)}
	}
	w.root = 0
	w.node(0)
	closing := string(w.out[len(w.out)-1])
	w.out = w.out[:len(w.out)-1]
	w.comma()
	if t.nodes[0].Kind == jsonscan.Object {
		w.out = append(append(append(w.out, '"'), t.freeKey(0, omittedKey)...), `":`...)
	}
	w.out = append(w.out, '"')
	return form.View{Head: string(w.out), Tail: `"` + closing, InJSON: true}
}

// lines prints the documents of a stream, one a line.
func (w *writer) lines() {
	t := w.t
	end := t.nodes[0].Next
	gone := 0
	for c := int32(1); c < end; c = t.nodes[c].Next {
		if w.sel.cut[c] {
			gone++
		}
	}
	first, at, from := true, 0, -1
	flush := func() {
		if from >= 0 {
			w.out = append(w.out, '[')
			w.out = append(w.out, lineGap(from, at, gone, int(t.nodes[0].Count), first)...)
			w.out = append(w.out, ']', '\n')
			first, from = false, -1
		}
	}
	for c := int32(1); c < end; c = t.nodes[c].Next {
		if w.sel.cut[c] {
			if from < 0 {
				from = at
			}
			at++
			continue
		}
		flush()
		w.node(c)
		w.out = append(w.out, '\n')
		at++
	}
	flush()
}

// count fills the counts of the view: records when exactly one container lost
// some and nothing else was left out, values of the document otherwise.
func (w *writer) count(v *form.View) {
	if w.sel.losers == 1 && w.folds.hidden == 0 {
		v.Unit, v.Shown, v.Total = "records", w.sel.Shown, w.sel.Total
		return
	}
	v.Unit = "values"
	t := w.t
	for i := int32(0); int(i) < len(t.nodes); i++ {
		if !isContainer(t.nodes[i].Kind) {
			v.Total++
		}
	}
	v.Shown = w.shownValues(0)
}

func (w *writer) shownValues(root int32) int {
	t, n := w.t, 0
	lost := map[int32]bool{}
	for i := root; i < t.nodes[root].Next; i++ {
		if w.sel.cut[i] || w.folds.note(i) != "" {
			i = t.nodes[i].Next - 1
			continue
		}
		for _, c := range w.folds.twins[i] {
			lost[c] = true
		}
		if !isContainer(t.nodes[i].Kind) && !lost[i] {
			n++
		}
	}
	return n
}

// check is the last word: smaller, within the budget, still JSON, and all
// evidence literally there.
func check(t *tree, sel *selection, v form.View, s form.Settings) (form.View, turn.Reason) {
	size := len(v.Head) + len(v.Tail)
	if size+markerBytes >= len(t.text) {
		return form.View{}, turn.NoFormSmaller
	}
	if size*4 > len(t.text) && (size+markerBytes)*10 > 9*len(jsonscan.Minify(nil, t.text)) {
		return form.View{}, turn.NoFormSmaller // dropping white space alone does nearly as much and hides nothing
	}
	if size*10 >= len(t.text)*6 && s.Count(v.Head+v.Tail)+markerBytes/3 >= s.Count(t.text) {
		return form.View{}, turn.NoFormSmaller
	}
	if s.MaxTokens > 0 && s.Count(v.Head+v.Tail)+markerBytes/3 > s.MaxTokens {
		return form.View{}, turn.NoForcedFit
	}
	if !holds(t, sel, v) {
		return form.View{}, turn.EvidenceLost
	}
	return v, ""
}

// holds reads the finished text again and finds every evidence value in it, in
// source order.
func holds(t *tree, sel *selection, v form.View) bool {
	again, reason := parse(v.Head + v.Tail)
	if t.stream && again == nil {
		// One document and one note are no stream; read the documents one by one.
		again, reason = parseLoose(v.Head)
	}
	if reason != "" || again == nil {
		return false
	}
	at := 0
	for _, pin := range sel.pins {
		if isContainer(t.nodes[pin].Kind) {
			continue
		}
		want, key := t.value(pin), t.key(pin)
		for at < len(again.nodes) && (isContainer(again.nodes[at].Kind) || again.value(int32(at)) != want || again.key(int32(at)) != key) {
			at++
		}
		if at == len(again.nodes) {
			return false
		}
		at++
	}
	return true
}

func parseLoose(text string) (*tree, turn.Reason) {
	t := &tree{text: text}
	t.begin()
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && text[end] != '\n' {
			end++
		}
		t.line(at, end)
		at = end + 1
	}
	t.finish()
	return t, ""
}
