package route

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// readSubnetList reads the nodes and links of a file that opensm writes as
// opensm-subnet.lst and ibdiagnet as ibdiagnet.lst (opensm, osm_dump.c). A line is a
// link with its two ends:
//
//	{ SW Ports:08 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {name} LID:0003 PN:01 } { CA … } PHY=4x LOG=ACT SPD=50
//
// lmc is the LMC of end ports, which the file does not contain.
func (r *Routing) readSubnetList(in io.Reader, file string, lmc uint8) error {
	l := newLineReader(in, file)
	for {
		line, ok := l.next()
		if !ok {
			return l.err()
		}
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		if problem := r.addListed(line, lmc); problem != "" {
			return l.errorf("%s", problem)
		}
	}
}

// addListed adds the link of one line and its nodes.
func (r *Routing) addListed(line []byte, lmc uint8) (problem string) {
	f := listFields{rest: line}
	var ports [2]*Port
	for i := range ports {
		e := f.end()
		if f.problem != "" {
			return f.problem
		}
		if ports[i], problem = r.listedPort(&e, lmc); problem != "" {
			return problem
		}
	}
	width, state, speed := f.link()
	if f.problem != "" {
		return f.problem
	}
	a, b := ports[0], ports[1]
	switch {
	case state == ib.PortDown:
		return ""
	case a == b:
		return fmt.Sprintf("port %d of 0x%016x is linked to itself", a.Number, uint64(a.Node.GUID))
	case a.Peer != nil && a.Peer != b || b.Peer != nil && b.Peer != a:
		return fmt.Sprintf("port %d of 0x%016x has another link in a line before", a.Number, uint64(a.Node.GUID))
	}
	connect(a, b)
	for _, p := range ports {
		p.Width, p.State, p.Speed = width, state, speed
	}
	return ""
}

// A listEnd is one end of a link.
type listEnd struct {
	kind               mad.NodeType
	ports, port        uint8
	nodeGUID, portGUID ib.GUID
	lid                ib.LID
	desc               string
}

// listedPort returns the port of an end of a link and adds its node if it is new.
func (r *Routing) listedPort(e *listEnd, lmc uint8) (*Port, string) {
	n := r.byGUID[e.nodeGUID]
	if n == nil {
		n = r.add(e.nodeGUID, e.kind, e.ports)
		n.Desc = mad.NewNodeDescription(e.desc)
	}
	if n.Type != e.kind || len(n.Ports) != int(e.ports)+1 {
		return nil, fmt.Sprintf("0x%016x is a %v with %d ports, in a line before a %v with %d",
			uint64(n.GUID), e.kind, e.ports, n.Type, len(n.Ports)-1)
	}
	if e.port == 0 || e.port > e.ports {
		return nil, fmt.Sprintf("port %d of 0x%016x: want 1 to %d", e.port, uint64(n.GUID), e.ports)
	}
	p := &n.Ports[e.port]
	p.GUID = e.portGUID
	owner := p
	if n.IsSwitch() {
		owner = &n.Ports[0]
		owner.GUID = e.portGUID
	} else {
		owner.LMC = lmc
	}
	if owner.LID != 0 && owner.LID != e.lid {
		return nil, fmt.Sprintf("port %d of 0x%016x has LID %d, in a line before LID %d", e.port, uint64(n.GUID), e.lid, owner.LID)
	}
	owner.LID = e.lid
	return p, ""
}

// listFields reads the fields of a line. It keeps the first problem.
type listFields struct {
	rest    []byte
	problem string
}

// word returns the next word.
func (f *listFields) word() []byte {
	f.rest = bytes.TrimLeft(f.rest, " ")
	end := bytes.IndexByte(f.rest, ' ')
	if end < 0 {
		end = len(f.rest)
	}
	w := f.rest[:end]
	f.rest = f.rest[end:]
	return w
}

