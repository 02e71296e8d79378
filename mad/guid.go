package mad

import (
	"fmt"
	"strings"
)

// ParseGUID reads a 64-bit GUID: up to 16 hexadecimal digits, with or without
// a leading "0x" (0x0002c90300fed670), or four groups of up to 4 digits with
// colons between them, as sysfs writes it (0002:c903:00fe:d670). The error
// names the position at fault, counted from 1. No node has the GUID 0, so it is
// refused.
func ParseGUID(s string) (uint64, error) {
	fail := func(format string, a ...any) (uint64, error) {
		return 0, fmt.Errorf("parse GUID %q: "+format, append([]any{s}, a...)...)
	}
	digits, start := s, 0
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		digits, start = s[2:], 2
	}
	colons := strings.Count(digits, ":")
	if colons != 0 && (colons != 3 || start != 0) {
		return fail("%d colons, expected none or 3 between groups without 0x", colons)
	}
	maxGroup := 16
	if colons != 0 {
		maxGroup = 4
	}

	var guid, group uint64
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
			return fail("position %d: %q is not a hexadecimal digit", start+i+1, c)
		}
		if n++; n > maxGroup {
			return fail("position %d: more than %d digits", start+i+1, maxGroup)
		}
		group = group<<4 | d
	}
	if n == 0 {
		return fail("position %d: digits are missing", len(s)+1)
	}
	if guid = guid<<16 | group; colons == 0 {
		guid = group
	}
	if guid == 0 {
		return fail("no node has GUID 0")
	}
	return guid, nil
}

func hexDigit(c byte) (uint64, bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0'), true
	case c >= 'a' && c <= 'f':
		return uint64(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return uint64(c-'A') + 10, true
	}
	return 0, false
}
