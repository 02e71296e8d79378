package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

var chassis = Preset{
	Name:  "chassis",
	About: "a modular switch: spine and line boards in a chassis, with hosts",
	Parameters: []Parameter{
		{"model", "IS5600", "Mellanox IS5600, or Voltaire " + strings.Join(slices.Sorted(maps.Keys(voltaireChassis)), ", ")},
		{"lines", "4", "number of line boards"},
		{"hosts", "2", "hosts per chip of a line board"},
		{"systems", "1", "number of chassis, each linked to the next"},
	},
	build: func(b *builder, p *params) {
		systems := p.number("systems", 1, 8)
		var before []*Node
		for i := range systems {
			var lines []*Node
			name := fmt.Sprintf("system%d", i+1)
			if c, ok := voltaireChassis[p.values["model"]]; ok {
				lines = b.voltaire(&c, name, p.number("lines", 1, c.lines))
			} else if p.values["model"] == mellanoxModel {
				lines = b.mellanox(name, p.number("lines", 1, mellanoxLines))
			} else {
				p.fail("model=%s: not one of %s", p.values["model"], strings.Join(append(slices.Sorted(maps.Keys(voltaireChassis)), mellanoxModel), ", "))
			}
			hosts := p.number("hosts", 1, 11)
			if p.err != nil {
				return
			}
			for k, line := range lines {
				for h := range hosts {
					b.connect(line, b.addHost("%s-host%03d", name, k*hosts+h+1))
				}
			}
			if before != nil {
				b.connect(before[0], lines[0])
			}
			before = lines[len(lines)-1:]
		}
	},
}

// The Mellanox IS5600: line boards with 18 internal ports, one to each spine board, and 18
// external ports. All chips are InfiniScale IV; their descriptions contain their slots.
const (
	mellanoxModel  = "IS5600"
	mellanoxLines  = 36
	mellanoxSpines = 18
	mellanoxRadix  = 36
)

// mellanox adds a chassis and returns the line board chips.
func (b *builder) mellanox(name string, lines int) []*Node {
	b.link.Speed = ib.QDR
	system := b.systemGUID()
	board := func(kind string, number int) *Node {
		return b.addSpec(NodeSpec{
			Kind: mad.NodeTypeSwitch, ID: fmt.Sprintf("%s-%s%02d", name, kind, number), Ports: mellanoxRadix, SystemGUID: system,
			Desc: fmt.Sprintf("MF0;%s:%s/%s%02d/U1", name, mellanoxModel, kind, number),
		})
	}
	spines := make([]*Node, mellanoxSpines)
	for i := range spines {
		spines[i] = board("S", i+1)
	}
	out := make([]*Node, lines)
	for i := range out {
		out[i] = board("L", i+1)
		for k, s := range spines {
			b.wire(out[i], mellanoxRadix/2+k+1, s, i+1)
		}
	}
	return out
}

// voltaireChassis are Voltaire's chassis by model. A chip's position follows from the
// wiring between the boards and the device IDs, as in rdma-core's libibnetdisc/chassis.c.
var voltaireChassis = map[string]voltaireModel{
	"ISR9288": {spine: 0x5a08, line: 0x5a09, radix: 24, lines: 12, spines: 4, spineChips: 3, lineChips: 2, inner: 12, speed: ib.SDR},
	"ISR2012": {spine: 0x5a37, line: 0x5a38, radix: 24, lines: 12, spines: 4, spineChips: 3, lineChips: 2, inner: 12, speed: ib.DDR},
	"ISR9096": {spine: 0x5a0b, line: 0x5a09, radix: 24, lines: 4, spines: 4, spineChips: 1, lineChips: 2, inner: 12, speed: ib.SDR},
	"ISR4700": {spine: 0x5a5c, line: 0x5a5b, radix: 36, lines: 18, spines: 9, spineChips: 1, lineChips: 1, inner: 18, speed: ib.QDR},
}

const (
	vendorVoltaire    = 0x8f1
	firstVoltaireGUID = 0x0008f10400400000
)

// A voltaireModel describes the boards in a chassis, their chips and the wiring.
type voltaireModel struct {
	spine, line           uint16 // board device IDs
	radix                 int    // ports per chip
	lines, spines         int    // boards
	spineChips, lineChips int    // chips per board
	inner                 int    // line chip ports to spines, which come first
	speed                 ib.Speed
}

// voltaire adds a chassis and returns the line board chips.
func (b *builder) voltaire(c *voltaireModel, name string, lines int) []*Node {
	b.link.Speed = c.speed
	chips := func(word string, device uint16, boards, chips int) []*Node {
		var out []*Node
		for i := range boards * chips {
			id := fmt.Sprintf("%s-%s%02d-%d", name, word, i/chips+1, i%chips+1)
			out = append(out, b.addSpec(NodeSpec{
				Kind: mad.NodeTypeSwitch, ID: id, Ports: c.radix, VendorID: vendorVoltaire, DeviceID: device,
				GUID: firstVoltaireGUID + ib.GUID(len(b.fabric.Nodes))<<8,
			}))
		}
		return out
	}
	spines := chips("spine", c.spine, c.spines, c.spineChips)
	out := chips("line", c.line, lines, c.lineChips)
	// A line chip's ports are distributed over the spine chips, several in a row if there
	// are more ports than chips. A spine chip's ports follow the line chip order.
	links := c.inner / len(spines)
	for i, line := range out {
		for k := range c.inner {
			b.wire(line, k+1, spines[k/links], i*links+k%links+1)
		}
	}
	return out
}

// wire links a node's port to a port of another node.
func (b *builder) wire(n *Node, port int, m *Node, peer int) {
	if b.err == nil {
		b.err = b.fabric.Connect(&n.Ports[port], &m.Ports[peer])
	}
}

// systemGUID returns the GUID for the next system.
func (b *builder) systemGUID() ib.GUID { return firstSystemGUID + ib.GUID(len(b.fabric.Nodes))<<8 }

const firstSystemGUID = 0x0002c90000a00000
