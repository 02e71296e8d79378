package sim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ParseNet reads a net file of ibsim. The fabric that it makes is the one that
// ibsim 0.10 makes of it, before a subnet manager ran: the same GUIDs, widths
// and speeds, links in state Initialize. name stands for the file in errors,
// which name the line and the column too; after an error there is no fabric.
//
// Of the lines of the grammar (ibsim's README and its sim_net.c), these are
// refused: include, for the reader has no files beside it ([ReadFile]
// follows them), commands of ibsim's console ("do ...") other than Link and
// Unlink, and all that ibsim passes over because it does not know it.
// Extended speeds include NDR, as of ibsim 0.12.
func ParseNet(r io.Reader, name string) (*Fabric, error) {
	n := newNetReader(netRules)
	n.open = func(string) (io.ReadCloser, error) {
		return nil, errors.New("files can only be included by a file")
	}
	return n.load(r, name)
}

// parseNetFile reads a net file and the files that it includes.
func parseNetFile(r io.Reader, name string) (*Fabric, error) {
	n := newNetReader(netRules)
	n.open = func(path string) (io.ReadCloser, error) { return os.Open(path) }
	return n.load(r, name)
}

// A fabric file has no more than this. It is more than LIDs can name, and keeps
// a mistake in a file from filling the memory.
const (
	maxNetNodes = 1 << 16
	maxNetPorts = 1 << 19
	maxIncludes = 9
)

// rules are what net files and topology files differ in.
type rules int

const (
	netRules rules = iota
	topologyRules
)

// A netReader gathers what fabric files say. The fabric is made when all has
// been read, for a line can name nodes that come later.
type netReader struct {
	rules rules
	open  func(path string) (io.ReadCloser, error)
	depth int // of includes

	nodes    []*netNode
	byID     map[string]*netNode
	guids    map[ib.GUID]*netNode
	aliases  map[string]*netPort
	ports    int
	current  *netNode // whose port lines may follow
	commands []netCommand

	// What lines assign to the nodes that follow.
	base, next map[mad.NodeType]ib.GUID
	prefix     string // module=
	vendor     uint32
	device     uint16
	system     ib.GUID
	ability    ability
}

// ability is what a port has enabled.
type ability struct {
	width ib.LinkWidth
	speed mad.LinkSpeed
	ext   mad.LinkSpeedExt
	fdr10 bool
}

func newNetReader(r rules) *netReader {
	// Routers start at 0: ibsim has no default for them.
	first := func() map[mad.NodeType]ib.GUID {
		return map[mad.NodeType]ib.GUID{mad.NodeTypeCA: 0x100000, mad.NodeTypeSwitch: 0x200000}
	}
	return &netReader{
		rules: r,
		byID:  map[string]*netNode{}, guids: map[ib.GUID]*netNode{}, aliases: map[string]*netPort{},
		base: first(), next: first(),
		ability: ability{width: ib.Width4X, speed: mad.LinkSpeed(ib.SDR)},
	}
}

func (n *netReader) load(r io.Reader, name string) (*Fabric, error) {
	if err := n.read(r, name); err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	f, err := n.build()
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	if len(f.Nodes) == 0 {
		return nil, fmt.Errorf("read fabric: %s: there is no node in it", name)
	}
	return f, nil
}

// read reads the lines of one file.
func (n *netReader) read(r io.Reader, name string) error {
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		if err := n.line(&netLine{file: name, number: number, text: lines.Text()}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", name, number+1, err)
	}
	n.current = nil
	return nil
}

// line reads a line by its first word.
func (n *netReader) line(l *netLine) error {
	switch {
	case l.text == "" || l.text[0] == '#':
		if l.text == "" {
			n.current = nil
		}
		return nil
	case l.text[0] == '[' || l.text[0] == '@':
		return n.portLine(l)
	}
	n.current = nil
	if strings.TrimSpace(l.text) == "" {
		return nil
	}
	if read := lineReader(l.run(isLetter)); read != nil {
		return read(n, l)
	}
	l.at = 0
	return l.expected("a node (Switch, Hca, Ca, Rt), a port ([1]), an assignment (switchguid=) or a comment (#)")
}

