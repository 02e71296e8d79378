package netfile

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/plural"
)

// A Damage is a line that could not be read, or a link without its other end.
type Damage struct {
	Node *Node // nil: unknown
	Port int   // 0: unknown
	Err  error // with file and line
}

// maxDamage limits the damage list. Further damage is counted.
const maxDamage = 10_000

// reject adds damage for a line's error, nil for none.
func (n *reader) reject(err error) {
	if err == nil {
		return
	}
	if len(n.damage) == maxDamage {
		n.more++
		return
	}
	n.place.Err = err
	n.damage = append(n.damage, n.place)
}

// rejectLink adds damage for a port's link.
func (n *reader) rejectLink(p *Port, err error) {
	n.place = Damage{Node: p.Node, Port: p.Number}
	n.reject(err)
}

// endDamage adds the damage count beyond the list.
func (n *reader) endDamage(name string) {
	if n.more > 0 {
		n.damage = append(n.damage, Damage{Err: fmt.Errorf("%s: %d more lines and links could not be read", name, n.more)})
	}
}

// skipped counts the port lines of a node that could not be read.
type skipped struct {
	at    int // node line's damage, as an index plus 1; 0: none
	lines int
}

// skipPorts skips the port lines that follow a rejected line.
func (n *reader) skipPorts() { n.skipped = skipped{at: len(n.damage) + 1} }

// endSkipped adds the port lines to the node line's damage.
func (n *reader) endSkipped() {
	if s := n.skipped; s.lines > 0 && s.at <= len(n.damage) {
		d := &n.damage[s.at-1]
		d.Err = fmt.Errorf("%w; %s after it skipped", d.Err, plural.Count(s.lines, "port line", "port lines"))
	}
	n.skipped = skipped{}
}
