package strictjson

import "bytes"

// fewKeys is how many keys are compared one by one before a map is made.
const fewKeys = 16

// keySet remembers the keys of one object: the first ones on the scanner's own
// stack, all of them in a map once there are many.
type keySet struct {
	base int
	many map[string]struct{}
}

// add says whether key was there already.
func (k *keySet) add(s *Scanner, key Str) bool {
	if k.many == nil && len(s.keys)-k.base < fewKeys {
		repeated := false
		for _, other := range s.keys[k.base:] {
			repeated = repeated || s.same(key, other)
		}
		s.keys = append(s.keys, key)
		return repeated
	}
	if k.many == nil {
		k.many = make(map[string]struct{}, 2*fewKeys)
		for _, other := range s.keys[k.base:] {
			k.many[string(s.Text(other))] = struct{}{}
		}
	}
	name := string(s.Text(key))
	_, repeated := k.many[name]
	k.many[name] = struct{}{}
	return repeated
}

func (s *Scanner) same(a, b Str) bool {
	if !a.Escaped && !b.Escaped {
		return a.End-a.Start == b.End-b.Start && bytes.Equal(s.Data[a.Start:a.End], s.Data[b.Start:b.End])
	}
	return bytes.Equal(s.Text(a), s.Text(b))
}
