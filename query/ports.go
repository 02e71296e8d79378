package query

import (
	"fmt"
	"strconv"
	"strings"
)

// Ports is a set of ports of a node. The zero value is the default of the attribute: one
// port, or for counters of a switch all external ports.
type Ports struct {
	All    bool
	ranges [][2]uint8
}

// Given reports whether the set was selected.
func (p Ports) Given() bool { return p.All || len(p.ranges) > 0 }

// ParsePorts parses "all", or a list of numbers and ranges such as "1-4,7".
func ParsePorts(s string) (Ports, error) {
	if strings.EqualFold(s, "all") {
		return Ports{All: true}, nil
	}
	var p Ports
	for element := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(element, "-")
		if !isRange {
			last = first
		}
		a, err := parsePort(s, first)
		if err != nil {
			return Ports{}, err
		}
		b, err := parsePort(s, last)
		if err != nil {
			return Ports{}, err
		}
		if b < a {
			return Ports{}, fmt.Errorf("parse ports %q: %d is below %d", s, b, a)
		}
		p.ranges = append(p.ranges, [2]uint8{a, b})
	}
	return p, nil
}

func parsePort(list, s string) (uint8, error) {
	n, err := strconv.ParseUint(s, 0, 8)
	if err != nil {
		return 0, fmt.Errorf("parse ports %q: %q is not a port number from 0 to 255", list, s)
	}
	return uint8(n), nil
}

// of returns the selected ports, of those from first to last if all are selected.
func (p Ports) of(first, last uint8) []uint8 {
	var ports []uint8
	ranges := p.ranges
	if p.All {
		ranges = [][2]uint8{{first, last}}
	}
	for _, r := range ranges {
		for n := int(r[0]); n <= int(r[1]); n++ {
			ports = append(ports, uint8(n))
		}
	}
	return ports
}
