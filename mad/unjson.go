package mad

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// unmarshalJSON parses marshalJSON output. All members must exist. It ignores unknown
// members, and the names next to values. Errors begin with the member's name.
func unmarshalJSON(a Attribute, b []byte) error {
	c := Codec{mode: unmarshal}
	if err := json.Unmarshal(b, &c.members); err != nil {
		return err
	}
	a.Layout(&c)
	return c.err
}

// member returns a field member's value, 0 after an error.
func (c *Codec) member(name string, width int, s *Style) uint64 {
	if c.err != nil {
		return 0
	}
	member := string(appendSnake(nil, name))
	raw, ok := c.members[member]
	if !ok {
		c.err = fmt.Errorf("%s: the member is missing, want %s", member, s.form(width))
		return 0
	}
	v, ok := s.value(raw)
	if !ok || width < 64 && v>>width != 0 {
		c.err = fmt.Errorf("%s: got %.40s, want %s", member, raw, s.form(width))
		return 0
	}
	return v
}

// form returns a value's description in JSON.
func (s *Style) form(width int) string {
	number := fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<width-1)
	switch {
	case s.digits:
		return `a string such as "0x0002c90000100300"`
	case s.json != nil:
		return `an object whose "value" is ` + number
	}
	return number
}

// value parses the style's json function output.
func (s *Style) value(raw []byte) (uint64, bool) {
	text := string(raw)
	switch {
	case s.digits:
		digits, ok := strings.CutPrefix(strings.Trim(text, `"`), "0x")
		v, err := strconv.ParseUint(digits, 16, 64)
		return v, ok && err == nil && text[0] == '"'
	case s.json != nil:
		var object struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(raw, &object) != nil {
			return 0, false
		}
		text = string(object.Value)
	}
	v, err := strconv.ParseUint(text, 10, 64)
	return v, err == nil
}
