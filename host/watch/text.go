package watch

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"token-terminator/turn"
)

// WriteText writes the status for people.
func WriteText(w io.Writer, s Status) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tw, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if d := s.Daemon; d != nil {
		row("daemon", "running, version %s, pid %d, for %s", d.Version, d.PID, (time.Duration(d.UptimeS) * time.Second).String())
	} else {
		row("daemon", "none is running")
	}
	if e := s.Engine; e != nil {
		row("engine", "%s, mode %s, %d turns in flight, %d since the start, %d edited, %d passed because something failed", e.State, e.Mode, e.TurnsInFlight, e.Turns, e.Edited, e.FailOpens)
	}
	if v := s.Vault; v != nil {
		row("vault", "%s, %.1f %% of %s, %d originals (%d pinned), %d sessions", v.State, v.Percent, size(v.Capacity), v.Artifacts, v.Pinned, v.Sessions)
		if v.WarnAt != nil {
			row("", "70 %% full about %s", v.WarnAt.Format(time.DateOnly))
		}
	} else {
		row("vault", "unknown")
	}
	row("turns", "%s in %s sessions", orUnknown(s.Turns), orUnknown(s.Sessions))
	row("saved", "tokens: exact %s, panel %s; input-token equivalents: %s", orUnknown(s.Saved.Tokens.Exact), orUnknown(s.Saved.Tokens.Panel), orUnknown(s.Saved.ITE))
	if len(s.Reasons) > 0 {
		row("reasons", "%s", reasons(s.Reasons))
	}
	if s.LastErrorType != nil {
		row("last error", "%s", *s.LastErrorType)
	}
	for _, warning := range s.Warnings {
		row("warning", "%s", warning)
	}
	return tw.Flush()
}

func orUnknown[T int64 | float64](v *T) string {
	if v == nil {
		return "unknown"
	}
	if n, ok := any(*v).(float64); ok {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprint(*v)
}

// reasons lists counts, the largest first.
func reasons(counts map[turn.Reason]int64) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b turn.Reason) int {
		if counts[a] != counts[b] {
			return int(min(max(counts[b]-counts[a], -1), 1))
		}
		return strings.Compare(string(a), string(b))
	})
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(words, ", ")
}

func size(bytes int64) string {
	for _, unit := range []struct {
		name string
		n    int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if bytes >= unit.n {
			return fmt.Sprintf("%.4g %s", float64(bytes)/float64(unit.n), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
