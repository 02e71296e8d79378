package sim

import (
	"strings"
)

// A netCommand is a "do" line: an ibsim console command that changes links. It is applied
// after all links have been made.
type netCommand struct {
	at   *netLine
	link bool
	ends []netEnd // unlink: one end, link: two
}

// A netEnd identifies a port; number 0 stands for all node ports.
type netEnd struct {
	id     string
	number int
}

// command reads a "do" line.
func (n *netReader) command(l *netLine) error {
	l.blanks()
	start := l.at
	word := l.run(isLetter)
	c := netCommand{at: l, link: strings.EqualFold(word, "Link")}
	if !c.link && !strings.EqualFold(word, "Unlink") {
		l.at = start
		return l.errorf("do %s: not supported in a file (only Link and Unlink)", word)
	}
	ends := 1
	if c.link {
		ends = 2
	}
	for range ends {
		l.blanks()
		id, err := l.quoted("the ID of a node")
		if err != nil {
			return err
		}
		e := netEnd{id: n.expand(id)}
		if c.link || strings.HasPrefix(l.rest(), "[") {
			if e.number, err = l.bracketed(); err != nil {
				return err
			}
		}
		c.ends = append(c.ends, e)
	}
	n.commands = append(n.commands, c)
	return l.end()
}

// apply changes the links.
func (c *netCommand) apply(f *Fabric) error {
	var ports []*Port
	for _, e := range c.ends {
		node := f.byID[e.id]
		if node == nil || e.number >= len(node.Ports) {
			return c.at.lineErrorf("%q[%d] is not in the fabric", e.id, e.number)
		}
		if e.number == 0 {
			for i := range node.Ports {
				f.Disconnect(&node.Ports[i])
			}
			return nil
		}
		ports = append(ports, &node.Ports[e.number])
	}
	if c.link {
		if err := f.Connect(ports[0], ports[1]); err != nil {
			return c.at.lineErrorf("%w", err)
		}
		return nil
	}
	if ports[0].Peer == nil {
		return c.at.lineErrorf("%s is not linked", ports[0])
	}
	f.Disconnect(ports[0])
	return nil
}