// lineReader returns the function that reads the rest of a line with a first word,
// nil for an unknown word.
func lineReader(word string) func(*netReader, *netLine) error {
	node := func(kind mad.NodeType) func(*netReader, *netLine) error {
		return func(n *netReader, l *netLine) error { return n.nodeLine(l, kind) }
	}
	base := func(kind mad.NodeType) func(*netReader, *netLine) error {
		return func(n *netReader, l *netLine) error { return n.guidBase(l, kind) }
	}
	switch word {
	case "Switch":
		return node(mad.NodeTypeSwitch)
	case "Hca", "Ca":
		return node(mad.NodeTypeCA)
	case "Rt":
		return node(mad.NodeTypeRouter)
	case "switchguid":
		return base(mad.NodeTypeSwitch)
	case "hcaguids", "hcaguid", "caguid", "caguids":
		return base(mad.NodeTypeCA)
	case "rtguid":
		return base(mad.NodeTypeRouter)
	case "vendid", "devid", "sysimgguid", "width", "speed", "extspeed":
		return func(n *netReader, l *netLine) error { return n.assign(l, word) }
	case "module":
		return (*netReader).module
	case "include":
		return (*netReader).include
	case "do":
		return (*netReader).command
	case "Chassis", "pdebug": // a heading of ibnetdiscover -g; ibsim's debug output
		return func(*netReader, *netLine) error { return nil }
	case "Non": // the other heading of ibnetdiscover -g
		return func(_ *netReader, l *netLine) error {
			if !l.accept("-Chassis Nodes") {
				return l.expected(`"Non-Chassis Nodes"`)
			}
			return l.end()
		}
	}
	return nil
}

// guidBase reads the GUID of the next node of a kind: an absolute one behind
// =, and behind + one relative to the last absolute one.
func (n *netReader) guidBase(l *netLine, kind mad.NodeType) error {
	l.blanks()
	relative := l.accept("+")
	if !relative && !l.accept("=") {
		return l.expected("= or +")
	}
	l.blanks()
	v, err := l.integer("a GUID", math.MaxUint64)
	if err != nil {
		return err
	}
	if !relative {
		n.base[kind] = ib.GUID(v)
		v = 0
	}
	n.next[kind] = n.base[kind] + ib.GUID(v)
	if _, err := l.guid(); err != nil { // of port 0
		return err
	}
	return l.end()
}

// assign reads a line that holds for the nodes that follow; a vendor ID and a
// system image GUID hold for the next one only.
func (n *netReader) assign(l *netLine, word string) error {
	l.blanks()
	if !l.accept("=") {
		return l.expected("=")
	}
	l.blanks()
	most := map[string]uint64{"vendid": 1<<24 - 1, "devid": math.MaxUint16, "sysimgguid": math.MaxUint64,
		"width": maxWidths, "speed": maxSpeeds, "extspeed": maxExtSpeeds}[word]
	start := l.at
	v, err := l.integer("a value of "+word, most)
	if err != nil {
		return err
	}
	if v == 0 && (word == "width" || word == "speed") {
		l.at = start
		return l.expected("a set of bits other than 0")
	}
	switch word {
	case "vendid":
		n.vendor = uint32(v)
	case "devid":
		n.device = uint16(v)
	case "sysimgguid":
		n.system = ib.GUID(v)
	case "width":
		n.ability.width = ib.LinkWidth(v)
	case "speed":
		n.ability.speed = mad.LinkSpeed(v)
	case "extspeed":
		n.ability.ext = mad.LinkSpeedExt(v)
	}
	return l.end()
}

// All bits that widths, speeds and extended speeds can have.
const (
	maxWidths    = 31
	maxSpeeds    = 7
	maxExtSpeeds = 15
)

// end makes sure that nothing but a comment follows.
func (l *netLine) end() error {
	l.blanks()
	if l.rest() != "" && l.rest()[0] != '#' {
		return l.expected("the end of the line")
	}
	return nil
}

// module reads a prefix for the IDs of the nodes that follow.
func (n *netReader) module(l *netLine) error {
	l.blanks()
	if !l.accept("=") {
		return l.expected("=")
	}
	l.blanks()
	var err error
	n.prefix, err = l.quoted("a prefix")
	return err
}

func (n *netReader) include(l *netLine) error {
	l.blanks()
	start := l.at
	path, err := l.quoted("the path of a file")
	if err != nil {
		return err
	}
	l.at = start
	if n.depth == maxIncludes {
		return l.errorf("include %q: %d files include one another already", path, maxIncludes)
	}
	file, err := n.open(path)
	if err != nil {
		return l.errorf("include %q: %w", path, err)
	}
	defer file.Close()
	n.depth++
	defer func() { n.depth-- }()
	if err := n.read(file, path); err != nil {
		return fmt.Errorf("%w (included by %s)", err, l.where())
	}
	return nil
}
