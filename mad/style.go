package mad

import "strconv"

// A style says how a field's value is written.
type style struct {
	dump func(b []byte, v uint64, width int) []byte // in the classic dump
	json func(b []byte, v uint64) []byte            // nil: as an integer
}

// The styles of plain values.
var (
	decimal = &style{dump: func(b []byte, v uint64, _ int) []byte { return strconv.AppendUint(b, v, 10) }}
	hexa    = &style{dump: appendHex}

	// key is for 64-bit GUIDs, prefixes and keys: a string in JSON.
	key = &style{
		dump: appendHex,
		json: func(b []byte, v uint64) []byte { return appendHexString(b, v, 64) },
	}
)

// enum is the style of an enumeration. name gives a value's name, "" where it
// has none; dump gives its classic text.
func enum(name, dump func(v uint64) string) *style {
	return &style{
		dump: func(b []byte, v uint64, _ int) []byte { return append(b, dump(v)...) },
		json: func(b []byte, v uint64) []byte {
			b = strconv.AppendUint(append(b, `{"value":`...), v, 10)
			b = append(b, `,"name":`...)
			if s := name(v); s != "" {
				b = strconv.AppendQuote(b, s)
			} else {
				b = append(b, "null"...)
			}
			return append(b, '}')
		},
	}
}

// A code is an enumeration of package ib.
type code interface {
	~uint8
	Defined() bool
	String() string
}

// codes is the style of an enumeration of package ib.
func codes[T code]() *style {
	return enum(codeName[T], func(v uint64) string { return T(v).String() })
}

// codeName returns the name of a value, "" if it is undefined.
func codeName[T code](v uint64) string {
	if !T(v).Defined() {
		return ""
	}
	return T(v).String()
}

// mask is the style of a set of bits. names gives the names of those that are
// set; dump gives the set's classic text.
func mask(names func(v uint64) []string, dump func(v uint64) string) *style {
	return &style{
		dump: func(b []byte, v uint64, _ int) []byte { return append(b, dump(v)...) },
		json: func(b []byte, v uint64) []byte {
			b = strconv.AppendUint(append(b, `{"value":`...), v, 10)
			b = append(b, `,"names":[`...)
			for i, s := range names(v) {
				if i > 0 {
					b = append(b, ',')
				}
				b = strconv.AppendQuote(b, s)
			}
			return append(b, "]}"...)
		},
	}
}

// names are those of an enumeration's values from 0 on, "" for undefined ones.
type names []string

// of returns the name of v, "" where it has none.
func (n names) of(v uint64) string {
	if v < uint64(len(n)) {
		return n[v]
	}
	return ""
}

// text returns the name of v, and "?(9)" for a value 9 without one, as the
// classic tools print it.
func (n names) text(v uint64) string {
	if s := n.of(v); s != "" {
		return s
	}
	return "?(" + strconv.FormatUint(v, 10) + ")"
}

func (n names) style() *style { return enum(n.of, n.text) }

// appendHex writes v with as many digits as the bytes of a field of that width
// have.
func appendHex(b []byte, v uint64, width int) []byte {
	const digits = "0123456789abcdef"
	b = append(b, "0x"...)
	for shift := (width+7)/8*8 - 4; shift >= 0; shift -= 4 {
		b = append(b, digits[v>>shift&0xf])
	}
	return b
}

func appendHexString(b []byte, v uint64, width int) []byte {
	return append(appendHex(append(b, '"'), v, width), '"')
}
