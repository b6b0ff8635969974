package tokens

import (
	"fmt"
	"sync"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// MaxCount is the largest text of one count, in bytes: one segment of a request
// or one part. The meter does not measure what is larger (turn.NoMeasure); a
// bare Counter does.
const MaxCount = 8 << 20

// Measure is the size of one text. Measures add up only where the meter says so.
type Measure struct {
	Runes  int // code points
	Bytes  int // UTF-8
	Tokens int // count of the meter's encoding; under the panel equal to O200k
	O200k  int // o200k_base, under the panel only
	CL100k int // cl100k_base, under the panel only
	// Unmeasured is "" or why there are no figures: turn.NotUTF8, or turn.NoMeasure
	// for a text above MaxCount. Bytes is right all the same.
	Unmeasured turn.Reason
}

// Meter measures the requests of one model. It never changes after it was made
// and is safe for concurrent use.
type Meter struct {
	set   counterSet
	label string
	panel bool
	memo  *Memo
	spare sync.Pool // of *[]byte
	lists sync.Pool // of *[]chunk
}

// PanelLabel names the panel wherever a figure of it is shown.
const PanelLabel = "panel"

// NewMeter chooses what measures a model: its own tokenizer; else the encoding
// named by assume; else the panel. assume "" assumes nothing; a name that is no
// encoding is an error (ErrUnknownEncoding) for every model. memo may be nil:
// then nothing is remembered. Several meters may share one memo.
func NewMeter(model, assume string, memo *Memo) (*Meter, error) {
	if memo == nil {
		memo = NewMemo(0)
	}
	var assumed Counter
	if assume != "" {
		c, err := Named(assume)
		if err != nil {
			return nil, fmt.Errorf("make meter: %w", err)
		}
		assumed = c
	}
	if c, ok := ForModel(model); ok {
		return &Meter{set: counterSet{c}, label: c.Name(), memo: memo}, nil
	}
	if assumed != nil {
		return &Meter{set: counterSet{assumed}, label: assumed.Name() + " (assumed)", memo: memo}, nil
	}
	set, err := panelSet()
	if err != nil {
		return nil, fmt.Errorf("make meter: %w", err)
	}
	return &Meter{set: set, label: PanelLabel, panel: true, memo: memo}, nil
}

// Exact says whether one tokenizer measures, the model's own or the assumed one,
// and not the panel.
func (m *Meter) Exact() bool { return !m.panel }

// Label names what measures: "o200k_base", "o200k_base (assumed)" or "panel".
func (m *Meter) Label() string { return m.label }

// Whole measures the concatenation of head, messages and tail. Parts that meet
// at a cut SafeCut proves are counted apart and remembered; others are joined
// first, so the result never depends on where the caller cut.
func (m *Meter) Whole(head []byte, messages [][]byte, tail []byte) Measure {
	s := sum{meter: m}
	pending, joined := head, false
	for i := 0; i <= len(messages); i++ {
		next := tail
		if i < len(messages) {
			next = messages[i]
		}
		if len(next) == 0 {
			continue
		}
		if SafeCut(pending, next) {
			s.add(pending)
			pending, joined = next, false
			continue
		}
		if !joined {
			pending, joined = pending[:len(pending):len(pending)], true // never write into the caller's bytes
		}
		pending = append(pending, next...)
	}
	s.add(pending)
	return s.measure()
}

// Part measures one decoded text.
func (m *Meter) Part(text string) Measure {
	buf := m.buffer()
	defer m.release(buf)
	*buf = append(*buf, text...)
	return m.one(*buf)
}

// JSON measures text as it stands in a request, by itself.
func (m *Meter) JSON(text []byte) Measure { return m.one(text) }

// JSONString measures text as the value of a key of canonical JSON: escaped and
// quoted, with the quote and colon before it and the comma and quote after it.
// Between a key that ends in a letter and one that starts with a letter, as
// "content" and "role", these are safe cuts: replacing one text by another changes
// the whole request by exactly the difference of the two measures.
func (m *Meter) JSONString(text string) Measure {
	buf := m.buffer()
	defer m.release(buf)
	*buf = append(*buf, `":`...)
	*buf = strictjson.AppendQuoted(*buf, text)
	*buf = append(*buf, `,"`...)
	return m.one(*buf)
}

func (m *Meter) one(text []byte) Measure {
	s := sum{meter: m}
	s.add(text)
	return s.measure()
}

// maxKeptBuffer is the largest buffer that is kept for the next text, in bytes.
const maxKeptBuffer = 1 << 20

func (m *Meter) buffer() *[]byte {
	if buf, ok := m.spare.Get().(*[]byte); ok {
		*buf = (*buf)[:0]
		return buf
	}
	return new([]byte)
}

func (m *Meter) release(buf *[]byte) {
	if cap(*buf) <= maxKeptBuffer {
		m.spare.Put(buf)
	}
}
