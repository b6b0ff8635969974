package layout

import (
	"strconv"
	"strings"
)

// Lines, or blocks of lines, that stand several times in a row.

const (
	repeatSay  = `"[2 lines above 12 more times]" stands for lines repeated in a row`
	maxBlock   = 8
	minSpared  = 48    // bytes a note must stand for
	maxRestore = 16384 // largest factor by which one note may grow a text
)

func repeatNote(block, times int) string {
	unit := " lines above "
	if block == 1 {
		unit = " line above "
	}
	return "[" + strconv.Itoa(block) + unit + strconv.Itoa(times) + " more times]"
}

func readNote(line string) (block, times int, ok bool) {
	rest, ok := strings.CutPrefix(line, "[")
	if !ok {
		return 0, 0, false
	}
	rest, ok = strings.CutSuffix(rest, " more times]")
	if !ok {
		return 0, 0, false
	}
	first, second, ok := strings.Cut(rest, " lines above ")
	if !ok {
		if first, second, ok = strings.Cut(rest, " line above "); !ok {
			return 0, 0, false
		}
	}
	block, err := strconv.Atoi(first)
	times, err2 := strconv.Atoi(second)
	ok = err == nil && err2 == nil && repeatNote(block, times) == line && block > 0 && times > 0
	return block, times, ok
}

func encodeRepeats(text string) (says, body string, ok bool) {
	list := lines(text)
	out := make([]string, 0, len(list))
	for i := 0; i < len(list); {
		block, times, spared := bestRepeat(list, i)
		if spared < minSpared {
			out = append(out, list[i])
			i++
			continue
		}
		out = append(append(out, list[i:i+block]...), repeatNote(block, times))
		i += block * (times + 1)
		ok = true
	}
	return repeatSay, join(out, text), ok
}

// bestRepeat looks for the block at i whose repeats spare the most bytes.
func bestRepeat(list []string, i int) (block, times, spared int) {
	for b := 1; b <= maxBlock && i+2*b <= len(list); b++ {
		n := 0
		for at := i + b; at+b <= len(list) && n < maxRestore && equalLines(list[i:i+b], list[at:at+b]); at += b {
			n++
		}
		size := 0
		for _, line := range list[i : i+b] {
			size += len(line) + 1
		}
		if n*size > spared {
			block, times, spared = b, n, n*size
		}
	}
	return block, times, spared
}

func equalLines(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func restoreRepeats(says, body string) (string, bool) {
	if says != repeatSay {
		return "", false
	}
	var out []string
	size := 0
	for _, line := range lines(body) {
		block, times, ok := readNote(line)
		if !ok {
			out = append(out, line)
			size += len(line) + 1
			continue
		}
		if block > len(out) || times > maxRestore {
			return "", false
		}
		from := len(out) - block
		for range times {
			for _, again := range out[from : from+block] {
				if size += len(again) + 1; size > maxText+len(body) {
					return "", false
				}
				out = append(out, again)
			}
		}
	}
	return join(out, body), true
}
