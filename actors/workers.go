package actors

import "sync"

// workers is the dispatcher of the Compiler actors: at most a fixed number of them
// use CPU at the same time, the others wait in order of arrival. A Compiler that
// waits for the vault holds no place. Without it a burst of long turns would share
// the processors evenly, and all of them would miss their deadline.
type workers struct {
	mu    sync.Mutex
	free  int
	queue []func()
}

func newWorkers(n int) *workers { return &workers{free: n} }

// Schedule implements actor.Dispatcher. It never blocks.
func (w *workers) Schedule(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.free == 0 {
		w.queue = append(w.queue, fn)
		return
	}
	w.free--
	go w.work(fn)
}

// Throughput implements actor.Dispatcher: messages of one actor before it yields.
func (*workers) Throughput() int { return 16 }

func (w *workers) work(fn func()) {
	for fn != nil {
		fn()
		fn = w.next()
	}
}

func (w *workers) next() func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.free++
		w.queue = nil
		return nil
	}
	fn := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	return fn
}
