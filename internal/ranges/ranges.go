// Package ranges parses and formats number lists such as "1-4,7".
package ranges

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse parses a list with numbers from 0 to 255 and number ranges. Each result element is
// a range's first and last number. noun names a number in errors: "a port number".
func Parse(list, noun string, limit uint8) (ranges [][2]uint8, err error) {
	for element := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(element), "-")
		if !isRange {
			last = first
		}
		a, err := parseNumber(first, noun, limit)
		if err != nil {
			return nil, err
		}
		b, err := parseNumber(last, noun, limit)
		if err != nil {
			return nil, err
		}
		if b < a {
			return nil, fmt.Errorf("%d is below %d", b, a)
		}
		ranges = append(ranges, [2]uint8{a, b})
	}
	return ranges, nil
}

func parseNumber(s, noun string, limit uint8) (uint8, error) {
	n, err := strconv.ParseUint(s, 0, 8)
	if err != nil || n > uint64(limit) {
		return 0, fmt.Errorf("%q is not %s from 0 to %d", s, noun, limit)
	}
	return uint8(n), nil
}

// Format returns a number list in ascending order, with ranges for two or more
// consecutive numbers.
func Format[T ~int | ~uint16](numbers []T) string {
	var b []byte
	for i := 0; i < len(numbers); i++ {
		first := numbers[i]
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(first), 10)
		if numbers[i] != first {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(numbers[i]), 10)
		}
	}
	return string(b)
}
