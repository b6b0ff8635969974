package wire

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"token-terminator/turn"
)

func frameOf(t *testing.T, kind Kind, body string) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, WriteFrame(&out, kind, []byte(body)))
	return out.Bytes()
}

func TestFramesComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 9<<20)
	var stream bytes.Buffer
	bodies := []string{"", "{}", `{"id":1}`, big}
	for i, body := range bodies {
		stream.Write(frameOf(t, Kind(i+1), body))
	}
	for name, from := range map[string]io.Reader{
		"at once": bytes.NewReader(stream.Bytes()), "in halves": iotest.HalfReader(bytes.NewReader(stream.Bytes())),
	} {
		r := NewReader(from)
		for i, body := range bodies {
			f, err := r.Next()
			require.NoError(t, err, name)
			require.Equal(t, Kind(i+1), f.Kind)
			require.True(t, body == string(f.Body))
		}
		_, err := r.Next()
		require.ErrorIs(t, err, io.EOF)
	}
}

func TestAFrameThatStopsIsNoFrame(t *testing.T) {
	t.Parallel()
	whole := frameOf(t, KindTurn, `{"id":1}`)
	for n := 1; n < len(whole); n++ {
		_, err := NewReader(bytes.NewReader(whole[:n])).Next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", n)
	}
}

// zeros is an endless body that costs no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func announced(length uint32, kind Kind, head string) io.Reader {
	start := append(binary.BigEndian.AppendUint32(nil, length), byte(kind))
	start = append(start, head...)
	return io.MultiReader(bytes.NewReader(start), io.LimitReader(zeros{}, int64(length)-1-int64(len(head))))
}

func TestALongFrameIsReadPastAndTheNextOneComes(t *testing.T) {
	t.Parallel()
	for _, length := range []uint32{MaxFrame + 1, 100 << 20} {
		stream := io.MultiReader(announced(length, KindTurn, `{"id":77,"x":"`), bytes.NewReader(frameOf(t, KindStatus, `{"id":2}`)))
		r := NewReader(stream)
		_, err := r.Next()
		var skipped *Skipped
		require.ErrorAs(t, err, &skipped)
		require.Equal(t, turn.TooLarge, skipped.Why)
		require.EqualValues(t, length, skipped.Length)
		id, ok := PeekID(skipped.Head)
		require.True(t, ok)
		require.EqualValues(t, 77, id)
		f, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, KindStatus, f.Kind)
	}
	f, err := NewReader(announced(MaxFrame, KindTurn, "")).Next()
	require.NoError(t, err)
	require.Len(t, f.Body, MaxFrame-1)
}

func TestALengthBeyondAnyFrameEndsTheStream(t *testing.T) {
	t.Parallel()
	_, err := NewReader(announced(MaxDiscard+1, KindTurn, "")).Next()
	require.ErrorIs(t, err, ErrHostile)
	_, err = NewReader(strings.NewReader("GET / HTTP/1.1\r\n\r\n")).Next()
	require.ErrorIs(t, err, ErrHostile)
}

// roomy gives a byte at a time and notes how much room it was offered.
type roomy struct {
	io.Reader
	most int
}

func (r *roomy) Read(p []byte) (int, error) {
	r.most = max(r.most, len(p))
	return r.Reader.Read(p)
}

// A length alone costs nothing: room grows with what arrives.
func TestAnAnnouncedBodyTakesRoomAsItArrives(t *testing.T) {
	t.Parallel()
	start := append(binary.BigEndian.AppendUint32(nil, MaxFrame), byte(KindTurn))
	from := &roomy{Reader: io.MultiReader(bytes.NewReader(start), io.LimitReader(zeros{}, 5<<20))}
	_, err := NewReader(from).Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.LessOrEqual(t, from.most, 2*atOnce)
}

func TestWithoutRoomAFrameIsReadPast(t *testing.T) {
	t.Parallel()
	r := NewReader(bytes.NewReader(append(frameOf(t, KindTurn, `{"id":5}`), frameOf(t, KindStatus, `{"id":6}`)...)))
	room := false
	r.Reserve = func(n int64) bool {
		require.EqualValues(t, 8, n)
		return room
	}
	_, err := r.Next()
	var skipped *Skipped
	require.ErrorAs(t, err, &skipped)
	require.Equal(t, turn.Busy, skipped.Why)
	room = true
	f, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, KindStatus, f.Kind)
}

func TestTooLongAFrameIsNotWritten(t *testing.T) {
	t.Parallel()
	_, err := AppendHead(nil, KindTurn, MaxFrame)
	require.ErrorIs(t, err, ErrTooLong)
	head, err := AppendHead(nil, KindTurn, MaxFrame-1)
	require.NoError(t, err)
	require.Len(t, head, headLen)
}

func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, 1, '{'})
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1, 7})
	f.Add([]byte("\x05\x00\x00\x00\x02abcdefg"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		total := 0
		for range len(data) + 1 {
			frame, err := r.Next()
			var skipped *Skipped
			if err != nil && !errorsAs(err, &skipped) {
				return
			}
			if err == nil && frame.Kind != 0 {
				var again bytes.Buffer
				require.NoError(t, WriteFrame(&again, frame.Kind, frame.Body))
				require.True(t, bytes.Contains(data, again.Bytes()))
			}
			if total += len(frame.Body); total > len(data) {
				t.Fatal("more came out than went in")
			}
		}
		t.Fatal("the reader does not end")
	})
}
