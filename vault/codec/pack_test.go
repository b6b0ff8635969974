package codec

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func packer(t testing.TB) *Packer {
	p, err := NewPacker()
	require.NoError(t, err)
	return p
}

func randomText(size int) string {
	rng, b := rand.New(rand.NewPCG(1, 2)), make([]byte, size)
	for i := range b {
		b[i] = byte(rng.IntN(128))
	}
	return string(b)
}

func TestPackKeepsWhatGetsSmaller(t *testing.T) {
	t.Parallel()
	p := packer(t)
	line := "2026-01-02 03:04:05 INFO started\n"
	for name, c := range map[string]struct {
		text string
		how  int
	}{
		"nothing":           {"", Plain},
		"short":             {strings.Repeat("x", 4095), Plain},
		"from 4 KB":         {strings.Repeat("x", 4096), Zstd},
		"a log":             {strings.Repeat(line, 1000), Zstd},
		"hardly any gain":   {string(bytes.Repeat([]byte(randomText(64<<10)), 1)), Plain},
		"a big log":         {strings.Repeat(line, 300_000), Zstd},
		"NUL and not ASCII": {strings.Repeat("\x00é\u2028", 2_000), Zstd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			how, body := p.Pack(c.text)
			require.Equal(t, c.how, how)
			if how == Zstd {
				require.Less(t, len(body)*100, len(c.text)*90)
			}
			raw, err := p.Unpack(how, body, len(c.text))
			require.NoError(t, err)
			require.True(t, string(raw) == c.text)
		})
	}
}

// A body may not open into more than its row says, whatever it claims.
func TestABombIsNotOpened(t *testing.T) {
	t.Parallel()
	p := packer(t)
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	small := enc.EncodeAll(bytes.Repeat([]byte("a"), 10_000), nil)
	huge := enc.EncodeAll(make([]byte, 64<<20), nil)
	var stream bytes.Buffer
	w, err := zstd.NewWriter(&stream) // a stream does not name its length
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 8<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for name, c := range map[string]struct {
		how  int
		body []byte
		size int
	}{
		"more than the row says":  {Zstd, huge, 10_000},
		"less than the row says":  {Zstd, small, 10_001},
		"a row without length":    {Zstd, small, 0},
		"a negative length":       {Zstd, small, -1},
		"a length beyond reason":  {Zstd, small, 1 << 40},
		"two frames":              {Zstd, append(bytes.Clone(small), small...), 10_000},
		"a frame and a bomb":      {Zstd, append(bytes.Clone(small), huge...), 10_000},
		"no length in the header": {Zstd, stream.Bytes(), 8 << 20},
		"cut":                     {Zstd, small[:len(small)-3], 10_000},
		"no frame":                {Zstd, []byte("not a frame at all"), 10},
		"nothing":                 {Zstd, nil, 10},
		"another way":             {7, small, 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := p.Unpack(c.how, c.body, c.size)
			require.ErrorIs(t, err, ErrPacked)
		})
	}
}

func FuzzUnpack(f *testing.F) {
	p := packer(f)
	for _, text := range []string{strings.Repeat("ab", 4_000), randomText(100), strings.Repeat("{\"a\":1}\n", 900)} {
		how, body := p.Pack(text)
		f.Add(how, body, len(text))
		f.Add(Zstd, body, len(text)+1)
	}
	f.Fuzz(func(t *testing.T, how int, body []byte, size int) {
		size = min(size, 1<<20)
		raw, err := p.Unpack(how, body, size)
		if err == nil && how == Zstd {
			require.Len(t, raw, size)
		}
		again, packed := p.Pack(string(body))
		back, err := p.Unpack(again, packed, len(body))
		require.NoError(t, err)
		require.True(t, bytes.Equal(back, body))
	})
}
