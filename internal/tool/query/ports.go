package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/ranges"
)

// Ports is a node's port set. The zero value is the attribute's default: a single port, or
// for switch counters all external ports.
type Ports struct {
	All    bool
	ranges [][2]uint8
}

// Given reports whether the set was selected.
func (p Ports) Given() bool { return p.All || len(p.ranges) > 0 }

// Has reports whether a port was selected by its number, or with all others.
func (p Ports) Has(number uint8) bool {
	return p.All || slices.ContainsFunc(p.ranges, func(r [2]uint8) bool { return r[0] <= number && number <= r[1] })
}

// ParsePorts parses "all", or a list with numbers and ranges such as "1-4,7".
func ParsePorts(s string) (Ports, error) {
	if strings.EqualFold(s, "all") {
		return Ports{All: true}, nil
	}
	all, err := ranges.Parse(s, "a port number", 255)
	if err != nil {
		return Ports{}, fmt.Errorf("parse ports %q: %w", s, err)
	}
	return Ports{ranges: all}, nil
}

// of returns the selected ports, the ports from first to last if all are selected.
func (p Ports) of(first, last uint8) []uint8 {
	var ports []uint8
	selected := p.ranges
	if p.All {
		selected = [][2]uint8{{first, last}}
	}
	for _, r := range selected {
		for n := int(r[0]); n <= int(r[1]); n++ {
			ports = append(ports, uint8(n))
		}
	}
	return ports
}
