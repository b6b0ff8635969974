package turn

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrBadDigest says that a text is not 64 lower-case hex digits.
var ErrBadDigest = errors.New("digest: want 64 lower-case hex digits")

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// Sum hashes the exact bytes of text.
func Sum(text string) Digest { return sha256.Sum256([]byte(text)) }

// SumBytes hashes b.
func SumBytes(b []byte) Digest { return sha256.Sum256(b) }

// Chain extends a chain hash by one message digest:
// H(i) = SHA-256(H(i-1) || digest(i)), with the zero Digest before the first message.
func Chain(parent, message Digest) Digest {
	var both [2 * sha256.Size]byte
	copy(both[:sha256.Size], parent[:])
	copy(both[sha256.Size:], message[:])
	return sha256.Sum256(both[:])
}

// String is the 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// IsZero says whether d was never set.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// ParseDigest reads 64 lower-case hex digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if len(s) != 2*len(d) || !lowerHex(s) {
		return d, fmt.Errorf("%w: got %d characters", ErrBadDigest, len(s))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return Digest{}, ErrBadDigest
	}
	return d, nil
}

func lowerHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
