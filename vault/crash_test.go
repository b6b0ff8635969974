//go:build unix

package vault_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"token-terminator/internal/faults"
	"token-terminator/turn"
	"token-terminator/vault"
)

const (
	childVariable = "VAULT_TEST_CHILD" // "<what> <folder> <numbers…>" makes this binary a child
	crashChains   = 10                 // vault folders
	crashPoints   = 450                // hook calls among which the kill falls, about six turns
	crashRecheck  = 6                  // every so many kills the answers of all runs are read again
	crashCapacity = 1_500_000          // small enough that pruning runs too
	answersFile   = "answers"
)

func TestMain(m *testing.M) {
	if job := strings.Split(os.Getenv(childVariable), "\x1f"); len(job) > 1 {
		os.Exit(runChild(job[0], job[1:]))
	}
	os.Exit(m.Run())
}

func runChild(what string, args []string) int {
	var err error
	switch what {
	case "crash":
		err = crashChild(args[0], args[1])
	case "operate":
		err = operateChild(args[0], args[1], args[2])
	case "hammer":
		err = hammerChild(args[0], args[1])
	case "unprivileged":
		err = unprivilegedChild(args[0])
	default:
		err = fmt.Errorf("no child %q", what)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func child(what string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(append([]string{what}, args...), "\x1f"))
	return cmd
}

// crashText is the text with this number: the parent makes it again to compare.
func crashText(n uint64) string {
	rng := rand.New(rand.NewPCG(n, 1))
	size := 20 + rng.IntN(2_000)
	if n%16 == 0 {
		size += 70_000
	}
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%d: %x ü\n", n, rng.Uint64())
	}
	return b.String()
}

// crashTurn is the turn with this number of the run with this seed. Texts repeat now
// and then, some arguments are long, every second turn remembers forms.
func crashTurn(seed, number uint64) turn.Evidence {
	rng := rand.New(rand.NewPCG(seed, number))
	ev := turn.Evidence{Binding: turn.Binding{Session: fmt.Sprintf("session-%d", seed%4), Generation: seed, Turn: number}}
	for i := range 1 + rng.IntN(3) {
		n := seed<<16 | number<<4 | uint64(i)
		if rng.IntN(4) == 0 {
			n = rng.Uint64N(20)
		}
		a := turn.Artifact{Text: crashText(n), Tool: "shell", CallID: fmt.Sprintf("call-%d-%d", number, i), Args: strconv.FormatUint(n, 10)}
		a.Digest = turn.Sum(a.Text)
		if rng.IntN(3) == 0 {
			a.Args += strings.Repeat("x", 20_000)
		}
		ev.Artifacts = append(ev.Artifacts, a)
		if number%2 == 0 {
			ev.Nodes = append(ev.Nodes, turn.Node{Hash: turn.Chain(a.Digest, turn.Sum(fmt.Sprint(seed, number))), Index: int(number), Decisions: []turn.Decision{{
				Block: "/content", Form: turn.Compressed, Before: a.Digest, Text: "see a_00000000", ShownAt: 4, ShownLen: 10,
			}}})
		}
	}
	if number%3 == 0 { // it shows older ids again, of which some are not here
		for range 3 {
			ev.Held = append(ev.Held, turn.Sum(crashText(rng.Uint64N(20))))
		}
		ev.Source = crashSource{}
	}
	return ev
}

// crashSource has the texts that repeat at hand.
type crashSource struct{}

func (crashSource) Held(d turn.Digest) (turn.Artifact, bool) {
	for n := range uint64(20) {
		if text := crashText(n); turn.Sum(text) == d {
			return turn.Artifact{Digest: d, Text: text, Tool: "shell", CallID: "held"}, true
		}
	}
	return turn.Artifact{}, false
}

