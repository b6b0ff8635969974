package sqlitefile

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"
)

// Options of one handle. Zero values mean the defaults.
type Options struct {
	Synchronous string        // FULL (default), NORMAL, EXTRA, OFF
	BusyTimeout time.Duration // how long to wait for another process's lock; default 5 s
	MaxPages    int64         // size limit in pages of 4,096 bytes; 0 none
	Conns       int           // most connections of the pool; default 1
	WALPages    int           // a commit that leaves more pages in the log merges them itself; default 1,000

	// Application and Newest are checked before a writer changes anything: a file of
	// another program or of a newer schema version is refused. 0 means no check.
	Application int
	Newest      int
}

const defaultBusy = 5 * time.Second

// access is how a handle opens its file.
type access int

const (
	readWrite access = iota
	readOnly
	immutable // read-only media: no locks, no -shm file
)

// synchronousModes are the spellings SQLite knows.
func synchronousMode(s string) (string, error) {
	switch up := strings.ToUpper(s); up {
	case "":
		return "FULL", nil
	case "OFF", "NORMAL", "FULL", "EXTRA":
		return up, nil
	}
	return "", fmt.Errorf("synchronous mode %q: want FULL, NORMAL, EXTRA or OFF", s)
}

// fileURI writes an absolute path as the file URI SQLite parses: everything but
// unreserved characters and slashes is percent-encoded, so blanks, ?, #, % and
// letters outside ASCII arrive as they are.
func fileURI(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolve path: %w", err)
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") { // a Windows drive letter
		slashed = "/" + slashed
	}
	var b strings.Builder
	b.WriteString("file://")
	for i := range len(slashed) {
		c := slashed[i]
		if c == '/' || c == ':' || c == '-' || c == '.' || c == '_' || c == '~' ||
			'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String(), nil
}

func dsn(path string, o Options, how access) (string, error) {
	uri, err := fileURI(path)
	if err != nil {
		return "", err
	}
	mode, err := synchronousMode(o.Synchronous)
	if err != nil {
		return "", err
	}
	busy := o.BusyTimeout
	if busy <= 0 {
		busy = defaultBusy
	}
	q := url.Values{}
	pragma := func(format string, args ...any) { q.Add("_pragma", fmt.Sprintf(format, args...)) }
	pragma("busy_timeout(%d)", busy.Milliseconds())
	pragma("foreign_keys(1)")
	pragma("trusted_schema(0)")
	switch how {
	case readWrite:
		q.Set("mode", "rw") // the file was created 0600 before
		q.Set("_txlock", "immediate")
		pragma("synchronous(%s)", mode)
		pragma("journal_size_limit(%d)", 64<<20)
		pragma("temp_store(2)")          // what a savepoint may have to undo stays in memory
		pragma("cache_size(%d)", -8<<10) // 8 MB: a group of turns fits
		if o.WALPages > 0 {
			pragma("wal_autocheckpoint(%d)", o.WALPages)
		}
		if o.MaxPages > 0 {
			pragma("max_page_count(%d)", o.MaxPages)
		}
	case readOnly:
		q.Set("mode", "ro")
		pragma("query_only(1)")
	case immutable:
		q.Set("mode", "ro")
		q.Set("immutable", "1")
		pragma("query_only(1)")
	}
	return uri + "?" + q.Encode(), nil
}
