package getopt

import (
	"math"
	"strconv"
	"strings"
	"syscall"
)

// Strtol parses the number at the start of a text like C's strtol with base 0. It returns
// 0 if there is no number.
func Strtol(s string) int {
	s, negative := cutSign(s)
	n := int(min(Strtoull(s), math.MaxInt))
	if negative {
		return -n
	}
	return n
}

// Strtoull is [Strtol] for 64-bit numbers.
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

// cutSign removes leading blanks and a number's sign.
func cutSign(s string) (digits string, negative bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:], s[0] == '-'
	}
	return s, false
}

// number parses the digits at the start of a text. Numbers with more than
// 64 bits are all ones.
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

// Scan parses up to n 32-bit numbers with commas between them like C's sscanf with
// "%d,%d" (base 10) or "%x,%x" (base 16), and returns the numbers before the first
// mismatch.
func Scan(s string, base, n int) (numbers []uint32) {
	for len(numbers) < n {
		digits, negative := cutSign(s)
		prefix := base == 16 && len(digits) > 1 && strings.EqualFold(digits[:2], "0x")
		if prefix {
			digits = digits[2:] // glibc accepts a prefix without digits as 0
		}
		end := digitsIn(digits, base)
		if end == 0 && !prefix {
			break
		}
		// %d and %x store the low 32 bits from strtol and strtoul.
		v := number(digits[:end], base)
		switch {
		case base == 10 && negative:
			v = -min(v, 1<<63)
		case base == 10:
			v = min(v, math.MaxInt64)
		case negative && v != math.MaxUint64:
			v = -v
		}
		numbers = append(numbers, uint32(v))
		if s = digits[end:]; !strings.HasPrefix(s, ",") {
			break
		}
		s = s[1:]
	}
	return numbers
}

// Strerror returns an error number's text as in C, which begins with a capital.
func Strerror(e syscall.Errno) string {
	text := e.Error()
	if strings.HasPrefix(text, "errno ") {
		return "Unknown error " + strconv.Itoa(int(e))
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// digitsIn returns the digit count at the start of a text.
func digitsIn(s string, base int) int {
	return len(s) - len(strings.TrimLeft(strings.ToLower(s), "0123456789abcdef"[:base]))
}
