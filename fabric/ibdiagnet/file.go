// Package ibdiagnet reads and writes ibdiagnet's files (ibutils, ibutils2): the
// ibdiagnet2.db_csv tables, and the link list in ibdiagnet2.lst, which opensm writes as
// opensm-subnet.lst.
package ibdiagnet

import (
	"fmt"

	"github.com/ibkit/ibkit/fabric"
)

// maxNodes is the unicast LID count.
const maxNodes = 0xbfff

// A damage list has the parts of a file that could not be read.
type damage []fabric.Failure

// add appends an error with its position; nil is ignored.
func (d *damage) add(err error) {
	if err != nil {
		*d = append(*d, fabric.Failure{Err: err})
	}
}

// first returns the first error, or another error if there is none.
func (d damage) first(other error) error {
	if len(d) > 0 {
		return d[0].Err
	}
	return other
}

// connect joins two ports. It returns an error if either has another peer, or cannot
// have a link.
func connect(a, b *fabric.Port) error {
	for _, p := range []*fabric.Port{a, b} {
		if p.Number == 0 && p.Node.IsSwitch() {
			return fmt.Errorf("port 0 of switch %v has a link", p.Node.GUID)
		}
	}
	switch {
	case a == b:
		return fmt.Errorf("port %s is linked to itself", portText(a))
	case a.Peer != nil && a.Peer != b:
		return twoLinks(a)
	case b.Peer != nil && b.Peer != a:
		return twoLinks(b)
	}
	a.Peer, b.Peer = b, a
	return nil
}

func twoLinks(p *fabric.Port) error {
	return fmt.Errorf("port %s has another link in an earlier line", portText(p))
}

// portText names a port in an error.
func portText(p *fabric.Port) string { return fabric.PortName(p.Node.GUID.String(), int(p.Number)) }
