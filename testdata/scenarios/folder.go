package scenarios

import "io/fs"

// LoadFrom reads the scenarios of a folder of the user's own, in the order of their
// names; texts named by "file" are looked up in the same folder.
func LoadFrom(files fs.FS, dir string) ([]Scenario, error) { return load(files, dir) }

// RunAll gives the scenarios of all to reduce, as Run does with the bundled ones.
func RunAll(all []Scenario, reduce func(Scenario) (string, error)) []Result {
	out := make([]Result, 0, len(all))
	for _, s := range all {
		out = append(out, check(s, reduce))
	}
	return out
}
