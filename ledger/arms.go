package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrExperiment says that an experiment cannot be used.
var ErrExperiment = errors.New("experiment")

// Arm is one way of an experiment and its share in percent.
type Arm struct {
	Name    string
	Percent int
}

// Experiment splits session chains. Percentages add up to 100.
type Experiment struct {
	Name string // at most 80 runes
	Salt string // of the split; another salt is another split
	Arms []Arm
}

// Validate checks names and percentages.
func (e Experiment) Validate() error {
	if n := len([]rune(e.Name)); n == 0 || n > 80 {
		return fmt.Errorf("%w: its name has %d characters, want 1 to 80", ErrExperiment, n)
	}
	sum, seen := 0, map[string]bool{}
	for _, a := range e.Arms {
		if a.Name == "" || seen[a.Name] || a.Percent < 0 {
			return fmt.Errorf("%w %q: arms want different names and percentages from 0 on", ErrExperiment, e.Name)
		}
		seen[a.Name] = true
		sum += a.Percent
	}
	if sum != 100 {
		return fmt.Errorf("%w %q: the arms' percentages add up to %d, want 100", ErrExperiment, e.Name, sum)
	}
	return nil
}

// Bucket places a chain: the number in the first 8 hex digits of SHA-256(salt ‖ chain),
// mod 100.
func Bucket(salt, chain string) int {
	sum := sha256.Sum256([]byte(salt + chain))
	n, err := strconv.ParseUint(hex.EncodeToString(sum[:])[:8], 16, 32)
	if err != nil { // eight hex digits always parse
		panic(err)
	}
	return int(n % 100)
}

// Of is the arm of a chain: a pure function of salt, chain and percentages. The
// experiment must be valid.
func (e Experiment) Of(chain string) string {
	bucket := Bucket(e.Salt, chain)
	for _, a := range e.Arms {
		if bucket < a.Percent {
			return a.Name
		}
		bucket -= a.Percent
	}
	return ""
}

// Assign gives the arm of a chain and makes it durable before it returns, so that it
// is logged before the chain's first request. A chain keeps the arm it was given first,
// whatever the percentages say now. An error means that the chain is in no arm: it is
// not part of the experiment.
func (l *Ledger) Assign(ctx context.Context, e Experiment, chain string) (string, error) {
	if l == nil {
		return "", ErrOff
	}
	if err := e.Validate(); err != nil {
		return "", err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return "", ErrClosed
	}
	arm, err := l.reading.Arm(ctx, e.Name, chain)
	if arm != "" || err != nil {
		return arm, err
	}
	l.write.Lock()
	defer l.write.Unlock()
	err = l.db.QueryRowContext(ctx, `INSERT INTO arms (experiment, chain, arm, bucket, at) VALUES (?1, ?2, ?3, ?4, ?5)
		ON CONFLICT (experiment, chain) DO UPDATE SET arm = arm RETURNING arm`,
		e.Name, chainKey(chain), e.Of(chain), Bucket(e.Salt, chain), l.o.Now().UnixMilli()).Scan(&arm)
	return arm, l.explain("assign arm", err)
}

// Arm is the arm a chain was given, "" when none.
func (r *Reading) Arm(ctx context.Context, experiment, chain string) (string, error) {
	if r == nil {
		return "", ErrOff
	}
	var arm string
	err := r.db.QueryRowContext(ctx, `SELECT arm FROM arms WHERE experiment = ? AND chain = ?`, experiment, chainKey(chain)).Scan(&arm)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return arm, r.explain("read arm", err)
}

// chainKey names a chain in the arms: long names by their hash, so that two of them
// never meet.
func chainKey(chain string) string {
	if bounded := name(chain); bounded == chain {
		return chain
	}
	sum := sha256.Sum256([]byte(chain))
	return "sha256:" + hex.EncodeToString(sum[:])
}

const fingerprintHex = 32

// Fingerprint names a session's first words without telling them: sessions of one home
// with the same words, white space aside, have the same fingerprint, and no other home
// can compute it. It is "" when the ledger is off.
func (l *Ledger) Fingerprint(words string) string {
	if l == nil {
		return ""
	}
	mac := hmac.New(sha256.New, l.salt)
	mac.Write([]byte(strings.Join(strings.Fields(words), " ")))
	return hex.EncodeToString(mac.Sum(nil))[:fingerprintHex]
}
