package corpusscore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"unicode/utf8"
)

// Family is a set of files that one figure is about.
type Family struct {
	Name string
	Dirs []string // folders under outputs/
	Part string   // part a file's name must have, "" any
	Skip int      // how many of the largest files (by tokens) are left out
}

// Families are the published ones.
func Families() []Family {
	return []Family{
		{Name: "logs", Dirs: []string{"logs"}},
		{Name: "logs without the four largest", Dirs: []string{"logs"}, Skip: 4},
		{Name: "json", Dirs: []string{"json"}},
		{Name: "test output", Dirs: []string{"gotest", "pytest", "test-report"}},
		{Name: "search", Dirs: []string{"git", "shell"}, Part: "grep"},
	}
}

// File is one measured file.
type File struct {
	Path          string // below the corpus folder
	Before, After int    // tokens
	Weight        float64
}

// Score is the figure of one family.
type Score struct {
	Name    string
	Files   []File
	Removed float64 // percent of weighted tokens removed
	Plain   float64 // the same without capped weights
	Larger  int     // files that came out larger
}

// Reduce gives the text as it would be shown; an unchanged text means no form. name
// is the file's path below the corpus folder.
type Reduce func(name, text string) string

// Run measures every family over root, which holds the folder outputs/. Folders that
// are not there count as empty. Texts that are no UTF-8 are left out: no stage
// touches them.
func Run(root fs.FS, families []Family, count func(string) int, reduce Reduce) ([]Score, error) {
	var out []Score
	cache := map[string]File{}
	for _, fam := range families {
		paths, err := fam.paths(root)
		if err != nil {
			return nil, err
		}
		s := Score{Name: fam.Name}
		for _, p := range paths {
			f, ok := cache[p]
			if !ok {
				if f, err = measure(root, p, count, reduce); err != nil {
					return nil, err
				}
				cache[p] = f
			}
			if f.Before > 0 {
				s.Files = append(s.Files, f)
			}
		}
		s.skip(fam.Skip)
		s.weigh()
		out = append(out, s)
	}
	return out, nil
}

func (f Family) paths(root fs.FS) ([]string, error) {
	var out []string
	for _, d := range f.Dirs {
		entries, err := fs.ReadDir(root, "outputs/"+d)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list outputs: %w", err)
		}
		for _, e := range entries {
			if !e.IsDir() && strings.Contains(e.Name(), f.Part) {
				out = append(out, path.Join("outputs", d, e.Name()))
			}
		}
	}
	sort.Strings(out)
	return out, nil
}

func measure(root fs.FS, name string, count func(string) int, reduce Reduce) (File, error) {
	raw, err := fs.ReadFile(root, name)
	if err != nil {
		return File{}, fmt.Errorf("read output: %w", err)
	}
	if !utf8.Valid(raw) {
		return File{Path: name}, nil
	}
	text := string(raw)
	before := count(text)
	after := before
	if shown := reduce(name, text); shown != text {
		after = count(shown)
	}
	return File{Path: name, Before: before, After: after}, nil
}

// skip drops the n largest files.
func (s *Score) skip(n int) {
	if n == 0 {
		return
	}
	sort.SliceStable(s.Files, func(i, j int) bool { return s.Files[i].Before > s.Files[j].Before })
	s.Files = s.Files[min(n, len(s.Files)):]
	sort.SliceStable(s.Files, func(i, j int) bool { return s.Files[i].Path < s.Files[j].Path })
}

// weigh caps the weights until none exceeds its share of their sum.
func (s *Score) weigh() {
	if len(s.Files) == 0 {
		return
	}
	share := max(0.05, 2/float64(len(s.Files)))
	before, after := 0, 0
	sizes := make([]float64, len(s.Files))
	for i, f := range s.Files {
		sizes[i] = float64(f.Before)
		before, after = before+f.Before, after+f.After
		if f.After > f.Before {
			s.Larger++
		}
	}
	cut := capOf(sizes, share)
	total, removed := 0.0, 0.0
	for i := range s.Files {
		f := &s.Files[i]
		f.Weight = min(sizes[i], cut)
		total += f.Weight
		removed += f.Weight * (1 - float64(f.After)/float64(f.Before))
	}
	for i := range s.Files {
		s.Files[i].Weight /= total
	}
	s.Removed = 100 * removed / total
	s.Plain = 100 * (1 - float64(after)/float64(before))
}

// capOf gives the largest weight c with c <= share * sum(min(size, c)).
func capOf(sizes []float64, share float64) float64 {
	sorted := append([]float64(nil), sizes...)
	sort.Float64s(sorted)
	n := len(sorted)
	if share*float64(n) <= 1 {
		return sorted[n-1]
	}
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	for k := 0; k < n; k++ { // the k largest are capped
		if rest := 1 - share*float64(k); rest > 0 {
			c := share * sum / rest
			if c >= sorted[n-1-k] {
				return max(c, 1)
			}
		}
		sum -= sorted[n-1-k]
	}
	return sorted[0]
}
