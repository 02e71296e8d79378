package getopt

import (
	"math"
	"strconv"
	"strings"
)

// Strtol parses the number at the beginning of a text like C's strtol with base 0. It
// returns 0 if there is no number.
func Strtol(s string) int {
	s, negative := cutSign(s)
	n := int(min(Strtoull(s), math.MaxInt))
	if negative {
		return -n
	}
	return n
}

// Strtoull is [Strtol] for numbers of 64 bits.
func Strtoull(s string) uint64 {
	s, negative := cutSign(s)
	base := 10
	switch {
	case len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") && strings.IndexByte("0123456789abcdefABCDEF", s[2]) >= 0:
		base, s = 16, s[2:]
	case strings.HasPrefix(s, "0"):
		base = 8
	}
	n := number(s, base)
	if negative {
		return -n
	}
	return n
}

// Atoi is [Strtol] with base 10.
func Atoi(s string) int {
	s, negative := cutSign(s)
	n := int(min(number(s, 10), math.MaxInt))
	if negative {
		return -n
	}
	return n
}

// cutSign removes leading blanks and the sign of a number.
func cutSign(s string) (digits string, negative bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:], s[0] == '-'
	}
	return s, false
}

// number parses the digits at the beginning of a text. Numbers of more than 64 bits
// are all ones.
func number(s string, base int) uint64 {
	end := strings.IndexFunc(strings.ToLower(s), func(c rune) bool {
		digit := strings.IndexRune("0123456789abcdef", c)
		return digit < 0 || digit >= base
	})
	if end >= 0 {
		s = s[:end]
	}
	n, _ := strconv.ParseUint(s, base, 64) // out of range: the largest; no digits: 0
	return n
}
