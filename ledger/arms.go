package ledger

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"strings"

	"token-terminator/ledger/split"
)

// Experiment splits session chains; see package split.
type Experiment = split.Experiment

// ErrExperiment says that an experiment cannot be used.
var ErrExperiment = split.ErrExperiment

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
		e.Name, chainKey(chain), e.Of(chain), split.Bucket(e.Salt, chain), l.o.Now().UnixMilli()).Scan(&arm)
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
