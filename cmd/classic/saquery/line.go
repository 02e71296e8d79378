package saquery

import "strconv"

// dotted writes a line with a name, dots up to a column, and a value.
func (q *query) dotted(width int, name string, v value) {
	b := append(append(q.out.AvailableBuffer(), "\t\t"...), name...)
	for range width - len(name) {
		b = append(b, '.')
	}
	q.out.Write(append(v.append(b), '\n'))
}

// A value is a text or a number in a C tool format. Package fmt would allocate memory for
// each number, and large fabrics' tables have some 100,000 numbers.
type value struct {
	text   string // if base is 0
	number uint64
	base   int
	digits int // minimum for a hexadecimal number
	upper  bool
}

type integer interface {
	~int | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func text(s string) value           { return value{text: s} }
func decimal[T integer](v T) value  { return value{number: uint64(v), base: 10} }
func hexLower[T integer](v T) value { return value{number: uint64(v), base: 16} }
func hexUpper[T integer](v T) value { return value{number: uint64(v), base: 16, upper: true} }
func padded[T integer](v T, n int) value {
	return value{number: uint64(v), base: 16, upper: true, digits: n}
}
func key[T ~uint64](v T) value { return value{number: uint64(v), base: 16, digits: 16} }

func (v value) append(b []byte) []byte {
	switch v.base {
	case 0:
		return append(b, v.text...)
	case 10:
		return strconv.AppendUint(b, v.number, 10)
	}
	b = append(b, "0x"...)
	shift := 4 * (max(v.digits, 1) - 1)
	for v.number>>shift > 0xf {
		shift += 4
	}
	digits := "0123456789abcdef"
	if v.upper {
		digits = "0123456789ABCDEF"
	}
	for ; shift >= 0; shift -= 4 {
		b = append(b, digits[v.number>>shift&0xf])
	}
	return b
}
