package compile

import (
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
	maxIndexes   = 32 // indexes kept, one per live session chain
	maxCacheWalk = 64 // messages a turn looks back for a cached index
)

// indexCache keeps the line indexes of the sessions used last, so that a turn
// indexes only what is new. An index in the cache is never added to again.
type indexCache struct {
	mu    sync.Mutex
	order []viewKey // least recently used first
	held  map[viewKey]*delta.Index
}

func newIndexCache() *indexCache { return &indexCache{held: map[viewKey]*delta.Index{}} }

func (c *indexCache) get(key viewKey) (*delta.Index, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ix, ok := c.held[key]
	return ix, ok
}

// put keeps ix and drops what the same session held before, or the oldest.
func (c *indexCache) put(key viewKey, ix *delta.Index) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.order[:0]
	sameSession := 0
	for _, k := range c.order {
		if k.session == key.session {
			sameSession++
		}
	}
	for _, k := range c.order {
		if k == key || (k.session == key.session && sameSession > 1) {
			delete(c.held, k)
			sameSession--
			continue
		}
		kept = append(kept, k)
	}
	c.order = append(kept, key)
	c.held[key] = ix
	for len(c.order) > maxIndexes {
		delete(c.held, c.order[0])
		c.order = c.order[1:]
	}
}
