package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"token-terminator/actors"
	"token-terminator/turn"
	"token-terminator/vault"
)

// liveVault is the vault as the daemon uses it. A file that is removed or replaced
// while it is open is opened anew, so that sessions heal it. One that does not open
// at all (a migration that fails, a damaged file) stops no daemon: requests pass with
// a reason, and it is tried again from time to time.
type liveVault struct {
	folder  string
	options vault.Options

	mu     sync.RWMutex
	v      *vault.Vault // nil: it does not open
	err    error        // why
	next   time.Time    // when it is tried again
	closed bool
}

// openAgain is how long a vault that did not open is left alone.
const openAgain = 2 * time.Second

// errNoVault says that the vault did not open; what it wraps says why.
var errNoVault = errors.New("the vault does not open")

func openLive(folder string, o vault.Options) *liveVault {
	l := &liveVault{folder: folder, options: o}
	l.open()
	return l
}

// open opens the folder. The lock is held, or nobody else knows l yet.
func (l *liveVault) open() {
	l.v, l.err = vault.Open(l.folder, l.options)
	if l.err != nil {
		l.v, l.err, l.next = nil, fmt.Errorf("%w: %w", errNoVault, l.err), time.Now().Add(openAgain)
	}
}

// failure is why there is no vault, nil when there is one.
func (l *liveVault) failure() error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.err
}

// current is the open vault, nil when it does not open.
func (l *liveVault) current() *vault.Vault {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.v
}

// ready is current, after another try where that is due.
func (l *liveVault) ready() (*vault.Vault, error) {
	if v := l.current(); v != nil {
		return v, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.v == nil && !l.closed && !time.Now().Before(l.next) {
		l.open()
	}
	return l.v, l.err
}

func (l *liveVault) markerKey() []byte {
	if v := l.current(); v != nil {
		return v.MarkerKey()
	}
	return nil
}

// after looks at the error of a call on v and opens the folder again when the file is
// not the one v has open. It says whether the call may be tried again.
func (l *liveVault) after(v *vault.Vault, err error) (*vault.Vault, bool) {
	if !errors.Is(err, vault.ErrGone) && !errors.Is(err, vault.ErrClosed) {
		return v, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.v == nil {
		return v, false
	}
	if l.v != v {
		return l.v, true // somebody else was faster
	}
	if errors.Is(err, vault.ErrClosed) {
		return v, false
	}
	o := l.options
	o.Key = v.MarkerKey() // texts shown before are still known as ours
	fresh, err := vault.Open(l.folder, o)
	if err != nil {
		return v, false
	}
	l.v = fresh
	_ = v.Close() // its file has no name any more
	return fresh, true
}

func (l *liveVault) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.v == nil {
		return nil
	}
	return l.v.Close()
}

// status is the vault's, or why it has none.
func (l *liveVault) status(ctx context.Context) (vault.Status, error) {
	v, err := l.ready()
	if err != nil {
		return vault.Status{}, err
	}
	return v.Status(ctx)
}

// Prepare implements actors.Preparer.
func (l *liveVault) Prepare(ev turn.Evidence) turn.Evidence {
	if v := l.current(); v != nil {
		return v.Prepare(ev)
	}
	return ev
}

// PutAll implements actors.Store.
func (l *liveVault) PutAll(ctx context.Context, all []turn.Evidence) []actors.PutResult {
	v, err := l.ready()
	if err != nil {
		out := make([]actors.PutResult, len(all))
		for i := range out {
			out[i].Err = err
		}
		return out
	}
	out := vaultStore{v}.PutAll(ctx, all)
	if len(out) > 0 {
		if again, ok := l.after(v, out[0].Err); ok {
			return vaultStore{again}.PutAll(ctx, all)
		}
	}
	return out
}

// Accept implements actors.Store.
func (l *liveVault) Accept(ctx context.Context, session string, nodes []turn.Node) error {
	v, err := l.ready()
	if err != nil {
		return err
	}
	err = v.Accept(ctx, session, nodes)
	if again, ok := l.after(v, err); ok {
		return again.Accept(ctx, session, nodes)
	}
	return err
}

// Nodes implements actors.Store.
func (l *liveVault) Nodes(ctx context.Context, session string) ([]turn.Node, error) {
	v, err := l.ready()
	if err != nil {
		return nil, err
	}
	nodes, err := v.Nodes(ctx, session)
	if again, ok := l.after(v, err); ok {
		return again.Nodes(ctx, session)
	}
	return nodes, err
}
