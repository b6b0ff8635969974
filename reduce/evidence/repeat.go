package evidence

// A run of lines counts as a repeat when it is long enough to be no accident.
const (
	repeatLines = 6
	repeatBytes = 160
)

// findRepeats looks for runs of lines that are equal, byte for byte, to earlier
// runs, and notes for each of their lines where its like stands. Runs may overlap
// their like: ten thousand equal lines are one run after the first line.
func (s *source) findRepeats() {
	n := s.lines()
	s.same = make([]int32, n)
	for i := range s.same {
		s.same[i] = -1
	}
	seen := newTable(1024)
	first := make([]int32, 0, 1024) // by number of line text: where it stood first and last
	last := make([]int32, 0, 1024)
	number := make([]int32, n)
	for i := 0; i < n; i++ {
		id, fresh := seen.add(s.full[i])
		if fresh {
			first, last = append(first, -1), append(last, -1)
		}
		number[i] = id
	}
	note := func(i int) {
		id := number[i]
		if first[id] < 0 {
			first[id] = int32(i)
		}
		last[id] = int32(i)
	}
	for i := 0; i < n; {
		from, size := -1, 0
		for _, p := range [...]int32{last[number[i]], first[number[i]]} {
			if p < 0 {
				continue
			}
			k := 0
			for i+k < n && number[int(p)+k] == number[i+k] {
				k++
			}
			if k > size {
				from, size = int(p), k
			}
		}
		if size < repeatLines || int(s.start[i+size]-s.start[i]) < repeatBytes {
			note(i)
			i++
			continue
		}
		for k := 0; k < size; k++ {
			like := int32(from + k)
			if s.same[like] >= 0 {
				like = s.same[like] // the line that is shown, not another repeat
			}
			s.same[i+k] = like
			note(i + k)
		}
		i += size
	}
}
