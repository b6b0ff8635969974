package vault

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"token-terminator/internal/sqlitefile"
)

// When the write-ahead log is merged into the file.
const (
	mergeFrom   = 8 << 20          // bytes written since the last merge
	mergeIdle   = 15 * time.Second // without a write: empty the log
	mergeWait   = 200 * time.Millisecond
	walMaxPages = 16_000   // the hard limit, just under 64 MB: the writer merges by itself
	turnPages   = 32 << 10 // a commit's pages beside the bodies
)

// keeper merges the write-ahead log beside the writer, so that no commit has to.
type keeper struct {
	db      *sql.DB
	path    string
	written atomic.Int64 // bytes since the last full merge, estimated
	last    atomic.Int64 // when that was, in nanoseconds
	waits   atomic.Bool  // the idle timer runs
	wake    chan struct{}
	stop    chan struct{}
	ended   chan struct{}
}

func startKeeper(path, synchronous string) (*keeper, error) {
	db, err := sqlitefile.OpenKeeper(path, sqlitefile.Options{Synchronous: synchronous, BusyTimeout: mergeWait})
	if err != nil {
		return nil, err
	}
	k := &keeper{db: db, path: path, wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{})}
	go k.run()
	return k, nil
}

// wrote tells of a commit with so many bytes of bodies.
func (k *keeper) wrote(bytes int64) {
	k.last.Store(time.Now().UnixNano())
	if k.written.Add(bytes+turnPages) < mergeFrom && k.waits.Swap(true) {
		return // nothing to do, and the timer looks when it ends
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *keeper) run() {
	defer close(k.ended)
	idle := time.NewTimer(mergeIdle)
	defer idle.Stop()
	for {
		select {
		case <-k.stop:
			return
		case <-k.wake:
			if k.written.Load() >= mergeFrom {
				k.merge(context.Background(), false)
			}
			idle.Reset(mergeIdle)
		case <-idle.C:
			if left := mergeIdle - time.Duration(time.Now().UnixNano()-k.last.Load()); left > 0 {
				idle.Reset(min(left, mergeIdle))
				continue
			}
			k.waits.Store(false)
			if k.written.Load() > 0 {
				k.merge(context.Background(), true)
			}
		}
	}
}

// merge moves what it can. What fails is tried again after the next write, and the
// hard limit of the writer reports a disk that stays full or broken.
func (k *keeper) merge(ctx context.Context, truncate bool) (sqlitefile.Merged, error) {
	before := k.written.Load()
	m, err := sqlitefile.Checkpoint(ctx, k.db, k.path, truncate)
	if err == nil && !m.Busy && m.Moved == m.Pages {
		k.written.Add(-before)
	}
	return m, err
}

func (k *keeper) close() error {
	close(k.stop)
	<-k.ended
	return k.db.Close()
}

// Checkpoint merges the write-ahead log into the file and empties it, as happens by
// itself when nothing was written for a while and at Close.
func (v *Vault) Checkpoint(ctx context.Context) error {
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.leave()
	if err := v.hook("before checkpoint"); err != nil {
		return err
	}
	if _, err := v.keeper.merge(ctx, true); err != nil {
		return v.explain("merge log", err)
	}
	return v.hook("after checkpoint")
}
