package hostlist

import (
	"cmp"
	"strings"
)

// Compare compares names as people sort them: host2 before host10.
func Compare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := leadingDigits(x), leadingDigits(y)
		if dx == "" || dy == "" {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		nx, ny := strings.TrimLeft(dx, "0"), strings.TrimLeft(dy, "0")
		if c := cmp.Or(cmp.Compare(len(nx), len(ny)), cmp.Compare(nx, ny)); c != 0 {
			return c
		}
		x, y = x[len(dx):], y[len(dy):]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// leadingDigits returns the digits at the beginning of a text.
func leadingDigits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
