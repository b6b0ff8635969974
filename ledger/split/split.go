// Package split places session chains in the arms of an experiment. It is pure: no
// file, no clock, no chance.
package split

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
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
	return int(binary.BigEndian.Uint32(sum[:4]) % 100)
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
