package mad

import "strings"

// ParseValueName returns a field value in a by name: its text in [Dump], its name in
// JSON or, for a bit set, names in JSON joined by plus signs. Case is ignored. It
// returns false if there is no such field or no such value.
func ParseValueName(a Attribute, field, name string) (v uint64, ok bool) {
	c := Codec{mode: styling, style: func(declared string, width int, s *Style) {
		if declared == field && !ok {
			v, ok = s.parse(name, width)
		}
	}}
	a.Layout(&c)
	return v, ok
}

// maxEnumWidth is an enumeration's maximum width in bits.
const maxEnumWidth = 8

// parse returns the value with a name.
func (s *Style) parse(name string, width int) (uint64, bool) {
	if s.names == nil {
		return 0, false
	}
	if width <= maxEnumWidth {
		for v := range uint64(1) << width {
			if s.isCalled(v, width, name) {
				return v, true
			}
		}
	}
	if !s.set {
		return 0, false
	}
	var set uint64
	for one := range strings.SplitSeq(name, "+") {
		bit := 0
		for bit < width && !s.isCalled(1<<bit, width, one) {
			bit++
		}
		if bit == width {
			return 0, false
		}
		set |= 1 << bit
	}
	return set, true
}

// isCalled reports whether a value has a name.
func (s *Style) isCalled(v uint64, width int, name string) bool {
	all := s.names(v)
	return len(all) == 1 && strings.EqualFold(all[0], name) || strings.EqualFold(string(s.dump(nil, v, width)), name)
}
