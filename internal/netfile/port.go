package netfile

import (
	"cmp"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// portLine reads a port on the current node:
//
//	[1]	"remote"[2]	w=2 s=7 e=4
//	[1](100001) 	"remote"[2](100003)		# lid 3 lmc 0 "name" lid 4 4xHDR
//	@[1]	"alias"
//
// In topology files, a port without a valid comment has a link nevertheless.
func (n *reader) portLine(l *Line) error {
	isAlias := l.Accept("@")
	start := l.At
	number, err := l.Bracketed()
	switch {
	case err != nil:
		return err
	case n.skipped.at > 0:
		n.skipped.lines++
		return nil
	case n.current == nil:
		n.skipPorts()
		l.At = 0
		return l.Errorf("got a port line, want the line of a node before it")
	}
	n.place = Damage{Node: n.current, Port: number}
	p := &Port{At: l, Node: n.current, Number: number, Ability: n.current.Ability}
	if p.Number > p.Node.NumPorts {
		l.At = start
		return l.Errorf("node %q has ports 1 to %d, not %d", p.Node.ID, p.Node.NumPorts, p.Number)
	}
	if other := p.Node.Ports[p.Number]; other != nil {
		l.At = start
		return l.Errorf("duplicate port %d of node %q, defined in %s", p.Number, p.Node.ID, other.At.Location())
	}
	if err := l.external(); err != nil {
		return err
	}
	if p.GUID, err = l.guid(); err != nil {
		return err
	}
	l.Blanks()
	if isAlias {
		err = n.alias(l, p)
	} else {
		err = n.remote(l, p)
	}
	if err != nil {
		return err
	}
	if err := p.options(l); err != nil {
		return err
	}
	if err = n.annotation(l, p); err == nil || n.rules == Topology { // the link is known
		p.Node.Ports[p.Number] = p
	}
	return err
}

// alias reads the name that other nodes use for the port.
func (n *reader) alias(l *Line, p *Port) error {
	start := l.At
	name, err := l.Quoted("an alias")
	if err != nil {
		return err
	}
	full := n.prefix + "@" + name
	if other := n.aliases[full]; other != nil || name == "" || strings.ContainsAny(name, "#@") {
		l.At = start
		if other != nil {
			return l.Errorf("duplicate alias %q, defined in %s", full, other.At.Location())
		}
		return l.Errorf("alias %q: empty, or with # or @", name)
	}
	p.alias = full
	n.aliases[full] = p
	return nil
}

// remote reads the port's peer. The default port number is 1.
func (n *reader) remote(l *Line, p *Port) error {
	var err error
	if p.remote, err = l.Quoted("the ID of the node at the other end"); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(p.remote, "@"):
		p.remote = n.prefix + p.remote
	case !strings.Contains(p.remote, "@"):
		p.remote = n.expand(p.remote)
	}
	p.remoteNumber = 1
	l.Blanks()
	if strings.HasPrefix(l.Rest(), "[") {
		if p.remoteNumber, err = l.Bracketed(); err != nil {
			return err
		}
	}
	if err := l.external(); err != nil {
		return err
	}
	_, err = l.guid() // also on the peer's line
	return err
}

// options reads the options w=, s= and e=: bits for the widths, speeds and extended speeds
// that the port has enabled, as in PortInfo.
func (p *Port) options(l *Line) error {
	for l.Blanks(); l.Rest() != "" && l.Rest()[0] != '#'; l.Blanks() {
		start := l.At
		name := l.Run(IsLetter)
		most := map[string]uint64{"w": MaxWidths, "s": MaxSpeeds, "e": MaxExtSpeeds}[name]
		if most == 0 || !l.Accept("=") {
			l.At = start
			return l.Expected("w=, s=, e= or a comment (#)")
		}
		start = l.At
		v, err := l.Integer("a set of bits", most)
		if err != nil {
			return err
		}
		switch name {
		case "w":
			if p.Ability.Width = ib.LinkWidth(v); v == 0 {
				l.At = start
				return l.Errorf("w=0: no width enabled")
			}
		case "s":
			// ibsim reads 0 as QDR only.
			p.Ability.Speed = mad.LinkSpeed(cmp.Or(v, uint64(ib.QDR)))
		case "e":
			p.Ability.Ext = mad.LinkSpeedExt(v)
		}
	}
	return nil
}

// annotation reads the ibnetdiscover comment on a link: the adapter port's LID and LMC,
// then the peer's name, LID, width and speed.
func (n *reader) annotation(l *Line, p *Port) error {
	comment := l.comment()
	end := comment[strings.LastIndexByte(comment, '"')+1:]
	own, _, _ := strings.Cut(comment, `"`)
	r, known := parseRate(end)
	kind := p.Node.Kind
	switch {
	case n.rules == Topology && !known:
		return l.Errorf("want a comment with LID, width and speed of the link, for example %q", `# "name" lid 4 4xHDR`)
	case n.rules == Topology:
		p.Running = r
	case !known || kind == mad.NodeTypeRouter:
		return nil // ibsim ignores router comments
	}
	if kind != mad.NodeTypeSwitch {
		var err error
		if p.LID, p.LMC, err = lidAndLMC(own); err != nil {
			return l.Errorf("%w", err)
		}
	}
	r.OrDefault().enable(&p.Ability)
	return nil
}
