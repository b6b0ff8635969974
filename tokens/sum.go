package tokens

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"token-terminator/turn"
)

// sum adds up the tallies of texts that meet at safe cuts. Chunks nobody has
// counted yet are kept until the end and then counted together, on several cores
// when that is worth it.
type sum struct {
	meter   *Meter
	total   tally
	bytes   int
	reason  turn.Reason
	missing *[]chunk // nil: none
	waiting int      // bytes of missing
	parts   []tally  // what each part adds to total; nil: nobody asks
	part    int      // the one being added
}

type chunk struct {
	key   memoKey
	text  []byte
	part  int
	tally tally
}

// add takes one text; those before and after it meet it at safe cuts.
func (s *sum) add(text []byte) {
	s.bytes += len(text)
	if len(text) > MaxCount {
		s.reason = turn.NoMeasure
	}
	if s.reason != "" {
		return
	}
	first, second := contentCuts(text)
	s.chunks(text[:first])
	s.chunks(text[first:second])
	s.chunks(text[second:])
}

func (s *sum) chunks(text []byte) {
	for len(text) > 0 {
		end := chunkEnd(text)
		s.chunk(text[:end])
		text = text[end:]
	}
}

// contentFrom is how long a message is whose content is remembered by itself, in bytes.
const contentFrom = 512

var (
	contentKey = []byte(`content":"`)
	afterText  = []byte(`","role":"`)
)

// contentCuts cuts a long message, as a request is cut, before and after its text:
// what stands between is what JSONString counts, so that a text measured with its
// request is not counted again by itself. Both are 0 for any other text. Both are safe cuts wherever they are found, so nothing depends on them.
func contentCuts(text []byte) (first, second int) {
	if len(text) < contentFrom || !bytes.HasPrefix(text, contentKey) {
		return 0, 0
	}
	first, second = len("content"), bytes.LastIndex(text, afterText)+len(`","`)
	if second <= first || !SafeCut(text[:first], text[first:]) || !SafeCut(text[:second], text[second:]) {
		return 0, 0
	}
	return first, second
}

func (s *sum) chunk(text []byte) {
	memo := s.meter.memo
	key := memo.keyOf(text)
	if t, ok := memo.find(key, s.meter.set, text); ok {
		s.include(t, s.part)
		return
	}
	if s.missing == nil {
		s.missing = s.meter.chunkList()
	}
	*s.missing = append(*s.missing, chunk{key: key, text: text, part: s.part})
	s.waiting += len(text)
}

// maxKeptChunks is the longest list that is kept for the next measure.
const maxKeptChunks = 1 << 12

func (m *Meter) chunkList() *[]chunk {
	if list, ok := m.lists.Get().(*[]chunk); ok {
		return list
	}
	return new([]chunk)
}

// releaseChunks keeps the list and none of the texts it names.
func (m *Meter) releaseChunks(list *[]chunk) {
	if cap(*list) <= maxKeptChunks {
		clear(*list)
		*list = (*list)[:0]
		m.lists.Put(list)
	}
}

func (s *sum) include(t tally, part int) {
	if t.runes < 0 {
		s.reason = turn.NotUTF8
		return
	}
	s.total.add(t)
	if s.parts != nil {
		s.parts[part].add(t)
	}
}

// parallelFrom is how many bytes have to wait before a second core is asked.
const parallelFrom = 64 << 10

// maxWorkers bounds how many cores one measure may take.
const maxWorkers = 4

// countAll counts chunks and remembers them.
func (m *Meter) countAll(chunks []chunk, bytes int) {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers, len(chunks))
	if bytes < parallelFrom || workers < 2 {
		for i := range chunks {
			m.count(&chunks[i])
		}
		return
	}
	var next atomic.Int64
	var broken atomic.Value // a panic of another goroutine is the caller's to handle
	work := func() {
		defer func() {
			if p := recover(); p != nil {
				broken.CompareAndSwap(nil, fmt.Sprint(p))
			}
		}()
		for {
			i := int(next.Add(1)) - 1
			if i >= len(chunks) {
				return
			}
			m.count(&chunks[i])
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if p := broken.Load(); p != nil {
		panic(p)
	}
}

func (m *Meter) count(c *chunk) {
	c.tally = tallyOf(m.set, c.text)
	m.memo.store(c.key, m.set, c.text, c.tally)
}

func (s *sum) measure() Measure {
	if s.missing != nil {
		if s.reason == "" {
			s.meter.countAll(*s.missing, s.waiting)
			for i := range *s.missing {
				s.include((*s.missing)[i].tally, (*s.missing)[i].part)
			}
		}
		s.meter.releaseChunks(s.missing)
		s.missing = nil
	}
	if s.reason != "" {
		return Measure{Bytes: s.bytes, Unmeasured: s.reason}
	}
	m := Measure{Runes: s.total.runes, Bytes: s.bytes, Tokens: s.total.tokens[0]}
	if s.meter.panel {
		m.O200k, m.CL100k = s.total.tokens[0], s.total.tokens[1]
	}
	return m
}
