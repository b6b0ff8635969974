package turn

import (
	"errors"
	"fmt"
	"strings"
)

// ErrBadArtifactID says that a text is no artifact id and no prefix of one.
var ErrBadArtifactID = errors.New("artifact id: want a_ and 8 to 64 lower-case hex digits")

// ArtifactID names an artifact: "a_" and the first 32 hex digits of the SHA-256
// of its exact bytes, or all 64 when another artifact already owns the short one.
type ArtifactID string

// Bounds of the hex digits in an id as a person or a model may write it.
const (
	MinShownHex = 8
	ShortHex    = 32
	LongHex     = 64
)

// ID is the short id of the artifact whose bytes hash to d.
func (d Digest) ID() ArtifactID { return ArtifactID("a_" + d.String()[:ShortHex]) }

// LongID is the 64-digit id used when the short one belongs to other bytes.
func (d Digest) LongID() ArtifactID { return ArtifactID("a_" + d.String()) }

// Names says whether id is the short or the long id of d.
func (id ArtifactID) Names(d Digest) bool { return id == d.ID() || id == d.LongID() }

// ParseIDPrefix checks the spelling of an id or of a prefix of one, with or
// without "a_", and returns it with "a_".
func ParseIDPrefix(s string) (string, error) {
	hex := strings.TrimPrefix(s, "a_")
	if len(hex) < MinShownHex || len(hex) > LongHex || !lowerHex(hex) {
		return "", fmt.Errorf("%w: got %d characters", ErrBadArtifactID, len(s))
	}
	return "a_" + hex, nil
}
