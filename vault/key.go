package vault

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"token-terminator/internal/safefile"
)

const keyBytes = 32

// readKey reads an existing marker key; nil when there is none. A copied folder may
// belong to somebody else, and then the key is left alone.
func readKey(path string) ([]byte, error) {
	key, err := safefile.ReadPrivate(path, keyBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, safefile.ErrOwner):
		return nil, nil
	case errors.Is(err, safefile.ErrTooLarge):
		return nil, badKey(path, err)
	case err != nil:
		return nil, err
	case len(key) != keyBytes:
		return nil, badKey(path, fmt.Errorf("it has %d bytes", len(key)))
	}
	return key, nil
}

func badKey(path string, why error) error {
	return &safefile.Error{Op: "read marker key", Path: path, Err: fmt.Errorf("%w: %w", ErrKey, why),
		Advice: "restore the file from a backup, or move it away; then markers written before are no longer recognised as ours"}
}

// makeKey reads the marker key or creates it. When two processes create it at once,
// one name wins and both read that file.
func makeKey(path string, o Options) ([]byte, error) {
	key, err := readKey(path)
	if err != nil || key != nil {
		return key, err
	}
	fresh := make([]byte, keyBytes)
	if len(o.Key) == keyBytes {
		copy(fresh, o.Key)
	} else if o.FixedKey {
		copy(fresh, FixedMarkerKey)
	} else if _, err := rand.Read(fresh); err != nil {
		return nil, fmt.Errorf("make marker key: %w", err)
	}
	if err := safefile.WriteNew(path, fresh); err != nil && !errors.Is(err, safefile.ErrExists) {
		return nil, err
	}
	return readKey(path)
}
