package sim

import (
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// An action carries out a command.
type action = func(*Fabric, io.Writer) error

func parseUnlink(f *Fabric, l *eventLine) (action, error) {
	ports, err := l.ports(f, 1)
	return func(f *Fabric, _ io.Writer) error {
		for i := range ports {
			f.pull(&ports[i])
		}
		return nil
	}, err
}

func parseLink(f *Fabric, l *eventLine) (action, error) {
	a, err := l.port(f)
	if err != nil || !l.more() {
		return func(f *Fabric, _ io.Writer) error { return f.plugBack(a) }, err
	}
	b, err := l.port(f)
	return func(f *Fabric, _ io.Writer) error { return f.plug(a, b) }, err
}

func parseFlap(f *Fabric, l *eventLine) (action, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, err
	}
	down, err := l.duration("a duration")
	if err != nil {
		return nil, err
	}
	times := uint64(1)
	if l.more() {
		if times, err = l.integer("a number of times", 1<<20); err != nil {
			return nil, err
		}
	}
	where, text := fmt.Sprintf("%s:%d", l.Location(), l.At+1), fmt.Sprintf("flap %s", p)
	var flap func(left uint64) action
	flap = func(left uint64) action {
		return func(f *Fabric, _ io.Writer) error {
			if left == 0 {
				return nil
			}
			f.pull(p)
			f.scheduleAfter(down, Command{where: where, text: text, do: func(f *Fabric, _ io.Writer) error {
				f.scheduleAfter(down, Command{where: where, text: text, do: flap(left - 1)})
				return f.plugBack(p)
			}})
			return nil
		}
	}
	return flap(times), nil
}

func parsePower(on bool) func(*Fabric, *eventLine) (action, error) {
	return func(f *Fabric, l *eventLine) (action, error) {
		n, err := l.node(f)
		return func(f *Fabric, _ io.Writer) error {
			f.setPower(n, on)
			return nil
		}, err
	}
}

func parseSilent(silent bool) func(*Fabric, *eventLine) (action, error) {
	return func(f *Fabric, l *eventLine) (action, error) {
		n, err := l.node(f)
		return func(f *Fabric, _ io.Writer) error {
			n.Silent, f.admin.stale = silent, true
			return nil
		}, err
	}
}

func parseDescribe(f *Fabric, l *eventLine) (action, error) {
	n, err := l.node(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	text := l.Run(func(byte) bool { return true })
	if text == "" {
		err = l.Expected("a description")
	}
	return func(*Fabric, io.Writer) error {
		n.setDescription(mad.NewNodeDescription(text))
		return nil
	}, err
}

func parsePing(f *Fabric, l *eventLine) (action, error) {
	nodes, on, err := l.nodesOn(f)
	return func(*Fabric, io.Writer) error {
		for _, n := range nodes {
			if n.PingServer = ""; on {
				n.PingServer = n.Desc.String()
			}
		}
		return nil
	}, err
}

// nodesOn reads "NODE|all [off]".
func (l *eventLine) nodesOn(f *Fabric) (nodes []*Node, on bool, err error) {
	if nodes, err = l.nodes(f); err != nil {
		return nodes, true, err
	}
	on, err = l.on()
	return nodes, on, err
}

// on reads "[off]".
func (l *eventLine) on() (on bool, err error) {
	if !l.more() {
		return true, nil
	}
	if !l.Accept("off") {
		err = l.Expected("off, or the end of the line")
	}
	return false, err
}

func parseHandOver(f *Fabric, l *eventLine) (action, error) {
	p, err := l.port(f)
	return func(f *Fabric, _ io.Writer) error { return f.handOver(p) }, err
}

func parseSweep(*Fabric, *eventLine) (action, error) {
	return func(f *Fabric, _ io.Writer) error {
		f.admin.activity++
		return f.Configure()
	}, nil
}

// pull disconnects a port and remembers its peer for plugBack.
func (f *Fabric) pull(p *Port) {
	if peer := p.Peer; peer != nil {
		f.Disconnect(p)
		f.remember(p, peer)
		f.remember(peer, p)
	}
}

func (f *Fabric) remember(p, peer *Port) {
	if f.pulled == nil {
		f.pulled = map[*Port]*Port{}
	}
	f.pulled[p] = peer
	if p.Node.off {
		p.down(ib.PhysDisabled)
	}
}

// plug connects two ports unless they are connected to each other.
func (f *Fabric) plug(a, b *Port) error {
	if a.Peer == b {
		return nil
	}
	if err := f.Connect(a, b); err != nil {
		return err
	}
	f.activate(a)
	return nil
}

// plugBack reconnects a port to its last peer.
func (f *Fabric) plugBack(p *Port) error {
	if p.Peer != nil {
		return nil
	}
	peer := f.pulled[p]
	if peer == nil {
		return errors.New("the port had no cable before: the port at the other end is required")
	}
	return f.plug(p, peer)
}

// setPower powers a node on or off. Its links come up and go down with it. The node
// keeps its LIDs.
func (f *Fabric) setPower(n *Node, on bool) {
	if on != n.off {
		return
	}
	n.off, n.Silent = !on, !on
	for i := range n.Ports[1:] {
		p := &n.Ports[1+i]
		if on {
			p.Info.PhysState = ib.PhysPolling
			p.train()
			f.activate(p)
			continue
		}
		p.down(ib.PhysDisabled)
		if p.Peer != nil && p.Peer.Info.PhysState != ib.PhysDisabled {
			p.Peer.down(ib.PhysPolling)
		}
	}
}

// activate sets a new link's state to Active, as the fabric's own subnet manager does if
// it runs.
func (f *Fabric) activate(p *Port) {
	if f.master != nil && !f.master.Node.Silent && p.up() && p.Peer.up() {
		p.Info.State, p.Peer.Info.State = ib.PortActive, ib.PortActive
	}
}

// handOver sets the SM LID on all ports to the LID of another port.
func (f *Fabric) handOver(to *Port) error {
	to = to.Management()
	lid := to.Info.LID
	if lid == 0 {
		return errors.New("the port has no LID")
	}
	to.Info.CapMask |= mad.CapSM
	delete(f.admin.disabled, to)
	if f.master != nil {
		f.master = to
		f.admin.subscriptions = nil // the new manager does not know them
	}
	for _, n := range f.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.Info.LID != 0 {
				p.Info.SMLID = lid
			}
		}
	}
	return nil
}

func parseDump(f *Fabric, l *eventLine) (action, error) {
	nodes := f.Nodes
	if l.more() {
		n, err := l.node(f)
		if err != nil {
			return nil, err
		}
		nodes = []*Node{n}
	}
	return func(_ *Fabric, out io.Writer) error {
		for _, n := range nodes {
			if err := n.dump(out); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// dump writes a node, with a line for each port.
func (n *Node) dump(out io.Writer) error {
	state := ""
	if n.Silent {
		state = ", silent"
	}
	_, err := fmt.Fprintf(out, "%v %q 0x%016x%s\n", n.Info.NodeType, n.ID, n.Info.NodeGUID, state)
	for i := range n.Ports {
		p := &n.Ports[i]
		if err != nil || i == 0 && !n.IsSwitch() {
			continue
		}
		peer := ""
		if p.Peer != nil {
			peer = " " + p.Peer.String()
		}
		_, err = fmt.Fprintf(out, "  [%d] lid %d %v/%v%s\n", i, p.Info.LID, p.Info.State, p.Info.PhysState, peer)
	}
	return err
}
