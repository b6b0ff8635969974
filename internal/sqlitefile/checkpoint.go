package sqlitefile

import (
	"context"
	"database/sql"
)

// Merged says how far the write-ahead log has been merged into its file.
type Merged struct {
	Pages int  // in the log
	Moved int  // of them are in the file now
	Busy  bool // somebody still reads or writes, so not all could be done
}

// OpenKeeper opens a file that a writer has open, for merging its log beside the
// writer. It waits for nobody: what cannot be merged now is merged the next time.
func OpenKeeper(path string, o Options) (*sql.DB, error) {
	o.Conns = 1
	return open(path, o, readWrite)
}

// Checkpoint moves pages of the log into the file without keeping readers or the
// writer waiting; truncate also waits for them, as long as the handle's BusyTimeout
// allows, and empties the log.
func Checkpoint(ctx context.Context, db *sql.DB, path string, truncate bool) (Merged, error) {
	text := "PRAGMA wal_checkpoint(PASSIVE)"
	if truncate {
		text = "PRAGMA wal_checkpoint(TRUNCATE)"
	}
	var m Merged
	err := db.QueryRowContext(ctx, text).Scan(&m.Busy, &m.Pages, &m.Moved)
	return m, Explain("merge log", path, err)
}
