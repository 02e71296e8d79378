package dump

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// A levelSection is the node in an opensm dump with a section per node:
//
//	Switch 0x0002c90000800400, base LID 2, "leaf001"
//	Channel Adapter 0x0002c90000100001, base LID 1, "host00001"
type levelSection struct {
	node    *route.Node // nil: no section has begun
	skipped bool        // the section's node is unknown
}

// begin starts a section if the line is a section's first line.
func (s *levelSection) begin(r *route.Routing, line []byte) (begun bool, problem string) {
	var rest []byte
	for _, kind := range []string{"Switch ", "Channel Adapter ", "Router "} {
		if after, ok := bytes.CutPrefix(line, []byte(kind)); ok {
			rest = after
		}
	}
	if rest == nil {
		return false, ""
	}
	s.node, s.skipped = nil, true
	digits, _, _ := bytes.Cut(rest, []byte(","))
	guid, ok := prefixedHex(digits, 64)
	if !ok {
		return true, "got " + textfile.Quote(rest) + ", want a GUID"
	}
	if s.node = r.NodeByAnyGUID(ib.GUID(guid)); s.node == nil {
		return true, fmt.Sprintf("0x%016x is not in the topology: the files are of different fabrics or times", guid)
	}
	s.skipped = false
	return true, ""
}

// readSLtoVLDump reads tables from service levels to virtual lanes, in the forms in
// ibdiagnet.slvl (switch, input and output port, a digit per level) and in
// opensm-sl2vl.dump (osm_dump.c), which has sections:
//
//	0x0002c90000000201 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7
//	5   1   : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 7
func readSLtoVLDump(r *route.Routing, in io.Reader, file string) error {
	return readLevelDump(r, in, file, addSLtoVL)
}

// readLevelDump reads a file in which lines may belong to a node's section. The node is
// nil outside a section.
func readLevelDump(r *route.Routing, in io.Reader, file string, add func(r *route.Routing, n *route.Node, line []byte) (problem string)) error {
	l := textfile.NewReader(in, file)
	var s levelSection
	valid := false
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		begun, problem := s.begin(r, line)
		if !begun && !s.skipped {
			problem = add(r, s.node, line)
			valid = valid || problem == ""
		}
		if problem != "" {
			reject(r, l, s.node, "", problem)
		}
	}
	return endOf(r, l, valid)
}

// addSLtoVL adds a port pair's table. n is the section's node.
func addSLtoVL(r *route.Routing, n *route.Node, line []byte) (problem string) {
	var lanes [16]uint8
	fields := bytes.Fields(line)
	invalid := func() string {
		return "got " + textfile.Quote(line) + ", want an input port, an output port and 16 virtual lanes"
	}
	switch {
	case len(fields) == 11: // GUID, ports, 8 bytes
		guid, ok := prefixedHex(fields[0], 64)
		if !ok {
			return invalid()
		}
		if n, problem = switchByGUID(r, guid); problem != "" {
			return problem
		}
		for i, f := range fields[3:] {
			pair, ok := prefixedHex(f, 8)
			if !ok {
				return invalid()
			}
			lanes[2*i], lanes[2*i+1] = uint8(pair>>4), uint8(pair&15)
		}
		fields = fields[1:3]
	case len(fields) == 19 && string(fields[2]) == ":":
		if n == nil {
			return "a table before the first line with a switch"
		}
		for i, f := range fields[3:] {
			vl, ok := decimalNumber(f, 15)
			if !ok {
				return invalid()
			}
			lanes[i] = uint8(vl)
		}
	default:
		return invalid()
	}
	inPort, okIn := decimalNumber(fields[0], 255)
	outPort, okOut := decimalNumber(fields[1], 255)
	if !okIn || !okOut {
		return invalid()
	}
	if !n.IsSwitch() {
		return "" // adapter lanes cannot be in a loop
	}
	if int(max(inPort, outPort)) >= len(n.Ports) {
		return fmt.Sprintf("port %s: want 0 to %d", fabric.PortName(n.GUID.String(), int(max(inPort, outPort))), len(n.Ports)-1)
	}
	n.SetLanes(uint8(inPort), uint8(outPort), lanes)
	return ""
}

// readPathSLDump reads path service levels, in the ibdiagnet.psl form (node,
// destination LID, level) or with a section per source (ibdm, Fabric.cpp):
//
//	0x0002c90000000099 154 0
//	0x009a : 0
func readPathSLDump(r *route.Routing, in io.Reader, file string) error {
	if r.PathSLs == nil {
		r.PathSLs = &route.PathSLs{}
	}
	return readLevelDump(r, in, file, addPathSL)
}

// addPathSL adds the service level for the paths from a node. n is the section's node.
func addPathSL(r *route.Routing, n *route.Node, line []byte) (problem string) {
	var lid uint64
	var level []byte
	fields := bytes.Fields(line)
	ok := false
	switch {
	case len(fields) == 3 && string(fields[1]) == ":":
		if n == nil {
			return "a level before the first line with a node"
		}
		lid, ok = prefixedHex(fields[0], 16)
		level = fields[2]
	case len(fields) == 3:
		var guid uint64
		if guid, ok = prefixedHex(fields[0], 64); ok {
			if n = r.NodeByAnyGUID(ib.GUID(guid)); n == nil {
				return fmt.Sprintf("0x%016x is not in the topology: the files are of different fabrics or times", guid)
			}
			lid, ok = decimalNumber(fields[1], uint64(ib.MaxUnicastLID))
		}
		level = fields[2]
	}
	sl, valid := decimalNumber(level, 15)
	if !ok || !valid || !ib.LID(lid).IsUnicast() {
		return "got " + textfile.Quote(line) + ", want a node, a destination LID and a service level"
	}
	for i := range n.Ports {
		if p := &n.Ports[i]; p.LID != 0 {
			r.PathSLs.Set(p, ib.LID(lid), uint8(sl))
		}
	}
	return ""
}
