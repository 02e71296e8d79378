package dump

import (
	"bytes"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// readMulticastDump reads the multicast forwarding tables in a file that opensm writes
// as opensm.mcfdbs and ibdiagnet as ibdiagnet.mcfdbs (opensm, osm_dump.c):
//
//	Switch 0x0002c9010bb90090
//	LID    : Out Port(s)
//	0xC000 : 0x007 0x008
func readMulticastDump(r *route.Routing, in io.Reader, file string) error {
	l := textfile.NewReader(in, file)
	var n *route.Node
	begun, valid := false, false
	for l.Next() {
		line := bytes.TrimSpace(l.Bytes())
		switch {
		case len(line) == 0 || bytes.HasPrefix(line, []byte("LID ")):
		case bytes.HasPrefix(line, []byte("Switch ")):
			var problem string
			if n, problem = multicastSwitch(r, line); problem != "" {
				reject(r, l, nil, "", problem)
			}
			begun = true
		case n == nil && begun: // of an unknown switch
		case n == nil:
			reject(r, l, nil, "", fmt.Sprintf("got %s, want a switch", textfile.Quote(line)))
		case addMulticast(n, line):
			valid = true
		default:
			reject(r, l, n, "MulticastForwardingTable", fmt.Sprintf("got %s, want a multicast LID and ports such as 0xC000 : 0x007", textfile.Quote(line)))
		}
	}
	return endOf(r, l, valid)
}

// multicastSwitch returns the switch in the first line of a table.
func multicastSwitch(r *route.Routing, line []byte) (*route.Node, string) {
	guid, ok := prefixedHex(bytes.TrimSpace(line[len("Switch "):]), 64)
	if !ok {
		return nil, "got " + textfile.Quote(line) + ", want the GUID of a switch"
	}
	return switchByGUID(r, guid)
}

// addMulticast adds a multicast LID's ports.
func addMulticast(n *route.Node, line []byte) bool {
	lid, rest, ok := lidColumn(line)
	if !ok || !ib.LID(lid).IsMulticast() {
		return false
	}
	var mask mad.PortMask
	for field := range bytes.FieldsSeq(rest) {
		port, ok := prefixedHex(field, 8)
		if !ok {
			return false
		}
		mask.Add(uint8(port))
	}
	n.SetMulticast(ib.LID(lid), mask)
	return true
}
