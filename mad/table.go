package mad

import (
	"fmt"
	"strconv"
)

// An ArrayStyle is the text form of an array. Exactly one of value, element and rows is
// set.
type ArrayStyle struct {
	value   func(b []byte, v []uint64, width int) []byte // a single field
	element *Style                                       // a field for each element, with its index in the name
	rows    func(b []byte, v []uint64, width int) []byte // complete lines, for fields without a name

	secret bool // elements are shown as 0, unless the attribute comes from [WithKeys]
	hex    bool // in JSON, elements are hexadecimal strings

	// json, if not nil, writes the array in another form than a list.
	json func(b []byte, v []uint64) []byte

	// components reports that each element has a bit in a record's component
	// mask.
	components bool
}

var (
	// Bytes is all elements' hexadecimal digits.
	Bytes = &ArrayStyle{value: func(b []byte, v []uint64, width int) []byte {
		for _, e := range v {
			b = appendDigits(b, e, width)
		}
		return b
	}}

	pkeyRows = &ArrayStyle{rows: indexedRows(8), hex: true}
	guidRows = &ArrayStyle{rows: indexedRows(2), hex: true, components: true}

	// bars is a line without a name: | 0| 1| 2|
	bars = &ArrayStyle{rows: func(b []byte, v []uint64, _ int) []byte {
		b = append(b, '|')
		for _, e := range v {
			b = fmt.Appendf(b, "%2d|", e)
		}
		return append(b, '\n')
	}}
)

// Text is the characters up to the first 0, and a string in JSON. Bytes that are not
// printable ASCII become blanks.
var Text = &ArrayStyle{
	value: func(b []byte, v []uint64, _ int) []byte { return appendASCII(b, v) },
	json:  func(b []byte, v []uint64) []byte { return strconv.AppendQuote(b, string(appendASCII(nil, v))) },
}

func appendASCII(b []byte, v []uint64) []byte {
	for _, e := range v {
		switch {
		case e == 0:
			return b
		case e < ' ' || e > '~':
			e = ' '
		}
		b = append(b, byte(e))
	}
	return b
}

// portSet is the [PortMask] style: the port numbers, and a number list in JSON.
var portSet = &ArrayStyle{
	value: func(b []byte, v []uint64, _ int) []byte { return appendPorts(b, v) },
	json:  func(b []byte, v []uint64) []byte { return append(appendPorts(append(b, '['), v), ']') },
}

func appendPorts(b []byte, v []uint64) []byte {
	var mask PortMask
	for i, e := range v {
		mask[i] = uint8(e)
	}
	first := true
	for port := range 256 {
		if !mask.Has(uint8(port)) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = strconv.AppendInt(b, int64(port), 10)
	}
	return b
}

// lines and HexLines are a field for each element.
var (
	Lines    = &ArrayStyle{element: Decimal}
	HexLines = &ArrayStyle{element: Hex}
)

// indexedRows writes n elements per row, after the first element's index.
func indexedRows(n int) func([]byte, []uint64, int) []byte {
	return func(b []byte, v []uint64, width int) []byte {
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
func (c *Codec) showArray(name string, v []uint64, width int, s *ArrayStyle) {
	switch {
	case c.mode == marshal:
		c.marshalArray(name, v, width, s)
	case s.value != nil:
		if c.begin(name) {
			c.text = s.value(c.text, v, width)
			c.end(name)
		}
	case s.rows != nil:
		c.rows(s.rows(nil, v, width))
	default:
		for i, e := range v {
			c.show(name+strconv.Itoa(i), e, width, s.element)
		}
	}
}

func (c *Codec) marshalArray(name string, v []uint64, width int, s *ArrayStyle) {
	c.key(name)
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
