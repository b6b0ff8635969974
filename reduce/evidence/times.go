package evidence

// Times become one number each, in seconds from an arbitrary origin, so that their
// order and their gaps can be judged. Months count 31 days: only the order matters.

func two(s string, i int) (int, bool) {
	if i+2 > len(s) || class[s[i]] != isDigit || class[s[i+1]] != isDigit {
		return 0, false
	}
	return int(s[i]-'0')*10 + int(s[i+1]-'0'), true
}

func month(w string) int {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i+3 <= len(names); i += 3 {
		if names[i:i+3] == w {
			return i/3 + 1
		}
	}
	return 0
}

func day(y, m, d int) float64 { return float64((y*12+m)*31+d) * 86400 }

// stamp reads a time or a date, or both, whose first digits are s[i:j]; s[j] is
// one of ":-/". End 0: none.
func stamp(s string, i, j int) (end int, t float64) {
	if s[j] == ':' {
		return clock(s, i, j)
	}
	end, t = date(s, i, j)
	if end == 0 || end+5 >= len(s) {
		return end, t
	}
	switch s[end] {
	case 'T', ' ', ':', '_':
		if k := end + 3; k < len(s) && s[k] == ':' {
			if e, c := clock(s, end+1, k); e > 0 {
				return e, t + c
			}
		}
	}
	return end, t
}

// clock reads hh:mm:ss with an optional fraction.
func clock(s string, i, j int) (end int, t float64) {
	if j-i > 2 || j-i < 1 {
		return 0, 0
	}
	h := int(s[i] - '0')
	if j-i == 2 {
		h = h*10 + int(s[i+1]-'0')
	}
	m, ok := two(s, j+1)
	if !ok || h > 24 || m > 59 || j+3 >= len(s) || s[j+3] != ':' {
		return 0, 0
	}
	sec, ok := two(s, j+4)
	if !ok || sec > 60 {
		return 0, 0
	}
	end, t = j+6, float64(h*3600+m*60+sec)
	if end < len(s) && class[s[end]] == isDigit {
		return 0, 0
	}
	if end+1 < len(s) && (s[end] == '.' || s[end] == ',') && class[s[end+1]] == isDigit {
		scale := 0.1
		for end++; end < len(s) && class[s[end]] == isDigit; end++ {
			t += scale * float64(s[end]-'0')
			scale /= 10
		}
	}
	return end, t
}

// date reads yyyy-mm-dd, yyyy/mm/dd, yy/mm/dd, dd/mm/yyyy and dd/Mon/yyyy.
func date(s string, i, j int) (end int, t float64) {
	sep := s[j]
	a := int(max(0, min(9999, integer(s, i, j))))
	if sep == '/' && j-i <= 2 && j+8 < len(s) && s[j+4] == '/' {
		if m := month(s[j+1 : j+4]); m > 0 {
			y, ok := four(s, j+5)
			if ok {
				return j + 9, day(y, m, a)
			}
		}
	}
	m, ok := two(s, j+1)
	if !ok || j+3 >= len(s) || s[j+3] != sep || m > 31 {
		return 0, 0
	}
	d, ok := two(s, j+4)
	if !ok {
		return 0, 0
	}
	end = j + 6
	switch {
	case j-i == 4 && m <= 12 && d <= 31:
		t = day(a, m, d)
	case j-i == 2 && sep == '/':
		if y, ok := four(s, j+4); ok {
			end, t = j+8, day(y, m, a)
		} else {
			t = day(a, m, d)
		}
	default:
		return 0, 0
	}
	if end < len(s) && class[s[end]] == isDigit {
		return 0, 0
	}
	return end, t
}

func four(s string, i int) (int, bool) {
	a, ok := two(s, i)
	b, ok2 := two(s, i+2)
	return a*100 + b, ok && ok2
}

// syslogTime reads " d hh:mm:ss" after a month's name that ends at j.
func syslogTime(s string, j, m int) (end int, t float64) {
	for j < len(s) && s[j] == ' ' {
		j++
	}
	k := j
	for k < len(s) && class[s[k]] == isDigit {
		k++
	}
	if k == j || k-j > 2 || k+3 >= len(s) || s[k] != ' ' || class[s[k+1]] != isDigit || s[min(k+3, len(s)-1)] != ':' {
		return 0, 0
	}
	end, t = clock(s, k+1, k+3)
	if end == 0 {
		return 0, 0
	}
	return end, t + day(0, m, int(integer(s, j, k)))
}

// compact reads yyyymmddThhmmss.
func compact(s string, i, e int) (end int, t float64) {
	if e-i != 8 || e+7 > len(s) {
		return 0, 0
	}
	h, a := two(s, e+1)
	m, b := two(s, e+3)
	sec, c := two(s, e+5)
	if !a || !b || !c || h > 24 || m > 59 || sec > 60 {
		return 0, 0
	}
	v := int(integer(s, i, e))
	return e + 7, day(v/10000, v/100%100, v%100) + float64(h*3600+m*60+sec)
}
