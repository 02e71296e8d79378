// Package hostlist converts between host names and lists in the notation of Slurm, pdsh and
// clush: "node[01-18,20],login1".
package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// Most is the maximum number of hosts in a list.
const Most = 1 << 17

// Expand returns the host names in a list, in its order. Several brackets in a name are all
// combinations, the last bracket first: "r[1-2]n[1-2]" is r1n1, r1n2, r2n1, r2n2. An empty
// list has no hosts.
func Expand(list string) (hosts []string, err error) {
	elements, err := split(list)
	if err != nil {
		return nil, fmt.Errorf("parse host list %q: %w", list, err)
	}
	for _, element := range elements {
		names, err := expand(element, Most-len(hosts))
		if err != nil {
			return nil, fmt.Errorf("parse host list %q: %w", list, err)
		}
		hosts = append(hosts, names...)
	}
	return hosts, nil
}

// split splits a list at commas and white space outside of brackets.
func split(list string) (elements []string, err error) {
	open, start := false, 0
	for i, c := range list + "," {
		switch {
		case c == '[' && !open:
			open = true
		case c == ']' && open:
			open = false
		case c == '[' || c == ']':
			return nil, fmt.Errorf("unexpected %q", c)
		case !open && strings.ContainsRune(", \t\n\r", c):
			if i > start {
				elements = append(elements, list[start:i])
			}
			start = i + 1
		}
	}
	if open {
		return nil, fmt.Errorf("missing \"]\"")
	}
	return elements, nil
}

// expand returns the names of an element with balanced brackets.
func expand(element string, most int) ([]string, error) {
	prefix, rest, found := strings.Cut(element, "[")
	if !found {
		if most < 1 {
			return nil, errMany
		}
		return []string{element}, nil
	}
	body, suffix, _ := strings.Cut(rest, "]")
	ends, err := expand(suffix, most)
	if err != nil {
		return nil, err
	}
	numbers, err := expandNumbers(body, most/len(ends))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, n := range numbers {
		for _, end := range ends {
			names = append(names, prefix+n+end)
		}
	}
	return names, nil
}

var errMany = fmt.Errorf("more than %d hosts", Most)

// expandNumbers returns the texts of a bracket: numbers, ranges and words. A range keeps the
// width of its first number.
func expandNumbers(body string, most int) (texts []string, err error) {
	for part := range strings.SplitSeq(body, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.ParseUint(first, 10, 32)
		to, errTo := strconv.ParseUint(last, 10, 32)
		switch {
		case part == "":
			return nil, fmt.Errorf("empty range in %q", "["+body+"]")
		case !isRange:
			texts = append(texts, part)
		case errFrom != nil || errTo != nil:
			return nil, fmt.Errorf("invalid range %q: want two numbers", part)
		case to < from:
			return nil, fmt.Errorf("invalid range %q: %d is below %d", part, to, from)
		case to-from >= uint64(max(0, most-len(texts))):
			return nil, errMany
		default:
			for n := from; n <= to; n++ {
				texts = append(texts, fmt.Sprintf("%0*d", len(first), n))
			}
		}
		if len(texts) > most {
			return nil, errMany
		}
	}
	return texts, nil
}
