package evidence

import "math"

// Classes of bytes, as bits so that a run's classes can be or-ed together.
const (
	isDigit = 1 << iota
	isHex   // a-f, A-F
	isAlpha // other ASCII letters
	isUpper
	isSpace
	isEsc
	isJoin // underscore: joins words of one name
	isWide // bytes of non-ASCII characters: words of their own, apart from digits
)

const inRun = isDigit | isHex | isAlpha

var class = classes()

func classes() (t [256]uint8) {
	for c := 0; c < 256; c++ {
		switch {
		case c >= '0' && c <= '9':
			t[c] = isDigit
		case c >= 'a' && c <= 'f':
			t[c] = isHex
		case c >= 'A' && c <= 'F':
			t[c] = isHex | isUpper
		case c >= 'A' && c <= 'Z':
			t[c] = isAlpha | isUpper
		case c >= 'a' && c <= 'z':
			t[c] = isAlpha
		case c >= 0x80:
			t[c] = isWide
		case c == '_':
			t[c] = isJoin
		case c == ' ' || c == '\t' || c == '\r':
			t[c] = isSpace
		case c == 0x1b:
			t[c] = isEsc
		}
	}
	return t
}

// mask stands for any masked value in a shape; no byte and no word has it.
const mask = 1 << 62

// scanner reads one line after another. The shape of a line is the hash of its
// words and punctuation with the values masked: numbers, times, addresses, hex and
// mixed identifiers, web addresses and request paths.
type scanner struct {
	slots []slot
	shape uint64
	sev   uint8
}

func (sc *scanner) scan(s string) {
	h := uint64(seed)
	sc.sev = 0
	method := false // the last word was an HTTP method
	for i := 0; i < len(s); {
		c := s[i]
		k := class[c]
		switch {
		case k&inRun != 0:
			j, flags := i+1, k
			for j < len(s) && class[s[j]]&inRun != 0 {
				flags |= class[s[j]]
				j++
			}
			method = false
			switch {
			case flags&isDigit == 0:
				h, j = sc.word(s, i, j, h)
				method = flags&isUpper != 0 && j-i <= 7 && httpMethod(s[i:min(j, len(s))])
			case flags&(isHex|isAlpha) == 0:
				j = sc.number(s, i, j)
				h = mix(h, mask)
			default:
				h, j = sc.mixed(s, i, j, flags, h)
			}
			i = j
		case k&isSpace != 0:
			for i++; i < len(s) && class[s[i]]&isSpace != 0; i++ {
			}
			h = mix(h, ' ')
		case k&isEsc != 0:
			i = skipEscape(s, i)
		case c == '/' && method:
			j := untilDelimiter(s, i)
			sc.address(s[i:j])
			h, i, method = mix(h, mask), j, false
		case k&isWide != 0:
			j := i + 1
			for j < len(s) && class[s[j]]&isWide != 0 {
				j++
			}
			h, i = sc.word(s, i, j, h)
		case (c == '-' || c == '+') && i+1 < len(s) && class[s[i+1]] == isDigit && signPlace(s, i):
			i++ // the sign belongs to the number that follows
		case c == '%' && i+2 < len(s) && class[s[i+1]]&(isDigit|isHex) != 0 && class[s[i+2]]&(isDigit|isHex) != 0:
			j := i + 3
			for j+2 < len(s) && s[j] == '%' {
				j += 3
			}
			sc.add(s[i:j], math.NaN())
			h, i = mix(h, '%'), j
		default:
			h = mix(h, uint64(c))
			i++
		}
	}
	sc.shape = h
}

// signPlace says that a sign at i starts a number and joins nothing.
func signPlace(s string, i int) bool {
	if i == 0 {
		return false
	}
	switch s[i-1] {
	case ' ', '=', '(', '[', ',', ':', '\t':
		return true
	}
	return false
}

func (sc *scanner) add(text string, num float64) {
	sc.slots = append(sc.slots, slot{hash(text), num})
}

// word handles a run without digits and gives the new hash and position.
func (sc *scanner) word(s string, i, j int, h uint64) (uint64, int) {
	w := s[i:j]
	if len(w) == 3 && j < len(s) && s[j] == ' ' && month(w) > 0 {
		if end, t := syslogTime(s, j, month(w)); end > 0 {
			sc.add(s[i:end], t)
			return mix(h, mask), end
		}
	}
	if len(w) <= 5 && j+2 < len(s) && s[j] == ':' && s[j+1] == '/' && s[j+2] == '/' && (w == "http" || w == "https") {
		end := untilDelimiter(s, j)
		host := j + 3
		for host < end && s[host] != '/' && s[host] != '?' {
			host++
		}
		sc.add(s[i:host], math.NaN())
		sc.address(s[host:end])
		return mix(h, mask), end
	}
	if len(w) >= 3 || w == "rc" {
		if b := severity(s, i, j); b != 0 {
			sc.sev |= b
		}
	}
	if len(w) < 8 {
		var v uint64
		for k := 0; k < len(w); k++ {
			v = v<<8 | uint64(w[k])
		}
		return mix(h, v<<3|uint64(len(w))), j
	}
	return mix(h, hash(w)), j
}

// address adds a path as it stands and once more with its numbers masked, so that a
// path of an odd build shows among paths that all differ.
func (sc *scanner) address(path string) {
	sc.add(path, math.NaN())
	h := uint64(seed)
	for i := 0; i < len(path); {
		j := i
		for j < len(path) && class[path[j]]&(isDigit|isHex) != 0 {
			j++
		}
		if j == i {
			h = mix(h, uint64(path[i]))
			i++
			continue
		}
		digit := false
		for k := i; k < j; k++ {
			digit = digit || class[path[k]] == isDigit
		}
		if digit {
			h = mix(h, mask)
		} else {
			h = mix(h, hash(path[i:j]))
		}
		i = j
	}
	sc.slots = append(sc.slots, slot{h, math.NaN()})
}

