//go:build unix

package actors

import (
	"context"
	"crypto/sha256"
	"syscall"
	"testing"

	"token-terminator/turn"
)

// load is a Compile that costs rounds of hashing.
type load struct{ rounds int }

func (l load) Begin(_ Snapshot, cmd ReduceTurn) (Draft, turn.Reason) {
	for range l.rounds {
		sha256.Sum256(cmd.Body)
	}
	return loadDraft{turn.SumBytes(cmd.Body), string(cmd.Body[:8])}, ""
}

type loadDraft struct {
	digest turn.Digest
	text   string
}

func (d loadDraft) Evidence() turn.Evidence {
	return turn.Evidence{Artifacts: []turn.Artifact{{Digest: d.digest, Text: d.text}}}
}

func (d loadDraft) Finish(p turn.Pinned) Outcome {
	return Outcome{Edited: len(p.Proofs) == 1, Body: []byte("x")}
}

type freeStore struct{}

func (freeStore) PutAll(_ context.Context, all []turn.Evidence) []PutResult {
	out := make([]PutResult, len(all))
	for i, ev := range all {
		out[i].Pinned.Proofs = map[turn.Digest]turn.Proof{}
		for _, a := range ev.Artifacts {
			out[i].Pinned.Proofs[a.Digest] = turn.Proof{Artifact: a.Digest.ID()}
		}
	}
	return out
}

func (freeStore) Accept(context.Context, string, []turn.Node) error { return nil }

func (freeStore) Nodes(context.Context, string) ([]turn.Node, error) { return nil, nil }

type noMemory struct{}

func (noMemory) With([]turn.Node) Memory { return noMemory{} }

// inline does what a turn does, as plain calls.
func inline(c Compile, s Store, cmd ReduceTurn) TurnReduced {
	cmd.body = bodyKeyOf(cmd.Body)
	d, _ := c.Begin(Snapshot{}, cmd)
	put := s.PutAll(context.Background(), []turn.Evidence{d.Evidence()})
	o := d.Finish(put[0].Pinned)
	return TurnReduced{Edited: o.Edited, Body: o.Body}
}

// reportCPU adds the processor time of the whole process: wall time says little on a
// machine with other work.
func reportCPU(b *testing.B) func() {
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

// BenchmarkActors compares one turn through the actors with the same work as plain
// calls: with no work at all, and with about a millisecond of it.
func BenchmarkActors(b *testing.B) {
	for _, c := range []struct {
		name         string
		size, rounds int
	}{{"no_work", 64, 0}, {"about_1ms", 200_000, 8}} {
		work := load{c.rounds}
		body := make([]byte, c.size)
		cmd := func(n int) ReduceTurn {
			body[0], body[1], body[2], body[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
			return ReduceTurn{Binding: claim("s"), Body: body}
		}
		b.Run(c.name+"/inline", func(b *testing.B) {
			defer reportCPU(b)()
			for n := 0; b.Loop(); n++ {
				if !inline(work, freeStore{}, cmd(n)).Edited {
					b.Fatal("not edited")
				}
			}
		})
		b.Run(c.name+"/actors", func(b *testing.B) {
			s, err := Start(Config{Compile: work, Store: freeStore{}, NewMemory: func([]turn.Node) Memory { return noMemory{} }})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Stop(context.Background())
			defer reportCPU(b)()
			for n := 0; b.Loop(); n++ {
				if out := s.Reduce(context.Background(), cmd(n)); !out.Edited {
					b.Fatal(out.Reason)
				}
			}
		})
	}
}
