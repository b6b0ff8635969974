package vault_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/sqlitefile"
	"token-terminator/turn"
	"token-terminator/vault"
	"token-terminator/vault/vaulttest"
)

// BenchmarkVaultPut stores new artifacts of 8 KB, synchronous FULL, read back and
// hashed. fsync is the floor of the same disk in the same run: one synced append of
// 4 KB. grouped64 and grouped32 are callers, who check, hash and pack, behind one writer
// that takes whatever waits; serial32 is 32 callers of one vault with a commit each; ungrouped32 is 32
// callers with a vault handle each, who meet at the file's lock.
func BenchmarkVaultPut(b *testing.B) {
	b.Run("fsync", benchFsync)
	b.Run("one", func(b *testing.B) { benchCallers(b, 1, nil) })
	b.Run("grouped64", func(b *testing.B) { benchCallers(b, 64, grouped) })
	b.Run("grouped32", func(b *testing.B) { benchCallers(b, 32, grouped) })
	b.Run("serial32", func(b *testing.B) { benchCallers(b, 32, nil) })
	b.Run("ungrouped32", benchUngrouped)
}

func benchFsync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "append"))
	require.NoError(b, err)
	defer f.Close()
	page, took := make([]byte, 4096), laps{}
	defer took.report(b)
	for b.Loop() {
		start := time.Now()
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took.add(start)
	}
}

// laps are the times of single calls; the gate on one caller is about their middle.
type laps struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *laps) add(start time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, time.Since(start))
}

func (l *laps) report(b *testing.B) {
	slices.Sort(l.all)
	if n := len(l.all); n > 0 {
		b.ReportMetric(float64(l.all[n/2].Nanoseconds()), "p50-ns")
		b.ReportMetric(float64(l.all[n*99/100].Nanoseconds()), "p99-ns")
	}
}

type putter func(turn.Evidence) error

// grouped gives a putter whose calls meet in one goroutine, and the end of it.
func grouped(v *vault.Vault) (putter, func()) {
	type wish struct {
		ev   turn.Evidence
		done chan error
	}
	wishes, stopped := make(chan wish, 128), make(chan struct{})
	go func() {
		defer close(stopped)
		for w := range wishes {
			batch := []wish{w}
			for seen := 0; seen < len(batch); { // as the vault writer: while it grows, let others ask
				seen = len(batch)
				runtime.Gosched()
				for len(wishes) > 0 && len(batch) < 128 {
					batch = append(batch, <-wishes)
				}
			}
			evs := make([]turn.Evidence, len(batch))
			for i := range batch {
				evs[i] = batch[i].ev
			}
			for i, r := range v.PutAll(context.Background(), evs) {
				batch[i].done <- r.Err
			}
		}
	}()
	return func(ev turn.Evidence) error {
			w := wish{v.Prepare(ev), make(chan error, 1)}
			wishes <- w
			return <-w.done
		}, func() {
			close(wishes)
			<-stopped
		}
}

func benchCallers(b *testing.B, callers int, group func(*vault.Vault) (putter, func())) {
	v := mustOpen(b, b.TempDir(), vault.Options{})
	put, stop := alone(v), func() {}
	if group != nil {
		put, stop = group(v)
	}
	benchPut(b, callers, func(int) putter { return put })
	stop()
}

func alone(v *vault.Vault) putter {
	return func(ev turn.Evidence) error { _, err := v.Put(context.Background(), ev); return err }
}

func benchUngrouped(b *testing.B) {
	dir, puts := b.TempDir(), []putter{}
	for range 32 {
		put := alone(mustOpen(b, dir, vault.Options{}))
		puts = append(puts, func(ev turn.Evidence) (err error) {
			for err = put(ev); errors.Is(err, sqlitefile.ErrBusy); err = put(ev) { // SQLite's wait is no queue: some starve
			}
			return err
		})
	}
	benchPut(b, len(puts), func(caller int) putter { return puts[caller] })
}

func benchPut(b *testing.B, callers int, of func(caller int) putter) {
	body := strings.Repeat("a line of a log file with some words in it\n", 190)
	var next atomic.Int64
	var all sync.WaitGroup
	var took laps
	b.ResetTimer()
	for caller := range callers {
		put := of(caller)
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				ev := vaulttest.Evidence("s", uint64(n), fmt.Sprint(n, body))
				start := time.Now()
				if err := put(ev); err != nil {
					b.Error(err)
					return
				}
				took.add(start)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	took.report(b)
}

func BenchmarkVaultGet(b *testing.B) {
	v := mustOpen(b, b.TempDir(), vault.Options{})
	text := strings.Repeat("a line of a log file with some words in it\n", 190)
	p, err := v.Put(context.Background(), vaulttest.Evidence("s", 1, text))
	require.NoError(b, err)
	shown := p.Proofs[turn.Sum(text)].Shown
	for b.Loop() {
		if _, err := v.Get(context.Background(), "s", shown); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVaultProofs asks about the 400 ids of a long session, as every turn does.
func BenchmarkVaultProofs(b *testing.B) {
	v := mustOpen(b, b.TempDir(), vault.Options{})
	var digests []turn.Digest
	for i := range 400 {
		text := fmt.Sprint(i, strings.Repeat(" a line of a log file\n", 100))
		digests = append(digests, turn.Sum(text))
		vaulttest.MustPut(b, v, vaulttest.Evidence("s", uint64(i), text))
	}
	for b.Loop() {
		proofs, err := v.Proofs(context.Background(), "s", digests)
		if err != nil || len(proofs) != len(digests) {
			b.Fatal(len(proofs), err)
		}
	}
}
