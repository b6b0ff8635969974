package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"token-terminator/turn"
)

// Sizes of frames, in bytes. Length is what the first four bytes say: the kind byte
// and the body.
const (
	// MaxFrame is the greatest length of a frame. A longer one is discarded and
	// answered with the reason too_large.
	MaxFrame = 64 << 20
	// MaxDiscard is the greatest length that is discarded. What announces more is no
	// client of ours, and its connection is closed.
	MaxDiscard = 1 << 30

	headLen = 5
	// atOnce is how much room is made on a frame's word alone; more is made as bytes
	// arrive.
	atOnce = 4 << 20
	// shownHead is how much of a discarded body is kept to find its id.
	shownHead = 256
)

// Kind is what a frame is about.
type Kind byte

// The kinds of requests. An answer has the kind of its request with Answer set.
const (
	KindHello   Kind = 1
	KindTurn    Kind = 2
	KindResult  Kind = 3
	KindCommand Kind = 4
	KindRecover Kind = 5
	KindEvent   Kind = 6
	KindStatus  Kind = 7

	Answer Kind = 0x80
)

// Known says whether k is a kind of request.
func (k Kind) Known() bool { return k >= KindHello && k <= KindStatus }

// Frame is one frame. Body belongs to whoever read it.
type Frame struct {
	Kind Kind
	Body []byte
}

// Skipped says that a frame was read past without being kept. The stream goes on
// behind it.
type Skipped struct {
	Kind   Kind
	Length int64       // as announced
	Why    turn.Reason // too_large or busy
	Head   []byte      // the first bytes of its body
}

func (s *Skipped) Error() string {
	return fmt.Sprintf("read frame: %d bytes left out: %s", s.Length, s.Why)
}

// ErrHostile says that a frame announced more than MaxDiscard bytes. The stream cannot
// be read on.
var ErrHostile = errors.New("read frame: its length is beyond any frame")

// Reader reads frames.
type Reader struct {
	from io.Reader
	// Reserve, if set, is asked for room before a body of n bytes is read; false means
	// that the frame is skipped as busy.
	Reserve func(n int64) bool

	head [headLen]byte
}

// NewReader reads frames from r, best a buffered reader: large bodies go past its buffer.
func NewReader(r io.Reader) *Reader { return &Reader{from: r} }

// Next reads one frame. It gives io.EOF between frames, io.ErrUnexpectedEOF inside one,
// a *Skipped for a frame that was left out, and ErrHostile.
func (r *Reader) Next() (Frame, error) {
	if _, err := io.ReadFull(r.from, r.head[:4]); err != nil {
		return Frame{}, err
	}
	length := int64(binary.BigEndian.Uint32(r.head[:4]))
	if length == 0 {
		return Frame{}, nil // a frame without a kind: nobody knows it
	}
	if length > MaxDiscard {
		return Frame{}, ErrHostile
	}
	if _, err := io.ReadFull(r.from, r.head[4:]); err != nil {
		return Frame{}, inside(err)
	}
	kind, size := Kind(r.head[4]), length-1
	if length > MaxFrame {
		return Frame{}, r.skip(&Skipped{Kind: kind, Length: length, Why: turn.TooLarge}, size)
	}
	if r.Reserve != nil && !r.Reserve(size) {
		return Frame{}, r.skip(&Skipped{Kind: kind, Length: length, Why: turn.Busy}, size)
	}
	body, err := r.body(int(size))
	return Frame{Kind: kind, Body: body}, err
}

// body reads size bytes. Small bodies get their room at once; room for large ones
// doubles as bytes arrive, so that a length alone costs nothing.
func (r *Reader) body(size int) ([]byte, error) {
	body := make([]byte, min(size, atOnce))
	filled := 0
	for {
		n, err := io.ReadFull(r.from, body[filled:])
		filled += n
		if err != nil {
			return nil, inside(err)
		}
		if filled == size {
			return body, nil
		}
		grown := make([]byte, min(size, 2*len(body)))
		copy(grown, body)
		body = grown
	}
}

// skip reads past size bytes and keeps the first few.
func (r *Reader) skip(s *Skipped, size int64) error {
	s.Head = make([]byte, min(size, shownHead))
	if _, err := io.ReadFull(r.from, s.Head); err != nil {
		return inside(err)
	}
	if _, err := io.CopyN(io.Discard, r.from, size-int64(len(s.Head))); err != nil {
		return inside(err)
	}
	return s
}

func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// ErrTooLong says that a frame would be longer than MaxFrame.
var ErrTooLong = fmt.Errorf("write frame: more than %d bytes", MaxFrame)

// AppendHead appends the length and kind of a frame whose body has size bytes.
func AppendHead(dst []byte, kind Kind, size int) ([]byte, error) {
	if size < 0 || size+1 > MaxFrame {
		return dst, ErrTooLong
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(size+1))
	return append(dst, byte(kind)), nil
}

// WriteFrame writes one frame with one call of w.
func WriteFrame(w io.Writer, kind Kind, body []byte) error {
	frame, err := AppendHead(make([]byte, 0, headLen+len(body)), kind, len(body))
	if err != nil {
		return err
	}
	_, err = w.Write(append(frame, body...))
	return err
}
