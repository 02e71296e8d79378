package ibdiagnet

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// A ListLink is a line in a link list (opensm, osm_dump.c; ibutils, Fabric.cpp):
//
//	{ SW Ports:08 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {name} LID:0003 PN:01 } { CA … } PHY=4x LOG=ACT SPD=50
type ListLink struct {
	Ends  [2]ListEnd
	Width ib.LinkWidth // 0: unknown
	State ib.PortState // PortNoChange: unknown
	Speed ib.Speed     // 0: unknown
}

// A ListEnd is a link end. Info has no LocalPort.
type ListEnd struct {
	Info mad.NodeInfo // with the port's GUID
	Desc string
	LID  ib.LID // of the port; for a switch, of its port 0
	Port uint8
}

// ParseListLine parses a line in a link list. The error names the mistake's position by
// its text.
func ParseListLine(line []byte) (l ListLink, err error) {
	f := listFields{rest: line}
	for i := range l.Ends {
		l.Ends[i] = f.end()
	}
	l.Width, l.State, l.Speed = f.link()
	if f.err != nil {
		return ListLink{}, f.err
	}
	return l, nil
}

// listFields reads a line's fields. It keeps the first error.
type listFields struct {
	rest []byte
	err  error
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
	switch {
	case f.err != nil:
	case len(got) == 0:
		f.err = fmt.Errorf("got the end of the line, want %s", want)
	default:
		f.err = fmt.Errorf("got %s, want %s", textfile.Quote(got), want)
	}
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
	v, err := strconv.ParseUint(string(digits), 16, bits)
	if !ok || err != nil {
		f.fail(name+" and a hexadecimal number", w)
	}
	return v
}

// listTypes are the words for node types. opensm writes "CA-SM" for the subnet
// manager's node.
var listTypes = map[string]mad.NodeType{"SW": mad.NodeTypeSwitch, "CA": mad.NodeTypeCA, "RT": mad.NodeTypeRouter, "Rt": mad.NodeTypeRouter, "RTR": mad.NodeTypeRouter}

// end reads a link end.
func (f *listFields) end() (e ListEnd) {
	f.literal("{")
	word := f.word()
	name, _, _ := strings.Cut(string(word), "-")
	var known bool
	if e.Info.NodeType, known = listTypes[name]; !known {
		f.fail("CA, SW or RT", word)
	}
	e.Info.BaseVersion, e.Info.ClassVersion = 1, 1
	e.Info.NumPorts = uint8(f.number("Ports:", 8))
	e.Info.SystemGUID = ib.GUID(f.number("SystemGUID:", 64))
	e.Info.NodeGUID = ib.GUID(f.number("NodeGUID:", 64))
	e.Info.PortGUID = ib.GUID(f.number("PortGUID:", 64))
	e.Info.VendorID = uint32(f.number("VenID:", 32))
	e.Info.DeviceID = uint16(f.number("DevID:", 32)) // for the second end, opensm writes 8 digits
	e.Info.Revision = uint32(f.number("Rev:", 32))
	f.rest = bytes.TrimLeft(f.rest, " ")
	// The description may contain braces.
	end := bytes.Index(f.rest, []byte("} LID:"))
	if end < 0 || f.rest[0] != '{' {
		f.fail("a description in braces and LID:", f.rest)
		return e
	}
	e.Desc, f.rest = string(f.rest[1:end]), f.rest[end+1:]
	e.LID = ib.LID(f.number("LID:", 16))
	e.Port = uint8(f.number("PN:", 8))
	f.literal("}")
	if f.err == nil && (e.Port == 0 || e.Port > e.Info.NumPorts) {
		f.err = fmt.Errorf("port %s: want 1 to %d", fabric.PortName(e.Info.NodeGUID.String(), int(e.Port)), e.Info.NumPorts)
	}
	return e
}

var (
	listWidths = map[string]ib.LinkWidth{"1x": ib.Width1X, "2x": ib.Width2X, "4x": ib.Width4X, "8x": ib.Width8X, "12x": ib.Width12X}
	listStates = map[string]ib.PortState{"DWN": ib.PortDown, "INI": ib.PortInit, "ARM": ib.PortArmed, "ACT": ib.PortActive, "???": ib.PortNoChange}
	listSpeeds = map[string]ib.Speed{
		"2.5": ib.SDR, "5": ib.DDR, "10": ib.QDR, "FDR10": ib.FDR10, "14": ib.FDR, "25": ib.EDR, "50": ib.HDR, "100": ib.NDR, "200": ib.XDR,
	}
)

var errNoRate = errors.New("want PHY=, LOG= and SPD= after the two ends")

// link reads a link's attributes. opensm writes "??" for widths and speeds that it does
// not know.
func (f *listFields) link() (width ib.LinkWidth, state ib.PortState, speed ib.Speed) {
	w := f.word()
	phy, ok := bytes.CutPrefix(w, []byte("PHY="))
	if !ok && f.err == nil {
		f.err = errNoRate
	}
	width = listWidths[string(phy)]
	w = f.word()
	log, ok := bytes.CutPrefix(w, []byte("LOG="))
	var known bool
	if state, known = listStates[string(log)]; !ok || !known {
		f.fail("LOG= and one of "+strings.Join(slices.Sorted(maps.Keys(listStates)), ", "), w)
	}
	if w = f.word(); len(w) == 0 {
		return width, state, ib.SDR // older programs omit it
	}
	spd, ok := bytes.CutPrefix(w, []byte("SPD="))
	if !ok {
		f.fail("SPD= and a speed", w)
	}
	return width, state, listSpeeds[string(spd)]
}
