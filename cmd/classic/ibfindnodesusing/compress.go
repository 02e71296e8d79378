package ibfindnodesusing

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// A numbered is a name that may end with a number.
type numbered struct{ prefix, digits string }

func (n numbered) value() uint64 {
	digits := strings.TrimLeft(n.digits, "0")
	return getopt.Strtoull(digits)
}

// compress lists names as the script does: sorted, with number ranges as "node1-3".
func compress(names []string) string {
	list := make([]numbered, len(names))
	for i, name := range names {
		prefix := strings.TrimRight(name, "0123456789")
		list[i] = numbered{prefix, name[len(prefix):]}
	}
	slices.SortStableFunc(list, func(a, b numbered) int { return cmp.Compare(a.value(), b.value()) })
	ranges := map[string][][]string{} // by prefix
	for _, n := range list {
		r := ranges[n.prefix]
		if r == nil {
			r = [][]string{nil} // the script takes the number before the first number as 0
		}
		last := len(r) - 1
		before := uint64(0)
		if k := len(r[last]); k > 0 {
			before = numbered{digits: r[last][k-1]}.value()
		}
		if before+1 == n.value() {
			r[last] = append(r[last], n.digits)
		} else {
			r = append(r, []string{n.digits})
		}
		ranges[n.prefix] = r
	}
	var parts []string
	for _, prefix := range slices.Sorted(maps.Keys(ranges)) {
		for _, r := range ranges[prefix] {
			switch len(r) {
			case 0:
			case 1:
				parts = append(parts, prefix+r[0])
			default:
				parts = append(parts, prefix+r[0]+"-"+r[len(r)-1])
			}
		}
	}
	// The script joins with commas and splits again, without empty parts at the end.
	text := strings.TrimRight(strings.Join(parts, ","), ",")
	return strings.ReplaceAll(text, ",", " ")
}
