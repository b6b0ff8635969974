package evidence

// Templates find word slots: places where lines of otherwise equal wording hold a
// name that hardly any other line holds ("user alice logged in"). Only shapes that
// would count as rare are looked at, and only their seldom words are masked, so a
// line that says something new keeps its own shape.

const (
	minTemplate  = 12   // lines a template needs before its shapes become one
	minHits      = 6    // the same for search hits, which differ in a name as a rule
	seldomShare  = 0.01 // a word is seldom up to this share of the lines
	seldomAtMost = 8
)

// wordScan reads the words of a line in the order of the scanner.
type wordScan struct {
	words []uint64
	known []int32 // lines that hold each word
	index *table
}

// mergeTemplates gives rare shapes that share a template one common shape. A
// template needs more fixed words than masked ones. Severity lines keep the shapes
// they have.
func (s *source) mergeTemplates() {
	least := int32(minTemplate)
	if s.file != nil {
		least = minHits
	}
	order, begin := s.grouped(false)
	w := wordScan{index: newTable(1024)}
	var rare []int32
	for sh, n := range s.count {
		if n == 0 {
			continue
		}
		lead := order[begin[sh]]
		w.read(s.line(int(lead)))
		for _, h := range w.words {
			id, fresh := w.index.add(h)
			if fresh {
				w.known = append(w.known, 0)
			}
			w.known[id] += n
		}
		if n <= rareLines && s.sev[lead] == 0 && !s.blank(int(lead)) {
			rare = append(rare, int32(sh))
		}
	}
	if len(rare)*rareLines < int(least) {
		return
	}
	limit := int32(max(1, min(seldomAtMost, int(seldomShare*float64(len(order))))))
	groups := newTable(256)
	var lines, root []int32
	template := make([]int32, len(rare))
	for k, sh := range rare {
		key, ok := w.template(s.line(int(order[begin[sh]])), limit)
		template[k] = -1
		if !ok {
			continue
		}
		id, fresh := groups.add(mix(key, uint64(s.width(int(order[begin[sh]])))))
		if fresh {
			lines, root = append(lines, 0), append(root, sh)
		}
		template[k] = id
		lines[id] += s.count[sh]
	}
	into := make([]int32, len(s.count))
	for i := range into {
		into[i] = int32(i)
	}
	for k, sh := range rare {
		if t := template[k]; t >= 0 && lines[t] >= least {
			into[sh] = root[t]
		}
	}
	for i, sh := range s.shape {
		s.shape[i] = into[sh]
	}
}

// width gives the number of slots of a line.
func (s *source) width(i int) int { return int(s.first[i+1] - s.first[i]) }

// read collects the hashes of a line's words: runs of letters and underscores.
func (w *wordScan) read(l string) {
	w.words = w.words[:0]
	for i := 0; i < len(l); {
		if class[l[i]]&(inRun|isWide) == 0 {
			i++
			continue
		}
		j, flags := wordEnd(l, i)
		if flags&isDigit == 0 {
			w.words = append(w.words, hash(l[i:j]))
		}
		i = j
	}
}

// wordEnd gives the end of the word at i, and the classes of its bytes.
func wordEnd(l string, i int) (j int, flags uint8) {
	in := uint8(inRun | isJoin)
	if class[l[i]]&isWide != 0 {
		in = isWide
	}
	for j = i; j < len(l) && class[l[j]]&in != 0; j++ {
		flags |= class[l[j]]
	}
	return j, flags
}

// template hashes a line with its values and its seldom words masked. ok says that
// enough fixed words are left for the template to mean something.
func (w *wordScan) template(l string, limit int32) (key uint64, ok bool) {
	h := uint64(seed)
	fixed, masked := 0, 0
	for i := 0; i < len(l); {
		k := class[l[i]]
		switch {
		case k&(inRun|isWide) != 0:
			j, flags := wordEnd(l, i)
			switch {
			case flags&isDigit != 0:
				h = mix(h, mask)
				masked += int((flags & isAlpha) / isAlpha)
			case w.seldom(hash(l[i:j]), limit):
				h = mix(h, mask)
				masked++
			default:
				h = mix(h, hash(l[i:j]))
				fixed++
			}
			i = j
		case k&isSpace != 0:
			for i++; i < len(l) && class[l[i]]&isSpace != 0; i++ {
			}
			h = mix(h, ' ')
		default:
			h = mix(h, uint64(l[i]))
			i++
		}
	}
	return h, masked > 0 && fixed >= 3 && fixed > masked
}

func (w *wordScan) seldom(h uint64, limit int32) bool {
	id, fresh := w.index.add(h)
	if fresh {
		w.known = append(w.known, 0)
	}
	return w.known[id] <= limit
}
