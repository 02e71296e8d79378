package sim

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// ParseNet parses an ibsim net file. The fabric is the same that ibsim 0.10 simulates
// before a subnet manager has run: the same GUIDs, widths and speeds, and links in state
// Initialize. Errors name the file (name), line and column.
//
// The grammar follows ibsim (the README and sim_net.c) with these exceptions: include is
// rejected, since a reader has no directory ([ReadFile] supports it), as are ibsim console
// commands ("do ...") other than Link and Unlink, and lines that ibsim ignores because they
// are unknown. Extended speeds include NDR, as in ibsim 0.12.
func ParseNet(r io.Reader, name string) (*Fabric, error) {
	n := newNetReader(netRules)
	n.open = func(string) (io.ReadCloser, error) {
		return nil, errors.New("include requires a file")
	}
	return n.load(r, name)
}

// parseNetFile reads a net file and the files that it includes.
func parseNetFile(r io.Reader, name string) (*Fabric, error) {
	n := newNetReader(netRules)
	n.open = func(path string) (io.ReadCloser, error) { return interrupt.Open(path) }
	return n.load(r, name)
}

// Fabric file limits. They exceed the number of LIDs, and keep an error in a file from
// filling the memory.
const (
	maxNetNodes = 1 << 16
	maxNetPorts = 1 << 19
	maxIncludes = 9
)

// rules distinguish net files from topology files.
type rules int

const (
	netRules rules = iota
	topologyRules
)

// A netReader collects the nodes from a file. The fabric is made at the end, because lines
// may refer to later nodes.
type netReader struct {
	rules rules
	open  func(path string) (io.ReadCloser, error)
	depth int // for nested includes

	nodes    []*netNode
	byID     map[string]*netNode
	guids    map[ib.GUID]*netNode
	aliases  map[string]*netPort
	ports    int
	current  *netNode // node for the port lines that follow
	commands []netCommand

	// Assignments to the nodes that follow.
	base, next map[mad.NodeType]ib.GUID
	prefix     string // module=
	vendor     uint32
	device     uint16
	system     ib.GUID
	ability    ability
}

// An ability is the set of widths and speeds that a port has enabled.
type ability struct {
	width ib.LinkWidth
	speed mad.LinkSpeed
	ext   mad.LinkSpeedExt
	fdr10 bool
}

func newNetReader(r rules) *netReader {
	// ibsim has no default GUID for routers: they start at 0.
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
		return nil, fmt.Errorf("read fabric: %s: the file contains no nodes", name)
	}
	return f, nil
}

// read reads a file.
func (n *netReader) read(r io.Reader, name string) error {
	lines := textfile.NewReader(r, name)
	for lines.Next() {
		if err := n.line(&netLine{file: name, number: lines.Line(), text: lines.Text()}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	n.current = nil
	return nil
}

// line reads a line.
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

// lineReader returns the function that reads a line beginning with the given word, nil for
// an unknown word.
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
	case "Chassis", "pdebug": // an ibnetdiscover -g heading; ibsim's debug output
		return func(*netReader, *netLine) error { return nil }
	case "Non": // the other ibnetdiscover -g heading
		return func(_ *netReader, l *netLine) error {
			if !l.accept("-Chassis Nodes") {
				return l.expected(`"Non-Chassis Nodes"`)
			}
			return l.end()
		}
	}
	return nil
}

// guidBase reads the GUID for the next node of a kind: an absolute GUID after =, or an
// offset to the last absolute GUID after +.
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
	if _, err := l.guid(); err != nil { // for port 0
		return err
	}
	return l.end()
}

// assign reads an assignment to the nodes that follow. A vendor ID and a system image
// GUID apply to the next node only.
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
		return l.expected("a nonzero set of bits")
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

// Masks for all widths, speeds and extended speeds.
const (
	maxWidths    = 31
	maxSpeeds    = 7
	maxExtSpeeds = 15
)

// end checks that only a comment follows.
func (l *netLine) end() error {
	l.blanks()
	if l.rest() != "" && l.rest()[0] != '#' {
		return l.expected("the end of the line")
	}
	return nil
}

// module reads the ID prefix for the nodes that follow.
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
		return l.errorf("include %q: more than %d nested files", path, maxIncludes)
	}
	file, err := n.open(path)
	if err != nil {
		return l.errorf("include %q: %w", path, err)
	}
	defer file.Close()
	n.depth++
	defer func() { n.depth-- }()
	if err := n.read(file, path); err != nil {
		return fmt.Errorf("%w (included by %s)", err, l.location())
	}
	return nil
}
