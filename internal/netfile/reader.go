// Package netfile parses two fabric text formats with a common grammar: ibsim's net files
// (README and sim_net.c in ibsim) and topology files, ibnetdiscover's output
// (ibnetdiscover.c in infiniband-diags).
package netfile

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// A File is a net or topology file's content.
type File struct {
	Nodes    []*Node
	Commands []Command
	Damage   []Damage // in file order, then the links
}

// Parse parses a file with its name for messages. open opens the files that it includes.
// Lines and links that could not be read are in [File.Damage]; a file without any node is
// an error. Errors name the file, line and column.
func Parse(r io.Reader, name string, rules Rules, open func(path string) (io.ReadCloser, error)) (*File, error) {
	n := newReader(rules)
	n.open = open
	n.read(r, name)
	n.resolve()
	n.endDamage(name)
	switch {
	case len(n.nodes) > 0:
		return &File{n.nodes, n.commands, n.damage}, nil
	case len(n.damage) > 0:
		return nil, n.damage[0].Err
	}
	return nil, fmt.Errorf("%s: the file contains no nodes", name)
}

// Fabric file limits. They exceed the LID count, and keep an error in a file from
// filling the memory.
const (
	MaxNodes    = 1 << 16
	MaxAllPorts = 1 << 19
	maxIncludes = 9
)

// Rules distinguish net files from topology files.
type Rules int

// The rules.
const (
	NetFile  Rules = iota // ibsim's net files
	Topology              // ibnetdiscover output
)

// A reader collects the nodes from a file. Links are made at the end, because lines may
// refer to later nodes.
type reader struct {
	rules Rules
	open  func(path string) (io.ReadCloser, error)
	depth int // for nested includes

	nodes    []*Node
	byID     map[string]*Node
	guids    map[ib.GUID]*Node
	aliases  map[string]*Port
	ports    int
	current  *Node // node for the port lines that follow
	commands []Command

	damage  []Damage
	more    int // damage beyond maxDamage
	place   Damage
	skipped skipped

	// Assignments to the nodes that follow.
	base, next map[mad.NodeType]ib.GUID
	prefix     string // module=
	vendor     uint32
	device     uint16
	system     ib.GUID
	portGUID   ib.GUID // of a switch's port 0
	known      bool    // the next node's GUID was assigned
	hasIDs     bool    // the next node has one of the three IDs above
	ability    Ability
}

// An Ability is the width and speed set that a port has enabled.
type Ability struct {
	Width ib.LinkWidth
	Speed mad.LinkSpeed
	Ext   mad.LinkSpeedExt
	FDR10 bool
}

func newReader(r Rules) *reader {
	// ibsim has no default GUID for routers: they start at 0.
	first := func() map[mad.NodeType]ib.GUID {
		return map[mad.NodeType]ib.GUID{mad.NodeTypeCA: 0x100000, mad.NodeTypeSwitch: 0x200000}
	}
	return &reader{
		rules: r,
		byID:  map[string]*Node{}, guids: map[ib.GUID]*Node{}, aliases: map[string]*Port{},
		base: first(), next: first(),
		ability: Ability{Width: ib.Width4X, Speed: mad.LinkSpeed(ib.SDR)},
	}
}

// read reads a file.
func (n *reader) read(r io.Reader, name string) {
	lines := textfile.NewReader(r, name)
	for lines.Next() {
		l := &Line{File: name, Number: lines.Line(), Text: lines.Text()}
		if n.rules == Topology {
			l.Text = textfile.Unstyled(l.Text)
		}
		n.place = Damage{}
		n.reject(n.line(l))
	}
	n.place = Damage{}
	n.reject(lines.Err())
	n.endNode()
}

// endNode ends a node's port lines.
func (n *reader) endNode() {
	n.current = nil
	n.endSkipped()
}

// line reads a line.
func (n *reader) line(l *Line) error {
	switch {
	case strings.TrimSpace(l.Text) == "":
		n.endNode()
		return nil
	case l.Text[0] == '#':
		return nil
	case l.Text[0] == '[' || l.Text[0] == '@':
		return n.portLine(l)
	case n.rules == Topology && progress.MatchString(l.Text):
		return nil
	}
	if read := lineReader(l.Run(IsLetter)); read != nil {
		n.endNode()
		return read(n, l)
	}
	l.At = 0
	return l.Expected("a node (Switch, Hca, Ca, Rt), a port ([1]), an assignment (switchguid=) or a comment (#)")
}

