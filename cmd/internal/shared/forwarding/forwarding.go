// Package forwarding prints forwarding tables in the form of ibroute and dump_fts
// (infiniband-diags, ibroute.c and dump_fts.c).
package forwarding

import (
	"fmt"
	"math"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Options are the options that both tools have.
type Options struct {
	All       bool // invalid entries, too
	Brief     bool // no destinations
	Multicast bool
}

// Define returns the options, without those of infiniband-diags.
func (o *Options) Define(nameMap *string) []getopt.Option {
	return []getopt.Option{
		{Long: "all", Short: 'a', Help: "show all lids, even invalid entries", Set: getopt.True(&o.All)},
		{Long: "no_dests", Short: 'n', Help: "do not try to resolve destinations", Set: getopt.True(&o.Brief)},
		{Long: "Multicast", Short: 'M', Help: "show multicast forwarding tables", Set: getopt.True(&o.Multicast)},
		{Long: "node-name-map", Arg: "<file>", Help: "node name map file", Set: getopt.Text(nameMap)},
	}
}

// A Switch is a switch whose table is printed.
type Switch struct {
	PortID string // as portid2str of libibmad prints it
	GUID   ib.GUID
	Name   string
	Info   mad.SwitchInfo
	Ports  int
}

// A Printer prints tables.
type Printer struct {
	Options
	Out     *render.Output
	Verbose bool
	Warn    func(function, format string, args ...any) // IBWARN
}

// Range returns the range of LIDs of a unicast table; 0 as the end is the top.
func (p *Printer) Range(s *Switch, start, end uint) (first, last int) {
	first, last = int(int32(start)), int(int32(end))
	if top := int(s.Info.LinearFDBTop); last == 0 || last > top {
		last = top
	}
	if last > int(ib.MaxUnicastLID) {
		p.Warn("dump_unicast_tables", "illegal lft top %d, truncate to %d", last, ib.MaxUnicastLID)
		last = int(ib.MaxUnicastLID)
	}
	return first, last
}

// Unicast prints a range of a unicast table. lookup returns the output port of a LID; it
// reports false for an entry that is unknown, which is omitted.
func (p *Printer) Unicast(s *Switch, first, last int, lookup func(lid ib.LID) (uint8, bool), d *Destinations) {
	p.total(p.unicast(s, first, last, lookup, d), "lids")
}

// UnicastUntil is [Printer.Unicast] without the number of entries if whole is false: an
// entry could not be read.
func (p *Printer) UnicastUntil(s *Switch, first, last int, lookup func(lid ib.LID) (uint8, bool), d *Destinations, whole bool) {
	if n := p.unicast(s, first, last, lookup, d); whole {
		p.total(n, "lids")
	}
}

func (p *Printer) unicast(s *Switch, first, last int, lookup func(lid ib.LID) (uint8, bool), d *Destinations) (n int) {
	fmt.Fprintf(p.Out, "Unicast lids [0x%x-0x%x] of switch %s guid %v (%s):\n", uint32(first), last, s.PortID, s.GUID, s.Name)
	fmt.Fprint(p.Out, "  Lid  Out   Destination\n       Port     Info \n")
	var line []byte
	for lid := max(first, 0); lid <= last && last > 0; lid++ {
		port, ok := lookup(ib.LID(lid))
		valid := int(port) <= s.Ports
		if !ok || !valid && !p.All {
			continue
		}
		line = appendEntry(line[:0], ib.LID(lid), port)
		if !p.Brief {
			line = d.appendText(line, lid, valid)
		}
		p.Out.Write(append(line, '\n'))
		n++
	}
	return n
}

// appendEntry appends a LID and its output port as "0x%04x %03d ". All tables of a large
// fabric have millions of entries, for which fmt is too slow.
func appendEntry(b []byte, lid ib.LID, port uint8) []byte {
	const hex = "0123456789abcdef"
	return append(b, '0', 'x', hex[lid>>12], hex[lid>>8&0xf], hex[lid>>4&0xf], hex[lid&0xf],
		' ', '0'+port/100, '0'+port/10%10, '0'+port%10, ' ')
}

func (p *Printer) total(n int, unit string) {
	valid := "valid "
	if p.All {
		valid = ""
	}
	fmt.Fprintf(p.Out, "%d %s%s dumped \n", n, valid, unit)
}

// MulticastRange returns the range of LIDs of a multicast table.
func (p *Printer) MulticastRange(s *Switch, start, end uint) (first, last uint) {
	const lowest, highest, function = uint(ib.MinMulticastLID), 0xfffe, "dump_multicast_tables"
	entries := uint(s.Info.MulticastFDBCap)
	start, end = uint(uint32(start)), uint(uint32(end))
	if end == 0 || end > lowest+entries-1 {
		end = lowest + entries - 1
	}
	if top := uint(s.Info.MulticastFDBTop); !p.All && top != 0 && top < end {
		if top < lowest-1 {
			p.Warn(function, "illegal top mlid %x", top)
		} else {
			end = top
		}
	}
	if start == 0 {
		start = lowest
	} else if start < lowest {
		p.Warn(function, "illegal start mlid %x, set to %x", start, lowest)
		start = lowest
	}
	if end > highest {
		p.Warn(function, "illegal end mlid %x, truncate to %x", end, highest)
		end = highest
	}
	return start, end
}

// MulticastTable prints a range of a multicast table. lookup returns the output ports of
// a LID; it reports false for an entry that is unknown, which is omitted.
func (p *Printer) MulticastTable(s *Switch, first, last uint, lookup func(ib.LID) (mad.PortMask, bool)) {
	p.total(p.multicast(s, first, last, lookup), "mlids")
}

// MulticastUntil is [Printer.MulticastTable] without the number of entries if whole is
// false: an entry could not be read.
func (p *Printer) MulticastUntil(s *Switch, first, last uint, lookup func(ib.LID) (mad.PortMask, bool), whole bool) {
	if n := p.multicast(s, first, last, lookup); whole {
		p.total(n, "mlids")
	}
}

func (p *Printer) multicast(s *Switch, first, last uint, lookup func(ib.LID) (mad.PortMask, bool)) (n int) {
	fmt.Fprintf(p.Out, "Multicast mlids [0x%x-0x%x] of switch %s guid %v (%s):\n", first, last, s.PortID, s.GUID, s.Name)
	if p.Brief {
		fmt.Fprint(p.Out, " MLid       Port Mask\n")
	} else {
		p.columns(s.Ports)
	}
	if p.Verbose {
		fmt.Fprintf(p.Out, "Switch multicast mlid capability is %d top is 0x%x\n", s.Info.MulticastFDBCap, uint16(s.Info.MulticastFDBTop))
	}
	for lid := first; lid <= last; lid++ {
		mask, ok := lookup(ib.LID(lid))
		if !ok || mask == (mad.PortMask{}) && !p.All {
			continue
		}
		fmt.Fprintf(p.Out, "0x%04x      %s\n", lid, p.mask(&mask, s.Ports))
		n++
	}
	return n
}

// columns prints the numbers of the ports, tens above units.
func (p *Printer) columns(ports int) {
	if ports > 9 {
		p.Out.WriteString("            ")
		for i := range ports + 1 {
			tens := byte(' ')
			if i%10 == 0 {
				tens = '0' + byte(i/10)
			}
			p.Out.Write([]byte{tens, ' '})
		}
		p.Out.WriteByte('\n')
	}
	p.Out.WriteString("     Ports: ")
	for i := range ports + 1 {
		fmt.Fprintf(p.Out, "%d ", i%10)
	}
	p.Out.WriteString("\n MLid\n")
}

// mask returns the output ports: an x in each column, or four digits for 16 ports.
func (p *Printer) mask(mask *mad.PortMask, ports int) string {
	var b []byte
	if p.Brief {
		for first := 0; first <= ports; first += 16 {
			bits := 0
			for i := range 16 {
				if first+i <= 255 && mask.Has(uint8(first+i)) {
					bits |= 1 << i
				}
			}
			b = fmt.Appendf(b, "%04x", bits)
		}
		return string(b)
	}
	for i := range ports + 1 {
		if mask.Has(uint8(i)) {
			b = append(b, "x "...)
		} else {
			b = append(b, "  "...)
		}
	}
	return string(b)
}

// A Destination is the port with a LID.
type Destination struct {
	Type mad.NodeType
	GUID ib.GUID // of the port
	Name string
	LID  ib.LID // base LID
	LMC  uint8

	text string // that the tools print; "": not formatted yet
}

// ByLID returns the port of each LID, nil for LIDs without one; of several ports the one
// of the last node.
func ByLID(nodes []*fabric.Node, names *fabric.NameMap) []*Destination {
	ports := make([]*Destination, math.MaxUint16+1)
	for _, n := range slices.Backward(nodes) {
		for _, p := range n.Ports {
			if p == nil || p.Info == nil || !p.Info.LID.IsUnicast() {
				continue
			}
			to := &Destination{Type: n.Info.NodeType, GUID: p.GUID, Name: names.Name(n), LID: p.Info.LID, LMC: p.Info.LMC}
			for i := range 1 << p.Info.LMC {
				if lid := int(p.Info.LID) + i; ports[lid] == nil {
					ports[lid] = to
				}
			}
		}
	}
	return ports
}

// Destinations describes the ports of LIDs. The tools print a port with several LIDs at
// the first of them, and the number of the path at the others.
type Destinations struct {
	Find    func(lid ib.LID) *Destination // nil: unknown
	Unknown string                        // text of a LID without a known port

	base, last int // LIDs of the last port with several ones
	guid       ib.GUID
}

func (d *Destinations) appendText(b []byte, lid int, valid bool) []byte {
	switch {
	case lid <= d.last && !valid:
		return fmt.Appendf(b, ": (path #%d - illegal port)", lid-d.base)
	case lid <= d.last && d.guid == 0:
		return fmt.Appendf(b, ": (path #%d out of %d)", lid-d.base+1, d.last-d.base+1)
	case lid <= d.last:
		return fmt.Appendf(b, ": (path #%d out of %d: portguid %v)", lid-d.base+1, d.last-d.base+1, d.guid)
	case !valid:
		return append(b, ": (illegal port)"...)
	}
	d.guid = 0
	to := d.Find(ib.LID(lid))
	if to == nil {
		return append(append(append(b, ": ("...), d.Unknown...), ')')
	}
	d.guid = to.GUID
	if to.LMC > 0 {
		d.base, d.last = int(to.LID), int(to.LID)+1<<to.LMC-1
	}
	if to.text == "" {
		to.text = fmt.Sprintf(": (%s portguid %v: '%s')", typeName(to.Type), to.GUID, to.Name)
	}
	return append(b, to.text...)
}

func typeName(t mad.NodeType) string {
	switch t {
	case mad.NodeTypeCA:
		return "Channel Adapter"
	case mad.NodeTypeSwitch:
		return "Switch"
	case mad.NodeTypeRouter:
		return "Router"
	}
	return fmt.Sprintf("?(%d)?", uint8(t))
}
