package ib

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A GUID is the 64-bit identifier of a node, a port, a system or a chassis,
// in host byte order. The zero GUID is not an identifier.
//
// The fmt verbs for integers (%d, %x, %#016x …) format the number, %v and %s
// the [GUID.String] text.
type GUID uint64

// ParseGUID parses a GUID: up to 16 hexadecimal digits with or without a
// leading "0x" (0x0002c90300fed670), or four groups of up to 4 digits separated
// by colons, the sysfs form (0002:c903:00fe:d670). The error contains the first
// invalid character's position, counted from 1.
func ParseGUID(s string) (GUID, error) {
	fail := func(format string, a ...any) (GUID, error) {
		return 0, fmt.Errorf("parse GUID %q: "+format, append([]any{s}, a...)...)
	}
	digits, start := s, 0
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		digits, start = s[2:], 2
	}
	colons := strings.Count(digits, ":")
	if colons != 0 && (colons != 3 || start != 0) {
		return fail("got %d colons, want 0, or 3 without 0x", colons)
	}
	maxGroup := 16
	if colons != 0 {
		maxGroup = 4
	}

	var guid, group GUID
	n := 0 // digits in this group
	for i := range len(digits) {
		c := digits[i]
		if c == ':' {
			if n == 0 {
				return fail("position %d: no digits before the colon", start+i+1)
			}
			guid, group, n = guid<<16|group, 0, 0
			continue
		}
		d, ok := hexDigit(c)
		if !ok {
			r, _ := utf8.DecodeRuneInString(digits[i:])
			return fail("position %d: %q is not a hexadecimal digit", start+i+1, r)
		}
		if n++; n > maxGroup {
			return fail("position %d: more than %d digits", start+i+1, maxGroup)
		}
		group = group<<4 | GUID(d)
	}
	if n == 0 {
		return fail("position %d: digits are missing", len(s)+1)
	}
	if colons == 0 {
		return group, nil
	}
	return guid<<16 | group, nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// String returns "0x" and 16 hexadecimal digits, for example
// "0x0002c90300fed670".
func (g GUID) String() string { return string(g.AppendTo(make([]byte, 0, len("0x")+16))) }

// AppendText appends the [GUID.String] text to b. The error is always nil.
func (g GUID) AppendText(b []byte) ([]byte, error) { return g.AppendTo(b), nil }

// MarshalText returns the [GUID.String] text. The error is always nil.
func (g GUID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText parses the forms that [ParseGUID] accepts.
func (g *GUID) UnmarshalText(text []byte) (err error) {
	*g, err = ParseGUID(string(text))
	return err
}

// Format implements [fmt.Formatter].
func (g GUID) Format(f fmt.State, verb rune) { format(f, verb, g.String, uint64(g)) }

// AppendTo appends the [GUID.String] text to b.
func (g GUID) AppendTo(b []byte) []byte {
	const digits = "0123456789abcdef"
	b = append(b, "0x"...)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[g>>shift&0xf])
	}
	return b
}