// progress is a line that ibnetdiscover -s prints for each node that it reaches.
var progress = lazyregexp.New(`^DR path slid .* -> (?:new|known) [A-Z][A-Za-z ]* \{[0-9a-f]{16}\} portnum \d+ lid `)

// lineReader returns the function that reads a line beginning with the given word, nil for
// an unknown word.
func lineReader(word string) func(*reader, *Line) error {
	node := func(kind mad.NodeType) func(*reader, *Line) error {
		return func(n *reader, l *Line) error { return n.nodeLine(l, kind) }
	}
	base := func(kind mad.NodeType) func(*reader, *Line) error {
		return func(n *reader, l *Line) error { return n.guidBase(l, kind) }
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
		return func(n *reader, l *Line) error { return n.assign(l, word) }
	case "module":
		return (*reader).module
	case "include":
		return (*reader).include
	case "do":
		return (*reader).command
	case "Chassis", "pdebug": // an ibnetdiscover -g heading; ibsim's debug output
		return func(*reader, *Line) error { return nil }
	case "Non": // the other ibnetdiscover -g heading
		return func(_ *reader, l *Line) error {
			if !l.Accept("-Chassis Nodes") {
				return l.Expected(`"Non-Chassis Nodes"`)
			}
			return l.End()
		}
	}
	return nil
}

// guidBase reads the GUID for a kind's next node: an absolute GUID after =, or an
// offset to the last absolute GUID after +.
func (n *reader) guidBase(l *Line, kind mad.NodeType) error {
	l.Blanks()
	relative := l.Accept("+")
	if !relative && !l.Accept("=") {
		return l.Expected("= or +")
	}
	l.Blanks()
	v, err := l.Integer("a GUID", math.MaxUint64)
	if err != nil {
		return err
	}
	if !relative {
		n.base[kind] = ib.GUID(v)
		v = 0
	}
	n.next[kind], n.known = n.base[kind]+ib.GUID(v), true
	if n.portGUID, err = l.guid(); err != nil {
		return err
	}
	return l.End()
}

// assign reads an assignment to the nodes that follow. A vendor ID and a system image
// GUID apply to the next node only.
func (n *reader) assign(l *Line, word string) error {
	l.Blanks()
	if !l.Accept("=") {
		return l.Expected("=")
	}
	l.Blanks()
	most := map[string]uint64{"vendid": 1<<24 - 1, "devid": math.MaxUint16, "sysimgguid": math.MaxUint64,
		"width": MaxWidths, "speed": MaxSpeeds, "extspeed": MaxExtSpeeds}[word]
	start := l.At
	v, err := l.Integer("a value of "+word, most)
	if err != nil {
		return err
	}
	if v == 0 && (word == "width" || word == "speed") {
		l.At = start
		return l.Expected("a nonzero set of bits")
	}
	switch word {
	case "vendid":
		n.vendor, n.hasIDs = uint32(v), true
	case "devid":
		n.device, n.hasIDs = uint16(v), true
	case "sysimgguid":
		n.system, n.hasIDs = ib.GUID(v), true
	case "width":
		n.ability.Width = ib.LinkWidth(v)
	case "speed":
		n.ability.Speed = mad.LinkSpeed(v)
	case "extspeed":
		n.ability.Ext = mad.LinkSpeedExt(v)
	}
	return l.End()
}

// Masks for all widths, speeds and extended speeds.
const (
	MaxWidths    = 31
	MaxSpeeds    = 7
	MaxExtSpeeds = 15
)

// module reads the ID prefix for the nodes that follow.
func (n *reader) module(l *Line) error {
	l.Blanks()
	if !l.Accept("=") {
		return l.Expected("=")
	}
	l.Blanks()
	var err error
	n.prefix, err = l.Quoted("a prefix")
	return err
}

func (n *reader) include(l *Line) error {
	l.Blanks()
	start := l.At
	path, err := l.Quoted("the path of a file")
	if err != nil {
		return err
	}
	l.At = start
	if n.depth == maxIncludes {
		return l.Errorf("include %q: more than %d nested files", path, maxIncludes)
	}
	file, err := n.open(path)
	if err != nil {
		return l.Errorf("include %q: %w", path, err)
	}
	defer file.Close()
	n.depth++
	before := len(n.damage)
	n.read(file, path)
	n.depth--
	for i := range n.damage[before:] {
		d := &n.damage[before+i]
		d.Err = fmt.Errorf("%w (included by %s)", d.Err, l.Location())
	}
	return nil
}
