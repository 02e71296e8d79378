package sim

import (
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// portLine reads a port on the current node:
//
//	[1]	"remote"[2]	w=2 s=7 e=4
//	[1](100001) 	"remote"[2](100003)		# lid 3 lmc 0 "name" lid 4 4xHDR
//	@[1]	"alias"
func (n *netReader) portLine(l *netLine) error {
	if n.current == nil {
		return l.errorf("got a port line, want the line of a node before it")
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
		return l.errorf("duplicate port %d of node %q, defined in %s", p.number, p.node.spec.ID, other.at.location())
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

// alias reads the name that other nodes use for the port.
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
			return l.errorf("duplicate alias %q, defined in %s", full, other.at.location())
		}
		return l.errorf("alias %q: empty, or with # or @", name)
	}
	p.alias = full
	n.aliases[full] = p
	return nil
}

// remote reads the port's peer. The default port number is 1.
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
	_, err = l.guid() // also on the peer's line
	return err
}

// options reads the options w=, s= and e=: bits for the widths, speeds and extended speeds
// that the port has enabled, as in PortInfo.
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
				return l.errorf("w=0: no width enabled")
			}
		case "s":
			// ibsim reads 0 as QDR only.
			p.ability.speed = mad.LinkSpeed(or(v, uint64(ib.QDR)))
		case "e":
			p.ability.ext = mad.LinkSpeedExt(v)
		}
	}
	return nil
}

// annotation reads the ibnetdiscover comment on a link: the adapter port's LID and LMC,
// then the peer's name, LID, width and speed.
func (n *netReader) annotation(l *netLine, p *netPort) error {
	comment := l.comment()
	end := comment[strings.LastIndexByte(comment, '"')+1:]
	own, _, _ := strings.Cut(comment, `"`)
	r, known := parseRunning(end)
	kind := p.node.spec.Kind
	switch {
	case n.rules == topologyRules && !known:
		return l.errorf("want a comment with LID, width and speed of the link, for example %q", `# "name" lid 4 4xHDR`)
	case n.rules == topologyRules:
		p.running = &r
	case !known || kind == mad.NodeTypeRouter:
		return nil // ibsim ignores router comments
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
