package vault

import (
	"fmt"
	"time"

	"token-terminator/turn"
	"token-terminator/vault/view"
)

// Names of the files in a vault's folder.
const (
	FileName      = "vault.sqlite3"
	MarkerKeyName = "marker.key"
)

// FixedMarkerKey is the documented key of replay and test vaults, so that two runs
// write equal bytes. It protects nothing and is used nowhere else.
const FixedMarkerKey = "token-terminator replay test key"

// Bounds and defaults. Pages and texts are Unicode code points.
const (
	DefaultCapacity  int64 = 8 << 30
	DefaultHighWater       = 90
	DefaultLowWater        = 80
	DefaultMaxRunes        = 8_000_000
	DefaultPage            = 8_000
	MaxPage                = 20_000
	DefaultResults         = 50
	MaxResults             = 500
	MaxFindMatches         = view.MaxMatches
	UnusedNodes            = 30 * 24 * time.Hour
	applicationID          = 0x54547631 // "TTv1"
	maxTombstones          = 100_000
	verifiedEntries        = 8_192
)

// Options of one vault. Zero values mean the defaults.
type Options struct {
	CapacityBytes    int64         // content, arguments and metadata together
	HighWaterPct     int           // of the capacity: pruning starts above it
	LowWaterPct      int           // and goes down to it
	MaxArtifactRunes int           // a longer text is refused
	Synchronous      string        // FULL (default) or NORMAL, which a power cut may cost the last turns
	ReadOnly         bool          // also for a copied folder and read-only media; nothing is created
	FixedKey         bool          // a new marker key is FixedMarkerKey instead of random bytes
	Key              []byte        // a new marker key is this one, 32 bytes: of a vault whose folder went while it was open
	BusyTimeout      time.Duration // wait for another process's lock; default 5 s
	MaxPages         int64         // hard limit of the file in pages of 4,096 bytes; 0 none

	Now func() time.Time // nil: time.Now
	// Hook is called before and after every call into the store, named "before X" or
	// "after X". An error it returns stands for a failure of that call. Tests only.
	Hook func(point string) error
}

func (o Options) filled() (Options, error) {
	if o.CapacityBytes == 0 {
		o.CapacityBytes = DefaultCapacity
	}
	if o.HighWaterPct == 0 {
		o.HighWaterPct = DefaultHighWater
	}
	if o.LowWaterPct == 0 {
		o.LowWaterPct = min(DefaultLowWater, o.HighWaterPct)
	}
	if o.MaxArtifactRunes == 0 {
		o.MaxArtifactRunes = DefaultMaxRunes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.CapacityBytes < 0 || o.CapacityBytes > 1<<56 || o.MaxArtifactRunes < 0 || o.LowWaterPct < 1 ||
		o.LowWaterPct > o.HighWaterPct || o.HighWaterPct > 100 {
		return o, fmt.Errorf("vault options: capacity %d, water marks %d/%d and artifact limit %d do not fit together",
			o.CapacityBytes, o.HighWaterPct, o.LowWaterPct, o.MaxArtifactRunes)
	}
	return o, nil
}

func (o Options) highMark() int64 { return o.CapacityBytes * int64(o.HighWaterPct) / 100 }
func (o Options) lowMark() int64  { return o.CapacityBytes * int64(o.LowWaterPct) / 100 }

// PutResult answers one Evidence of a group. Pinned.Proofs decides which edits may
// be published, whatever Err says about the rest.
type PutResult struct {
	Pinned turn.Pinned
	Err    error
}
