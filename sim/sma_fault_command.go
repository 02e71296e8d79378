package sim

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// switchNode reads a switch's ID or description.
func (l *eventLine) switchNode(f *Fabric) (*Node, error) {
	l.Blanks()
	start := l.At
	n, err := l.node(f)
	if err == nil && !n.IsSwitch() {
		l.At = start
		err = l.Errorf("%q is not a switch", n.ID)
	}
	return n, err
}

// parseLFT parses "lft SWITCH LID PORT".
func parseLFT(f *Fabric, l *eventLine) (action, error) {
	n, err := l.switchNode(f)
	if err != nil {
		return nil, err
	}
	lid, err := l.integer("a LID", linearFDBCap-1)
	if err != nil {
		return nil, err
	}
	port, err := l.integer("a port, or 255 for none", noRoute)
	return func(f *Fabric, _ io.Writer) error {
		n.growLFT(int(lid) + 1)
		n.LFT[lid] = uint8(port)
		f.admin.activity++
		return nil
	}, err
}

// parseTop parses "top SWITCH LID".
func parseTop(f *Fabric, l *eventLine) (action, error) {
	n, err := l.switchNode(f)
	if err != nil {
		return nil, err
	}
	lid, err := l.integer("a LID", 1<<16-1)
	return func(f *Fabric, _ io.Writer) error {
		n.Switch.LinearFDBTop = ib.LID(lid)
		f.admin.activity++
		return nil
	}, err
}

// parsePKeys parses "pkeys PORT P_KEY...".
func parsePKeys(f *Fabric, l *eventLine) (action, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, err
	}
	var keys []mad.PKey
	for len(keys) == 0 || l.more() {
		key, err := l.integer("a P_Key", 1<<16-1)
		if err != nil {
			return nil, err
		}
		if keys = append(keys, mad.PKey(key)); len(keys) > partitionCap {
			return nil, l.Errorf("more than %d P_Keys", partitionCap)
		}
	}
	return func(*Fabric, io.Writer) error {
		p.PKeys = keys
		return nil
	}, nil
}

// parseEnforce parses "enforce PORT [off]".
func parseEnforce(f *Fabric, l *eventLine) (action, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, err
	}
	on, err := l.on()
	return func(*Fabric, io.Writer) error {
		p.Info.PartEnforceInbound, p.Info.PartEnforceOutbound = 0, 0
		if on {
			p.Info.PartEnforceInbound, p.Info.PartEnforceOutbound = 1, 1
		}
		return nil
	}, err
}

// A mute selects requests that a node's subnet management agent does not answer.
type mute struct {
	attr     mad.AttrID
	any      bool // all modifiers
	modifier uint32
}

// isMuted reports whether the agent does not answer a request.
func (n *Node) isMuted(p *mad.Packet) bool {
	return slices.ContainsFunc(n.muted, func(m mute) bool {
		return m.attr == p.Attr() && (m.any || m.modifier == p.Modifier())
	})
}

// parseMute parses "mute NODE ATTRIBUTE [MODIFIER]" and "mute NODE off".
func parseMute(f *Fabric, l *eventLine) (action, error) {
	n, err := l.node(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	start := l.At
	word := l.Run(isBare)
	if word == "off" {
		return func(*Fabric, io.Writer) error {
			n.muted = nil
			return nil
		}, nil
	}
	m := mute{any: true}
	var names []string
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		names = append(names, id.String())
		if strings.EqualFold(id.String(), word) {
			m.attr = id
		}
	}
	if m.attr == 0 {
		l.At = start
		return nil, l.Expected("off, or one of " + strings.Join(names, ", "))
	}
	if l.more() {
		modifier, err := l.integer("a modifier", 1<<32-1)
		if err != nil {
			return nil, err
		}
		m.any, m.modifier = false, uint32(modifier)
	}
	return func(*Fabric, io.Writer) error {
		n.muted = append(n.muted, m)
		return nil
	}, nil
}
