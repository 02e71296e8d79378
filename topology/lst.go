package topology

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// WriteLST writes the links as a subnet.lst, which ibdmchk, ibtopodiff and scripts read
// (ibutils; opensm, opensm/osm_dump.c): a line for each end of a link.
func WriteLST(w io.Writer, f *fabric.Fabric, names *fabric.NameMap) error {
	out := bufio.NewWriter(w)
	for _, n := range f.Nodes {
		for _, p := range linked(n) {
			info := p.Info
			if info == nil {
				info = new(mad.PortInfo)
			}
			lstPort(out, p, names)
			lstPort(out, p.Peer, names)
			_, _, width, _ := linkOf(p)
			fmt.Fprintf(out, "PHY=%s LOG=%s SPD=%s\n", width, lstState(info.State), lstSpeed(p))
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write subnet.lst: %w", err)
	}
	return nil
}

// lstNames replaces the braces around a description, which cannot be escaped.
var lstNames = strings.NewReplacer("{", "(", "}", ")")

func lstPort(out *bufio.Writer, p *fabric.Port, names *fabric.NameMap) {
	n := p.Node
	fmt.Fprintf(out, "{ %s Ports:%02X SystemGUID:%016X NodeGUID:%016X PortGUID:%016X VenID:%08X DevID:%04X Rev:%08X {%s} LID:%04X PN:%02X } ",
		wordsOf(n.Info.NodeType).report, n.Info.NumPorts, uint64(n.Info.SystemGUID), uint64(n.GUID), uint64(p.GUID),
		n.Info.VendorID, n.Info.DeviceID, n.Info.Revision, lstNames.Replace(names.Name(n)), uint16(p.LID()), p.Number)
}

func lstState(s ib.PortState) string {
	switch s {
	case ib.PortDown:
		return "DWN"
	case ib.PortInit:
		return "INI"
	case ib.PortArmed:
		return "ARM"
	case ib.PortActive:
		return "ACT"
	}
	return "???"
}

// lstSpeed returns the rate of a lane, "??" if it is unknown.
func lstSpeed(p *fabric.Port) string {
	_, speed := Cable{A: p}.Rate()
	for text, s := range lstSpeeds {
		if s == speed {
			return text
		}
	}
	if speed == ib.FDR10 {
		return "10"
	}
	return "??"
}
