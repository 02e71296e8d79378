package mad

import "strconv"

// A Style is the text form of a field's value.
type Style struct {
	dump func(b []byte, v uint64, width int) []byte // in the classic dump
	json func(b []byte, v uint64) []byte            // nil: as an integer

	names  func(v uint64) []string // in JSON: value or bit names; nil: a plain number
	set    bool                    // the value is a bit set
	digits bool                    // in JSON, a hexadecimal string
	secret bool                    // shown as 0, unless the attribute comes from [WithKeys]
}

// Styles for plain values.
var (
	Decimal = &Style{dump: func(b []byte, v uint64, _ int) []byte { return strconv.AppendUint(b, v, 10) }}
	Hex     = &Style{dump: appendHex} // in JSON an integer

	// HexString is for 64-bit fields such as GUIDs: a string in JSON.
	HexString = &Style{dump: appendHex, json: appendHex64, digits: true}

	// Secret is for 64-bit keys: [HexString] that is hidden by default.
	Secret = &Style{dump: appendHex, json: appendHex64, digits: true, secret: true}
)

// enum is an enumeration's style. name returns a value's name, "" for an undefined
// value; dump returns its classic text.
func enum(name, dump func(v uint64) string) *Style {
	return &Style{
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
		names: func(v uint64) []string {
			if s := name(v); s != "" {
				return []string{s}
			}
			return nil
		},
	}
}

// A code is an enumeration in package ib.
type code interface {
	~uint8
	Defined() bool
	String() string
}

// codes is the style for an enumeration in package ib.
func codes[T code]() *Style {
	return enum(codeName[T], func(v uint64) string { return T(v).String() })
}

// codeName returns a value's name, "" if it is undefined.
func codeName[T code](v uint64) string {
	if !T(v).Defined() {
		return ""
	}
	return T(v).String()
}

// mask is the style for a bit set. names returns the names of the set bits; dump
// returns the set's classic text.
func mask(names func(v uint64) []string, dump func(v uint64) string) *Style {
	return &Style{
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
		names: names,
		set:   true,
	}
}

// names are an enumeration's value names from 0 on, "" for undefined values.
type names []string

// of returns v's name, "" if v is undefined.
func (n names) of(v uint64) string {
	if v < uint64(len(n)) {
		return n[v]
	}
	return ""
}

// text returns v's name, and "?(9)" for an undefined value 9, like the classic tools.
func (n names) text(v uint64) string {
	if s := n.of(v); s != "" {
		return s
	}
	return "?(" + strconv.FormatUint(v, 10) + ")"
}

func (n names) style() *Style { return enum(n.of, n.text) }

// appendHex appends "0x" and v's digits.
func appendHex(b []byte, v uint64, width int) []byte {
	return appendDigits(append(b, "0x"...), v, width)
}

// appendDigits appends v with as many digits as a field with that width has,
// rounded up to bytes.
func appendDigits(b []byte, v uint64, width int) []byte {
	const digits = "0123456789abcdef"
	for shift := (width+7)/8*8 - 4; shift >= 0; shift -= 4 {
		b = append(b, digits[v>>shift&0xf])
	}
	return b
}

func appendHex64(b []byte, v uint64) []byte { return appendHexString(b, v, 64) }

func appendHexString(b []byte, v uint64, width int) []byte {
	return append(appendHex(append(b, '"'), v, width), '"')
}
