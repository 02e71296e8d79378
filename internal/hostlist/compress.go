package hostlist

import (
	"fmt"
	"strings"
)

// Compress returns a list of names in their order, with number ranges: node[01-18],a.
func Compress(names []string) string {
	type run struct {
		prefix      string
		width       int
		first, last int
	}
	var runs []run
	for _, name := range names {
		prefix, number, width := splitNumber(name)
		if last := len(runs) - 1; last >= 0 && width > 0 && runs[last].prefix == prefix && runs[last].width == width && runs[last].last+1 == number {
			runs[last].last = number
			continue
		}
		runs = append(runs, run{prefix, width, number, number})
	}
	var list []string
	for _, r := range runs {
		switch {
		case r.width == 0:
			list = append(list, r.prefix)
		case r.first == r.last:
			list = append(list, fmt.Sprintf("%s%0*d", r.prefix, r.width, r.first))
		default:
			list = append(list, fmt.Sprintf("%s[%0*d-%0*d]", r.prefix, r.width, r.first, r.width, r.last))
		}
	}
	return strings.Join(list, ",")
}

// splitNumber splits a name before the number at its end. width is 0 without a number.
// A number without leading zeros has its own width, so 9 and 10 are in different
// ranges.
func splitNumber(name string) (prefix string, number, width int) {
	const most = 9 // digits
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' && len(name)-i < most {
		i--
	}
	for _, c := range name[i:] {
		number = number*10 + int(c-'0')
	}
	return name[:i], number, len(name) - i
}
