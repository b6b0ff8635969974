package compile

import (
	"slices"
	"sync"

	"token-terminator/reduce/delta"
	"token-terminator/turn"
)

// viewKey names everything the model sees up to one message.
type viewKey struct {
	session   string
	chain     turn.Digest
	decisions turn.Digest
}

const (
	maxIndexes   = 32 // indexes kept, at most two of one session chain
	maxCacheWalk = 64 // messages a turn looks back for a cached index
)

// indexCache keeps the line indexes of the sessions used last, so that a turn
// indexes only what is new. An index in the cache is never added to again.
type indexCache struct {
	mu    sync.Mutex
	order []viewKey // as they were put, oldest first
	held  map[viewKey]*delta.Index
}

func newIndexCache() *indexCache { return &indexCache{held: map[viewKey]*delta.Index{}} }

func (c *indexCache) get(key viewKey) (*delta.Index, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ix, ok := c.held[key]
	return ix, ok
}

// put keeps ix and the newest one the same session held before, which a fork or a
// retry may still go on from. Beyond maxIndexes the oldest goes.
func (c *indexCache) put(key viewKey, ix *delta.Index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := 0
	for _, k := range slices.Backward(c.order) {
		if k.session == key.session && k != key {
			own++
		}
		if k == key || k.session == key.session && own > 1 {
			delete(c.held, k)
		}
	}
	c.order = slices.DeleteFunc(c.order, func(k viewKey) bool { return c.held[k] == nil })
	c.order, c.held[key] = append(c.order, key), ix
	for len(c.order) > maxIndexes {
		delete(c.held, c.order[0])
		c.order = c.order[1:]
	}
}