// crashChild stores turns until its hook kills it. A turn counts as answered once
// its ids stand in the answers file and that is synced.
func crashChild(dir, seedText string) error {
	seed, err := strconv.ParseUint(seedText, 10, 64)
	if err != nil {
		return err
	}
	answers, err := os.OpenFile(filepath.Join(dir, answersFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	hook := faults.KillNth(faults.Seeded(seed, 1, crashPoints))
	v, err := vault.Open(filepath.Join(dir, "vault"), vault.Options{CapacityBytes: crashCapacity, Hook: hook})
	if err != nil {
		return err
	}
	for number := uint64(0); ; number += 2 {
		group := []turn.Evidence{crashTurn(seed, number), crashTurn(seed, number+1)}
		if number%4 == 0 {
			group = group[:1]
		}
		for _, r := range v.PutAll(context.Background(), group) {
			if r.Err != nil && r.Pinned.Reason != turn.VaultFull {
				return r.Err
			}
			for digest, proof := range r.Pinned.Proofs {
				fmt.Fprintln(answers, r.Pinned.Binding.Session, proof.Artifact, proof.Shown, digest)
			}
		}
		if err := answers.Sync(); err != nil {
			return err
		}
		if number%4 == 2 {
			// The lower rung: nothing of the last turn is shown smaller after all.
			if err := v.Accept(context.Background(), group[0].Binding.Session, []turn.Node{{Hash: turn.Sum(seedText), Index: 1 << 20}}); err != nil {
				return err
			}
		}
	}
}

// crashRunsVariable asks for more kills in each of the ten folders: 100 makes 1,000.
const crashRunsVariable = "VAULT_CRASH_RUNS"

func crashRunsWanted(t *testing.T) uint64 {
	text := os.Getenv(crashRunsVariable)
	if text == "" {
		return crashRuns
	}
	n, err := strconv.ParseUint(text, 10, 16)
	require.NoError(t, err, crashRunsVariable)
	return n
}

// 150 seeded kills (crashRuns on each of ten folders) at calls into the store. After each, the file is sound with every
// hash, every id answered in the run recovers (at every sixth kill those of all runs), and no turn is there by half.
func TestA7_A14_KillAtEveryCallLosesNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	for chain := range uint64(crashChains) {
		t.Run(fmt.Sprint("chain ", chain), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var key []byte
			runs := crashRunsWanted(t)
			for run := range runs {
				seed, from := chain*runs+run, int64(0)
				if info, err := os.Stat(filepath.Join(dir, answersFile)); err == nil && run%crashRecheck != crashRecheck-1 {
					from = info.Size()
				}
				out, err := child("crash", dir, fmt.Sprint(seed)).CombinedOutput()
				require.ErrorContains(t, err, "killed", "seed %d: %s", seed, out)
				key = checkAfterCrash(t, dir, seed, from, key)
			}
		})
	}
}

func checkAfterCrash(t *testing.T, dir string, seed uint64, from int64, key []byte) []byte {
	ctx := context.Background()
	v, err := vault.Open(filepath.Join(dir, "vault"), vault.Options{CapacityBytes: crashCapacity})
	require.NoError(t, err, "seed %d", seed)
	if key != nil {
		require.Equal(t, key, v.MarkerKey(), "seed %d", seed)
	}
	report, err := v.Verify(ctx)
	require.NoError(t, err, "seed %d", seed)
	require.True(t, report.Sound(), "seed %d: %+v", seed, report)
	answers, err := os.Open(filepath.Join(dir, answersFile))
	require.NoError(t, err)
	_, err = answers.Seek(from, io.SeekStart)
	require.NoError(t, err)
	lines, done := bufio.NewScanner(answers), map[string]bool{}
	for lines.Scan() {
		if done[lines.Text()] {
			continue
		}
		done[lines.Text()] = true
		f := strings.Fields(lines.Text())
		require.Len(t, f, 4)
		a, err := v.Get(ctx, f[0], f[2])
		require.NoError(t, err, "seed %d: %s", seed, lines.Text())
		require.Equal(t, f[3], turn.Sum(a.Text).String(), "seed %d: byte for byte", seed)
		require.Equal(t, f[1], string(a.ID))
	}
	require.NoError(t, answers.Close())
	for session := range 4 {
		nodes, err := v.Nodes(ctx, fmt.Sprintf("session-%d", session))
		require.NoError(t, err)
		for _, n := range nodes {
			for _, d := range n.Decisions {
				a, err := v.Get(ctx, fmt.Sprintf("session-%d", session), d.ShownID())
				require.NoError(t, err, "seed %d: a form leans on evidence that is not there", seed)
				require.Equal(t, d.Before, a.Digest)
			}
		}
	}
	require.NoError(t, v.Close())
	return v.MarkerKey()
}
