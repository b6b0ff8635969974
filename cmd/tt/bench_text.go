package main

import (
	"fmt"
	"io"
	"strings"
)

func (r *evidenceReport) text(w io.Writer) error {
	return r.render(w, func(title string, head []string, rows [][]string) string {
		widths := make([]int, len(head))
		for _, row := range append([][]string{head}, rows...) {
			for i, cell := range row {
				widths[i] = max(widths[i], len([]rune(cell)))
			}
		}
		var b strings.Builder
		b.WriteString(title + "\n")
		for _, row := range append([][]string{head}, rows...) {
			for i, cell := range row {
				fmt.Fprintf(&b, "  %-*s", widths[i], cell)
			}
			b.WriteString("\n")
		}
		return b.String() + "\n"
	})
}

func (r *evidenceReport) markdown(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "# Evidence\n\nCommand: `%s`\n\n", r.Command); err != nil {
		return err
	}
	return r.render(w, func(title string, head []string, rows [][]string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "## %s\n\n| %s |\n|%s\n", title, strings.Join(head, " | "), strings.Repeat("---|", len(head)))
		for _, row := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
		return b.String() + "\n"
	})
}

// render puts the four tables through one table printer.
func (r *evidenceReport) render(w io.Writer, table func(title string, head []string, rows [][]string) string) error {
	var scen, need, outs, speed [][]string
	for _, s := range r.Scenarios {
		state := "all visible"
		if len(s.Missing) > 0 {
			state = "MISSING: " + strings.Join(s.Missing, "; ")
		} else if s.Fault != "" {
			state = "FAULT: " + s.Fault
		}
		scen = append(scen, []string{s.Name, fmt.Sprint(s.Before), fmt.Sprint(s.After), state})
	}
	for _, n := range r.Needles {
		goal := "none"
		if n.Goal > 0 {
			goal = fmt.Sprintf("%.0f %%", n.Goal)
		}
		need = append(need, []string{n.Class, fmt.Sprintf("%d of %d", n.Visible, n.Total), fmt.Sprintf("%.1f %%", n.Percent), goal,
			fmt.Sprint(n.Unchanged), fmt.Sprintf("%.2f", n.SizeLeft)})
	}
	for _, o := range r.Outputs {
		outs = append(outs, []string{o.Name, fmt.Sprint(len(o.Files)), fmt.Sprintf("%.1f %%", o.Removed), fmt.Sprintf("%.1f %%", o.Plain), fmt.Sprint(o.Larger)})
	}
	text := table("Scenarios: exact evidence strings through the whole pipeline", []string{"scenario", "bytes", "shown", "evidence"}, scen) +
		table("Needles: is the hidden fact still visible?", []string{"class", "visible", "share", "goal", "unchanged", "size left"}, need) +
		table("Tokens removed from recorded outputs (o200k_base, markers included)", []string{"kind", "files", "removed", "uncapped", "larger"}, outs)
	if len(r.Speed) > 0 {
		for _, s := range r.Speed {
			speed = append(speed, []string{s.Kind, fmt.Sprint(s.Bytes), fmt.Sprintf("%.1f MB/s", float64(s.Bytes)/1e6/s.Seconds), fmt.Sprintf("1/%.1f of SHA-256", s.Ratio)})
		}
		text += table("Speed: detection and reduction against hashing the same bytes", []string{"kind", "bytes", "speed", "ratio"}, speed)
	}
	_, err := io.WriteString(w, text)
	return err
}
