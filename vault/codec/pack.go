package codec

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Ways a body is written.
const (
	Plain = 0 // the text itself
	Zstd  = 1 // one zstd frame that names its length
)

// Bounds of compression.
const (
	packFrom    = 4 << 10   // bytes of the shortest text that is tried
	packPercent = 90        // a result that is not below this share of the text is not kept
	MaxUnpacked = 256 << 20 // bytes a packed body may stand for, whatever its header says
)

// ErrPacked says that a packed body does not stand for the text it should.
var ErrPacked = errors.New("packed body is damaged")

// Packer compresses and restores bodies. It is safe for concurrent use.
type Packer struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// NewPacker makes a packer. It starts nothing and needs no closing.
func NewPacker() (*Packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(MaxUnpacked))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return &Packer{enc, dec}, nil
}

// Pack gives the body under which text is stored and how it is written.
func (p *Packer) Pack(text string) (how int, body []byte) {
	raw := []byte(text)
	if len(raw) < packFrom {
		return Plain, raw
	}
	small := p.enc.EncodeAll(raw, make([]byte, 0, len(raw)/2))
	if len(small)*100 >= len(raw)*packPercent {
		return Plain, raw
	}
	return Zstd, small
}

// Unpack gives the size bytes that body stands for. A plain body is given back itself,
// whatever its length. A packed one is opened only when its header names exactly size
// bytes, and never into more than that.
func (p *Packer) Unpack(how int, body []byte, size int) ([]byte, error) {
	switch how {
	case Plain:
		return body, nil
	case Zstd:
	default:
		return nil, fmt.Errorf("%w: written in way %d, which this version does not know", ErrPacked, how)
	}
	var h zstd.Header
	if err := h.Decode(body); err != nil || h.Skippable || !h.HasFCS || size <= 0 || size > MaxUnpacked || h.FrameContentSize != uint64(size) {
		return nil, fmt.Errorf("%w: its header does not name %d bytes", ErrPacked, size)
	}
	raw, err := p.dec.DecodeAll(body, make([]byte, 0, size))
	if err != nil || len(raw) != size {
		return nil, fmt.Errorf("%w: it gives %d of %d bytes", ErrPacked, len(raw), size)
	}
	return raw, nil
}
