package mad

import (
	"fmt"
	"strconv"
)

// An arrayStyle is the text form of an array.
type arrayStyle struct {
	dump func(b []byte, name string, v []uint64, width int) []byte
	hex  bool // in JSON, elements are strings of hexadecimal digits

	// json, if not nil, writes the array in another form than a list.
	json func(b []byte, v []uint64) []byte

	// components reports that each element has a bit in a record's component
	// mask.
	components bool
}

var (
	// hexString is a dotted line with the bytes of all elements.
	hexString = &arrayStyle{dump: func(b []byte, name string, v []uint64, width int) []byte {
		b = appendDotted(b, name)
		for _, e := range v {
			b = append(b, appendHex(nil, e, width)[len("0x"):]...)
		}
		return append(b, '\n')
	}}

	pkeyRows = &arrayStyle{dump: indexedRows(8), hex: true}
	guidRows = &arrayStyle{dump: indexedRows(2), hex: true, components: true}

	// bars is one line without a name: | 0| 1| 2|
	bars = &arrayStyle{dump: func(b []byte, _ string, v []uint64, _ int) []byte {
		b = append(b, '|')
		for _, e := range v {
			b = fmt.Appendf(b, "%2d|", e)
		}
		return append(b, '\n')
	}}
)

// lines and hexLines are a dotted line for each element, with the name and the
// index.
var (
	lines    = &arrayStyle{dump: dottedLines(decimal)}
	hexLines = &arrayStyle{dump: dottedLines(hexa)}
)

func dottedLines(s *style) func([]byte, string, []uint64, int) []byte {
	return func(b []byte, name string, v []uint64, width int) []byte {
		for i, e := range v {
			b = appendDotted(b, name+strconv.Itoa(i))
			b = append(s.dump(b, e, width), '\n')
		}
		return b
	}
}

// indexedRows writes n elements per row, after the index of the first.
func indexedRows(n int) func([]byte, string, []uint64, int) []byte {
	return func(b []byte, _ string, v []uint64, width int) []byte {
		for i, e := range v {
			if i%n == 0 {
				b = fmt.Appendf(b, "%4d:", i)
			}
			b = appendHex(append(b, ' '), e, width)
			if i%n == n-1 {
				b = append(b, '\n')
			}
		}
		return b
	}
}

// showArray writes an array in the text modes.
func (c *codec) showArray(name string, v []uint64, width int, s *arrayStyle) {
	if c.mode == dumping {
		c.text = s.dump(c.text, name, v, width)
		return
	}
	c.text = appendKey(c.text, name)
	if s.json != nil {
		c.text = s.json(c.text, v)
		return
	}
	c.text = append(c.text, '[')
	for i, e := range v {
		if i > 0 {
			c.text = append(c.text, ',')
		}
		if s.hex {
			c.text = appendHexString(c.text, e, width)
		} else {
			c.text = appendValue(c.text, e, nil)
		}
	}
	c.text = append(c.text, ']')
}
