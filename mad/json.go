package mad

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A marshaler has another form in JSON than an object with a member for each field.
type marshaler interface{ marshal(c *Codec) }

// AppendJSON appends a's JSON form to b. [json.Marshal] returns the same form and takes
// several times as long. Keys are 0, unless a comes from [WithKeys].
func AppendJSON(b []byte, a Attribute) ([]byte, error) {
	c, a := start(marshal, a)
	c.text = b
	c.marshal(a)
	b, err := c.text, c.err
	c.text = nil // it belongs to the caller
	c.release()
	return b, err
}

func marshalJSON(a Attribute) ([]byte, error) { return AppendJSON(nil, a) }

// marshal writes an attribute in JSON.
func (c *Codec) marshal(a Attribute) {
	if m, ok := a.(marshaler); ok {
		m.marshal(c)
		return
	}
	c.text = append(c.text, '{')
	a.Layout(c)
	c.text = append(c.text, '}')
}

// value writes a value's JSON form.
func (c *Codec) value(v any) {
	text, err := json.Marshal(v)
	if err != nil && c.err == nil {
		c.err = err
	}
	c.text = append(c.text, text...)
}

// key writes a member key in the object that c.text ends in.
func (c *Codec) key(name string) {
	key, ok := c.keys[name]
	if !ok {
		if c.keys == nil {
			c.keys = map[string]string{}
		}
		key = string(appendSnake(nil, name))
		c.keys[name] = key
	}
	if c.text[len(c.text)-1] != '{' {
		c.text = append(c.text, ',')
	}
	c.text = append(append(append(c.text, '"'), key...), `":`...)
}

func appendValue(b []byte, v uint64, render func(b []byte, v uint64) []byte) []byte {
	if render == nil {
		return strconv.AppendUint(b, v, 10)
	}
	return render(b, v)
}

// acronyms are words in classic dump names that end before the next case change:
// "SLto", "OperVLs", "FDRFEC", "TrapPKey".
var acronyms = []string{"VLs", "VL", "SL", "SM", "FDR", "EDR", "HDR", "NDR", "PKey", "QKey"}

// appendSnake writes a classic dump name in snake case: "SMLid" becomes sm_lid.
func appendSnake(b []byte, name string) []byte {
	for rest := name; rest != ""; {
		word := rest[:wordLen(rest)]
		if len(rest) < len(name) {
			b = append(b, '_')
		}
		b = append(b, strings.ToLower(word)...)
		rest = strings.TrimPrefix(rest[len(word):], "_")
	}
	return b
}

// wordLen returns the length of the first word in s: an acronym, a run of capitals up
// to the capital that starts the next word, both with trailing digits, or a capital and
// the lower-case letters after it.
func wordLen(s string) int {
	for _, a := range acronyms {
		if strings.HasPrefix(s, a) {
			return withDigits(s, len(a))
		}
	}
	n := 1
	if len(s) > 1 && isUpper(s[0]) && isUpper(s[1]) {
		for n < len(s) && isUpper(s[n]) && (n+1 == len(s) || !isLower(s[n+1])) {
			n++
		}
		return withDigits(s, n)
	}
	for n < len(s) && !isUpper(s[n]) && s[n] != '_' {
		n++
	}
	return n
}

// withDigits returns the length of a word with n bytes and the digits that follow them.
func withDigits(s string, n int) int {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