// number handles a run of digits: a time, a decimal, a dotted address or version,
// or a plain number. It gives the position after it.
func (sc *scanner) number(s string, i, j int) int {
	if j < len(s) {
		switch s[j] {
		case ':', '-', '/':
			if end, t := stamp(s, i, j); end > 0 {
				sc.add(s[i:end], t)
				return end
			}
		case '.':
			if j+1 < len(s) && class[s[j+1]] == isDigit {
				return sc.dotted(s, i, j)
			}
		}
	}
	if j-i == 8 && uuid(s, i) {
		sc.add(s[i:i+36], math.NaN())
		return i + 36
	}
	sc.add(s[signed(s, i):j], integer(s, i, j))
	return j
}

// signed gives where a number at i starts with its sign.
func signed(s string, i int) int {
	if i > 0 && s[i-1] == '-' && signPlace(s, i-1) {
		return i - 1
	}
	return i
}

func integer(s string, i, j int) float64 {
	if j-i > 18 {
		return long(s, i, j)
	}
	v := int64(0)
	for k := i; k < j; k++ {
		v = v*10 + int64(s[k]-'0')
	}
	if signed(s, i) < i {
		v = -v
	}
	return float64(v)
}

// long reads a number of many digits, about.
func long(s string, i, j int) float64 {
	v := 0.0
	for k := i; k < j && v < 1e300; k++ {
		v = v*10 + float64(s[k]-'0')
	}
	if signed(s, i) < i {
		return -v
	}
	return v
}

func (sc *scanner) dotted(s string, i, dot int) int {
	j := dot + 1
	for j < len(s) && class[s[j]] == isDigit {
		j++
	}
	if j+1 < len(s) && s[j] == '.' && class[s[j+1]] == isDigit {
		for j+1 < len(s) && s[j] == '.' && class[s[j+1]] == isDigit {
			for j++; j < len(s) && class[s[j]] == isDigit; j++ {
			}
		}
		sc.add(s[i:j], math.NaN())
		return j
	}
	v := math.Abs(integer(s, i, dot))
	scale := 0.1
	for k := dot + 1; k < j && k < dot+16; k++ {
		v += scale * float64(s[k]-'0')
		scale /= 10
	}
	if signed(s, i) < i {
		v = -v
	}
	sc.add(s[signed(s, i):j], v)
	return j
}

// mixed handles a run of digits and letters.
func (sc *scanner) mixed(s string, i, j int, flags uint8, h uint64) (uint64, int) {
	if j-i == 8 && flags&isAlpha == 0 && uuid(s, i) {
		sc.add(s[i:i+36], math.NaN())
		return mix(h, mask), i + 36
	}
	d := i
	for d < j && class[s[d]]&isDigit == 0 {
		d++
	}
	e := d
	for e < j && class[s[e]] == isDigit {
		e++
	}
	switch {
	case s[i] == '0' && i+1 < j && s[i+1]|0x20 == 'x', flags&isAlpha == 0 && j-i >= 6:
		sc.add(s[i:j], math.NaN())
		return mix(h, mask), j
	case d > i && e == j: // name12
		if i == 0 && e-d == 4 && d == 1 {
			sc.sev |= klog(s)
		}
		h, _ = sc.word(s, i, d, h)
		sc.add(s[d:j], integer(s, d, j))
		return mix(h, mask), j
	case d == i: // 12ms, 20240101T101010
		if s[e] == 'T' && e+1 < j && class[s[e+1]] == isDigit {
			end, t := compact(s, i, e)
			if end > 0 {
				sc.add(s[i:end], t)
				return mix(h, mask), end
			}
		}
		if j-e <= 3 && class[s[j-1]] != isDigit && unit(s[e:j]) {
			sc.add(s[i:e], integer(s, i, e))
			return mix(mix(h, mask), hash(s[e:j])), j
		}
	case j-i <= 4: // k8s, i18n
		return mix(h, hash(s[i:j])), j
	}
	sc.add(s[i:j], math.NaN())
	return mix(h, mask), j
}

func unit(w string) bool {
	switch w {
	case "s", "ms", "us", "µs", "ns", "m", "h", "d", "b", "B", "k", "K", "kB", "KB", "MB", "GB", "TB", "M", "G", "Ki", "Mi", "Gi", "KiB", "MiB", "GiB", "g", "x", "px", "pt", "Z", "st", "nd", "rd", "th", "L", "f", "i":
		return true
	}
	return false
}

// uuid says that 36 bytes at i are 8-4-4-4-12 hex digits.
func uuid(s string, i int) bool {
	if i+36 > len(s) || s[i+8] != '-' || s[i+13] != '-' || s[i+18] != '-' || s[i+23] != '-' {
		return false
	}
	for k := 0; k < 36; k++ {
		if c := s[i+k]; c != '-' && class[c]&(isDigit|isHex) == 0 {
			return false
		}
	}
	return i+36 == len(s) || class[s[i+36]]&inRun == 0
}

// untilDelimiter gives the end of a web address or path.
func untilDelimiter(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case ' ', '\t', '"', '\'', '<', '>', ')', ']', '}', ',', ';', '\r', 0x1b, '`', '|':
			return i
		}
	}
	return i
}

func skipEscape(s string, i int) int {
	if i+1 < len(s) && s[i+1] == '[' {
		for i += 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return i
	}
	return i + 1
}

func httpMethod(w string) bool {
	switch w {
	case "GET", "POST", "PUT", "HEAD", "DELETE", "PATCH", "OPTIONS":
		return true
	}
	return false
}