func (f *listFields) fail(want string, got []byte) {
	if f.problem != "" {
		return
	}
	if len(got) == 0 {
		f.problem = fmt.Sprintf("expected %s, found the end of the line", want)
		return
	}
	f.problem = fmt.Sprintf("expected %s, found %s", want, shortened(got))
}

// literal reads a word with a fixed text.
func (f *listFields) literal(text string) {
	if w := f.word(); string(w) != text {
		f.fail(text, w)
	}
}

// number reads a word with a name and a hexadecimal number.
func (f *listFields) number(name string, bits int) uint64 {
	w := f.word()
	digits, ok := bytes.CutPrefix(w, []byte(name))
	v, valid := hexNumber(digits, bits)
	if !ok || !valid {
		f.fail(name+" and a hexadecimal number", w)
	}
	return v
}

// end reads one end of a link.
func (f *listFields) end() (e listEnd) {
	f.literal("{")
	kind := f.word()
	name, _, _ := strings.Cut(string(kind), "-") // CA-SM is the node of the subnet manager
	switch name {
	case "SW":
		e.kind = mad.NodeTypeSwitch
	case "CA":
		e.kind = mad.NodeTypeCA
	case "RT", "Rt", "RTR":
		e.kind = mad.NodeTypeRouter
	default:
		f.fail("CA, SW or RT", kind)
	}
	e.ports = uint8(f.number("Ports:", 8))
	f.number("SystemGUID:", 64)
	e.nodeGUID = ib.GUID(f.number("NodeGUID:", 64))
	e.portGUID = ib.GUID(f.number("PortGUID:", 64))
	f.number("VenID:", 64)
	f.number("DevID:", 64) // of the second end, opensm writes 8 digits
	f.number("Rev:", 64)
	f.rest = bytes.TrimLeft(f.rest, " ")
	// The description may contain braces.
	close := bytes.Index(f.rest, []byte("} LID:"))
	if close < 0 || f.rest[0] != '{' {
		f.fail("a description in braces and LID:", f.rest)
		return e
	}
	e.desc, f.rest = string(f.rest[1:close]), f.rest[close+1:]
	e.lid = ib.LID(f.number("LID:", 16))
	e.port = uint8(f.number("PN:", 8))
	f.literal("}")
	return e
}

var (
	listWidths = map[string]ib.LinkWidth{"1x": ib.Width1X, "2x": ib.Width2X, "4x": ib.Width4X, "8x": ib.Width8X, "12x": ib.Width12X}
	listStates = map[string]ib.PortState{"DWN": ib.PortDown, "INI": ib.PortInit, "ARM": ib.PortArmed, "ACT": ib.PortActive}
	listSpeeds = map[string]ib.Speed{
		"2.5": ib.SDR, "5": ib.DDR, "10": ib.QDR, "FDR10": ib.FDR10, "14": ib.FDR, "25": ib.EDR, "50": ib.HDR, "100": ib.NDR, "200": ib.XDR,
	}
)

// link reads the attributes of a link. opensm writes "??" for widths and speeds that it
// does not know.
func (f *listFields) link() (width ib.LinkWidth, state ib.PortState, speed ib.Speed) {
	w := f.word()
	phy, ok := bytes.CutPrefix(w, []byte("PHY="))
	if !ok {
		f.fail("PHY= and a width", w)
	}
	width = listWidths[string(phy)]
	w = f.word()
	log, ok := bytes.CutPrefix(w, []byte("LOG="))
	if state = listStates[string(log)]; !ok || state == 0 {
		f.fail("LOG= and one of "+strings.Join(slices.Sorted(maps.Keys(listStates)), ", "), w)
	}
	if w = f.word(); len(w) == 0 {
		return width, state, ib.SDR // older programs leave it out
	}
	spd, ok := bytes.CutPrefix(w, []byte("SPD="))
	if !ok {
		f.fail("SPD= and a speed", w)
	}
	return width, state, listSpeeds[string(spd)]
}
