package sim

import (
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// portLine reads what a port of the current node is linked to:
//
//	[1]	"remote"[2]	w=2 s=7 e=4
//	[1](100001) 	"remote"[2](100003)		# lid 3 lmc 0 "name" lid 4 4xHDR
//	@[1]	"alias"
func (n *netReader) portLine(l *netLine) error {
	if n.current == nil {
		return l.errorf("a port line that does not belong to a node: it has to follow the node's line, or another port's")
	}
	isAlias := l.accept("@")
	start := l.at
	p := &netPort{at: l, node: n.current, ability: n.current.ability}
	var err error
	if p.number, err = l.bracketed(); err != nil {
		return err
	}
	if p.number > p.node.spec.Ports {
		l.at = start
		return l.errorf("node %q has ports 1 to %d, not %d", p.node.spec.ID, p.node.spec.Ports, p.number)
	}
	if other := p.node.ports[p.number]; other != nil {
		l.at = start
		return l.errorf("port %d of node %q is in %s already", p.number, p.node.spec.ID, other.at.where())
	}
	if err := l.external(); err != nil {
		return err
	}
	if p.guid, err = l.guid(); err != nil {
		return err
	}
	l.blanks()
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
	if err := n.annotation(l, p); err != nil {
		return err
	}
	p.node.ports[p.number] = p
	return nil
}

// alias reads the name that other nodes know the port by.
func (n *netReader) alias(l *netLine, p *netPort) error {
	start := l.at
	name, err := l.quoted("an alias")
	if err != nil {
		return err
	}
	full := n.prefix + "@" + name
	if other := n.aliases[full]; other != nil || name == "" || strings.ContainsAny(name, "#@") {
		l.at = start
		if other != nil {
			return l.errorf("alias %q is in %s already", full, other.at.where())
		}
		return l.errorf("alias %q: it has to have characters, and neither # nor @", name)
	}
	p.alias = full
	n.aliases[full] = p
	return nil
}

// remote reads the other end of the link; without a number it is port 1.
func (n *netReader) remote(l *netLine, p *netPort) error {
	var err error
	if p.remote, err = l.quoted("the ID of the node at the other end"); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(p.remote, "@"):
		p.remote = n.prefix + p.remote
	case !strings.Contains(p.remote, "@"):
		p.remote = n.expand(p.remote)
	}
	p.remoteNumber = 1
	l.blanks()
	if strings.HasPrefix(l.rest(), "[") {
		if p.remoteNumber, err = l.bracketed(); err != nil {
			return err
		}
	}
	if err := l.external(); err != nil {
		return err
	}
	_, err = l.guid() // the other end has it too
	return err
}

// options reads what the port has enabled: w=, s= and e= are the sets of bits
// that PortInfo has for widths, speeds and extended speeds.
func (p *netPort) options(l *netLine) error {
	for l.blanks(); l.rest() != "" && l.rest()[0] != '#'; l.blanks() {
		start := l.at
		name := l.run(isLetter)
		most := map[string]uint64{"w": maxWidths, "s": maxSpeeds, "e": maxExtSpeeds}[name]
		if most == 0 || !l.accept("=") {
			l.at = start
			return l.expected("w=, s=, e= or a comment (#)")
		}
		start = l.at
		v, err := l.integer("a set of bits", most)
		if err != nil {
			return err
		}
		switch name {
		case "w":
			if p.ability.width = ib.LinkWidth(v); v == 0 {
				l.at = start
				return l.errorf("w=0: a port without a width")
			}
		case "s":
			// To ibsim, 0 is QDR and nothing else.
			p.ability.speed = mad.LinkSpeed(or(v, uint64(ib.QDR)))
		case "e":
			p.ability.ext = mad.LinkSpeedExt(v)
		}
	}
	return nil
}

// annotation reads what ibnetdiscover writes behind a link: LID and LMC of an
// adapter's port, then name, LID, width and speed of the other end.
func (n *netReader) annotation(l *netLine, p *netPort) error {
	comment := l.comment()
	end := comment[strings.LastIndexByte(comment, '"')+1:]
	own, _, _ := strings.Cut(comment, `"`)
	r, known := parseRunning(end)
	kind := p.node.spec.Kind
	switch {
	case n.rules == topologyRules && !known:
		return l.errorf("expected a comment with the LID, width and speed of the link, such as %q", `# "name" lid 4 4xHDR`)
	case n.rules == topologyRules:
		p.running = &r
	case !known || kind == mad.NodeTypeRouter:
		return nil // ibsim passes over what is said of routers
	}
	if kind != mad.NodeTypeSwitch {
		var err error
		if p.lid, p.lmc, err = lidAndLMC(own); err != nil {
			return l.errorf("%w", err)
		}
	}
	r.enable(&p.ability)
	return nil
}
