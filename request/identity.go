package request

import (
	"bytes"

	"token-terminator/internal/strictjson"
	"token-terminator/turn"
)

// Digest is the identity of message i: the SHA-256 of its canonical form without
// cache marks ("cache_control", "prompt_cache_breakpoint") on the message and on the
// parts of its content, where a content list of exactly one text part stands for that
// part's string. The same holds for the content of tool_result blocks and for the
// output of Responses items. i must be an index of Messages.
func (d *Doc) Digest(i int) turn.Digest {
	return d.digest(i, &writer{Scanner: strictjson.New(nil, MaxDepth)})
}

// digest uses the memory of w, which serves one message after the other.
func (d *Doc) digest(i int, w *writer) turn.Digest {
	message := d.Raw[d.Messages[i].Span.Start:d.Messages[i].Span.End]
	w.Reset(message)
	canonical, err := w.whole()
	if err != nil {
		// Parse read these very bytes, so this cannot be; the raw bytes are an identity too.
		return turn.SumBytes(message)
	}
	return turn.SumBytes(identity(canonical, d.Dialect))
}

// noDialect stands for the inner level of a block: nothing inside it has a content of
// its own.
const noDialect Dialect = ""

// Chain is the chain hash up to and including each message, in order.
func (d *Doc) Chain() []turn.Digest {
	w := &writer{Scanner: strictjson.New(nil, MaxDepth)}
	chain := make([]turn.Digest, len(d.Messages))
	parent, from := turn.Digest{}, 0
	if d.past != nil && d.reused > 0 && len(d.past.chain) >= d.reused {
		from = copy(chain, d.past.chain[:d.reused])
		parent = chain[from-1]
	}
	for i := from; i < len(d.Messages); i++ {
		parent = turn.Chain(parent, d.digest(i, w))
		chain[i] = parent
	}
	return chain
}

// identity strips cache marks from a canonical message and collapses a single
// text part. Most messages are returned as they are.
func identity(message []byte, dialect Dialect) []byte {
	lists := bytes.Contains(message, []byte(`"content":[`)) || dialect == Responses && bytes.Contains(message, []byte(`"output":[`))
	if !lists && !bytes.Contains(message, []byte(`"cache_control":`)) {
		return message // breakpoints stand on parts only
	}
	out, err := withoutMarks(message, func(s *strictjson.Scanner, name string) ([]byte, error) {
		if s.Peek() != '[' || name != "content" && (name != "output" || dialect != Responses) {
			return nil, nil
		}
		return plainContent(s, dialect)
	})
	if err != nil {
		return message
	}
	return out
}

// isMark says whether a member is a cache mark. Hosts move these from turn to turn.
func isMark(name string) bool { return name == "cache_control" || name == "prompt_cache_breakpoint" }

// withoutMarks copies a canonical object without cache marks. replace may
// read a member's value itself and return what to write in its place.
func withoutMarks(object []byte, replace func(s *strictjson.Scanner, name string) ([]byte, error)) ([]byte, error) {
	s := strictjson.New(object, MaxDepth)
	out := append(make([]byte, 0, len(object)), '{')
	err := s.Object(func(key strictjson.Str) error {
		start, name := s.Pos, string(s.Text(key))
		value, err := replace(s, name)
		if err != nil {
			return err
		}
		if value == nil {
			if err := s.Skip(); err != nil {
				return err
			}
			value = object[start:s.Pos]
		}
		if isMark(name) {
			return nil
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, object[key.Start:key.End]...), ':')
		out = append(out, value...)
		return nil
	})
	return append(out, '}'), err
}

// plainContent writes a content list without cache marks, or the string of its
// only part when that is a text part with nothing else in it.
func plainContent(s *strictjson.Scanner, dialect Dialect) ([]byte, error) {
	out, only := []byte{'['}, []byte(nil)
	err := s.Array(func(i int) error {
		start := s.Pos
		if err := s.Skip(); err != nil {
			return err
		}
		part, text := s.Data[start:s.Pos], []byte(nil)
		if part[0] == '{' {
			var err error
			if part, text, err = plainPart(part, dialect); err != nil {
				return err
			}
		}
		if only = nil; i == 0 {
			only = text
		} else {
			out = append(out, ',')
		}
		out = append(out, part...)
		return nil
	})
	if only != nil {
		return only, err
	}
	return append(out, ']'), err
}

// plainPart writes a part without its cache mark. text is its string when it is
// a text part with nothing else in it, else nil. Blocks of the Messages API have
// contents of their own.
func plainPart(part []byte, dialect Dialect) (plain, text []byte, err error) {
	members, typed := 0, false
	plain, err = withoutMarks(part, func(s *strictjson.Scanner, name string) ([]byte, error) {
		if dialect == Anthropic && name == "content" && s.Peek() == '[' {
			members++
			return plainContent(s, noDialect)
		}
		at := s.Pos
		if err := s.Skip(); err != nil {
			return nil, err
		}
		value := s.Data[at:s.Pos]
		switch {
		case isMark(name):
			return value, nil
		case name == "text" && value[0] == '"':
			text = value
		case name == "type":
			typed = string(value) == `"text"` || dialect == Responses && (string(value) == `"input_text"` || string(value) == `"output_text"`)
		}
		members++
		return value, nil
	})
	if members != 2 || !typed {
		text = nil
	}
	return plain, text, err
}
