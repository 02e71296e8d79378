package dump

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// WriteForwarding writes the linear forwarding tables in the opensm.fdbs form, which
// [Load] and ibdmchk read: a section for each switch with tables, and a line for each LID
// up to the highest LID in use. Blocks that could not be read are omitted.
func WriteForwarding(w io.Writer, r *route.Routing) error {
	out := bufio.NewWriterSize(w, 1<<16)
	d := newDistances(r)
	var line []byte
	for _, n := range r.Switches() {
		fmt.Fprintf(out, "dump_ucast_routes: Switch 0x%016x\nLID    : Port : Hops : Optimal\n", uint64(n.GUID))
		for lid := ib.LID(1); lid <= n.Tables.Top && int(lid) < len(n.Tables.LFT); lid++ {
			if !n.Tables.IsMissing(lid) {
				line = d.appendEntry(line[:0], n, lid)
				out.Write(line)
			}
		}
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write forwarding tables: %w", err)
	}
	return nil
}

// distances are path link counts.
type distances struct {
	owner map[ib.LID]*route.Port // each LID's port
	least map[*route.Node]map[*route.Node]int
}

func newDistances(r *route.Routing) *distances {
	d := &distances{owner: map[ib.LID]*route.Port{}, least: map[*route.Node]map[*route.Node]int{}}
	for _, n := range r.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.LID != 0 && n.IsSwitch() == (i == 0) {
				for k := range 1 << p.LMC {
					d.owner[p.LID+ib.LID(k)] = p
				}
			}
		}
	}
	return d
}

// appendEntry appends a LID's line in a switch's table.
func (d *distances) appendEntry(b []byte, n *route.Node, lid ib.LID) []byte {
	b = fmt.Appendf(b, "0x%04x : ", uint16(lid))
	port := n.Tables.LFT[lid]
	if port == route.NoRoute {
		return append(b, "UNREACHABLE\n"...)
	}
	hops, arrives := d.hops(n, lid)
	optimal := "no"
	if least, ok := d.minimum(n, lid); ok && arrives && hops <= least {
		optimal = "yes"
	}
	return fmt.Appendf(b, "%03d  : %02d   : %s\n", port, hops, optimal)
}

// hops returns the link count on the tables' path to a LID; false if it does not
// arrive, with the link count until there.
func (d *distances) hops(n *route.Node, lid ib.LID) (int, bool) {
	const most = 64 // a path's links
	for hops := range most {
		port := n.Tables.Lookup(lid)
		if port == 0 {
			p := d.owner[lid]
			return hops, p != nil && p.Node == n
		}
		if int(port) >= len(n.Ports) || n.Ports[port].Peer == nil {
			return hops, false
		}
		peer := n.Ports[port].Peer
		if n = peer.Node; !n.IsSwitch() {
			return hops + 1, d.owner[lid] == peer
		}
	}
	return most, false
}

// minimum returns the least link count from a switch to a LID; false if no links lead
// there.
func (d *distances) minimum(n *route.Node, lid ib.LID) (int, bool) {
	p := d.owner[lid]
	if p == nil {
		return 0, false
	}
	target, last := p.Node, 0
	if !target.IsSwitch() {
		if p.Peer == nil || !p.Peer.Node.IsSwitch() {
			return 0, false
		}
		target, last = p.Peer.Node, 1
	}
	if d.least[target] == nil {
		d.least[target] = from(target)
	}
	links, ok := d.least[target][n]
	return links + last, ok
}

// from returns the link count from a switch to all others.
func from(start *route.Node) map[*route.Node]int {
	links := map[*route.Node]int{start: 0}
	queue := []*route.Node{start}
	for ; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		for i := range n.Ports {
			peer := n.Ports[i].Peer
			if peer == nil || !peer.Node.IsSwitch() {
				continue
			}
			if _, known := links[peer.Node]; !known {
				links[peer.Node] = links[n] + 1
				queue = append(queue, peer.Node)
			}
		}
	}
	return links
}
