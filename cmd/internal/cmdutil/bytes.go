package cmdutil

import (
	"strconv"
	"strings"
)

// ParseBytes parses a positive number of bytes with an optional suffix K, M, G or T.
func ParseBytes(text string, most int) (n int, ok bool) {
	number := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text), "B"), "I")
	shift := 0
	if number != "" {
		if i := strings.IndexByte("KMGT", number[len(number)-1]); i >= 0 {
			shift = 10 * (i + 1)
			number = number[:len(number)-1]
		}
	}
	v, err := strconv.ParseUint(number, 10, 31)
	if err != nil || v == 0 || int(v) > most>>shift {
		return 0, false
	}
	return int(v) << shift, true
}
