package evidence

import "strings"

// progressStarts are how lines about downloads, unpacking and single compiled files
// start. They may go, whatever package they name; a line that names an error or a
// warning never does.
var progressStarts = [...]string{
	"Downloading", "Downloaded", "Progress (", "go: downloading ", "Compiling ", "Fetching ", "Fetched ", "Get:", "Hit:", "Ign:", "Selecting previously ",
	"Preparing to unpack ", "Unpacking ", "Setting up ", "Processing triggers ", "Collecting ", "Using cached ", "Requirement already satisfied",
	"Building wheel", "Pulling fs layer", "Extracting", "Waiting", "Verifying Checksum", "Download complete", "Pull complete", "npm http ", "Checking ", "Updating ",
	"Linking ", "CC ", "CXX ", "LD ", "AR ", "Checkout ", "Receiving objects", "Resolving deltas", "remote: Counting", "remote: Compressing", "Adding ", "Locking ", "+ "}

// progressLine says that a line without its indent and its [INFO] is about the
// work's progress only.
func progressLine(t string) bool {
	t = strings.TrimPrefix(t, "[INFO] ")
	for _, w := range progressStarts {
		if strings.HasPrefix(t, w) {
			return w != "+ " || strings.Contains(t, "==") || strings.Contains(t, "@")
		}
	}
	if len(t) > 7 && t[0] == '[' && t[5] == ']' && t[4] == '%' { // [ 12%] Building …
		return true
	}
	// a layer of an image: 3f4a90289b8e: Pull complete
	if i := strings.Index(t, ": "); i == 12 {
		return progressLayer(t[i+2:])
	}
	return false
}

func progressLayer(t string) bool {
	for _, w := range [...]string{"Pulling fs layer", "Waiting", "Downloading", "Verifying Checksum", "Download complete", "Extracting", "Pull complete", "Already exists", "Pushed", "Preparing", "Layer already exists"} {
		if strings.HasPrefix(t, w) {
			return true
		}
	}
	return false
}

// judgeBuild marks progress lines as foldable.
func (s *source) judgeBuild() {
	s.noise, s.fold = make([]bool, s.lines()), "all of progress"
	for i := range s.noise {
		t := strings.TrimLeft(s.line(i), " \t")
		s.noise[i] = s.sev[i] == 0 && progressLine(t) && !hitch(t)
	}
}

// hitch says that a progress line tells of something that did not go as usual.
func hitch(t string) bool {
	for _, w := range [...]string{"not ", "no", "missing", "cannot", "deprecated", "skip", "Skip", "retry", "Retry", "mismatch", "conflict", "lock held", "yanked", "invalid", "404", "403", "500", "502", "503"} {
		i := strings.Index(t, w)
		if i > 0 && (t[i-1] == ' ' || t[i-1] == '(') && (w != "no" || i+2 == len(t)) {
			return true
		}
	}
	return false
}

// maxDetail is how many indented lines below an error belong to it.
const maxDetail = 6

// details keeps the indented lines right below each shown error or warning: the
// source line, the caret, the symbol that is missing.
func (s *source) details() {
	for i := range s.keep {
		if s.keep[i] != severe {
			continue
		}
		for k := i + 1; k < min(len(s.keep), i+1+maxDetail); k++ {
			l := s.line(k)
			if s.sev[k] != 0 || s.blank(k) || class[l[0]]&isSpace == 0 {
				break
			}
			s.mark(k, structure)
		}
	}
}
