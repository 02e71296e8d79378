package sim

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// clientPort implements [umad.Port] and [umad.Responder] for a fabric port.
type clientPort struct {
	at      *Port
	sender  *Sender
	replies replies
	wake    chan struct{}
	listens bool
	closed  bool
}

// Open returns a fabric port to send from. node has the syntax of [Fabric.Place].
func (f *Fabric) Open(node string) (umad.Port, error) {
	at, err := f.Place(node)
	if err != nil {
		return nil, err
	}
	return &clientPort{at: at, sender: f.NewSender(at), wake: make(chan struct{}, 1)}, nil
}

// Opener returns a function that opens a port, as [Fabric.Open] does.
func (f *Fabric) Opener(node string) func(context.Context) (umad.Port, error) {
	return func(context.Context) (umad.Port, error) { return f.Open(node) }
}

// firstPort returns a node's default port.
func (n *Node) firstPort() *Port {
	if n.IsSwitch() {
		return &n.Ports[0]
	}
	for i := range n.Ports {
		if n.Ports[i].up() {
			return &n.Ports[i]
		}
	}
	return &n.Ports[1]
}

// Attr implements [umad.Port].
func (p *clientPort) Attr() umad.PortAttr {
	i := &p.at.Info
	return umad.PortAttr{
		Device:    "sim0",
		Number:    p.at.Number,
		LinkLayer: "InfiniBand",
		NodeGUID:  p.at.Node.Info.NodeGUID,
		PortGUID:  p.at.GUID,
		LID:       i.LID,
		LMC:       i.LMC,
		SMLID:     i.SMLID,
		SMSL:      i.SMSL,
		State:     i.State,
		PhysState: i.PhysState,
		GIDPrefix: i.GIDPrefix,
	}
}

// Send passes a MAD to the fabric. Replies are queued until they are due.
func (p *clientPort) Send(m *umad.Message) error {
	if p.closed {
		return fmt.Errorf("send MAD by %s: %w", p.at, fs.ErrClosed)
	}
	request := p.replies.scratch()
	*request = m.MAD
	d, ok := p.sender.Route(m.Addr.LID, m.Addr.QPN, request)
	if !ok {
		return nil
	}
	from := umad.Addr{LID: m.Addr.LID, QPN: m.Addr.QPN, QKey: m.Addr.QKey}
	p.sender.Exchange(d, request, func(due time.Time, r *mad.Packet, answered bool) {
		if answered {
			p.replies.add(due, from, r)
		}
	})
	p.notify()
	return nil
}

// Listen makes Recv return the packets that the fabric's agents send to the port without a
// request: subnet administration reports. Fabric events then take effect at their time also
// while Recv waits. Only a single port in a fabric can listen.
func (p *clientPort) Listen(s umad.Service) error {
	if p.closed {
		return fmt.Errorf("listen for %v by %s: %w", s.Class, p.at, fs.ErrClosed)
	}
	if s.Class != mad.ClassSA {
		return fmt.Errorf("listen for %v by %s: the port receives responses only", s.Class, p.at)
	}
	if f := p.sender.fabric; f.listener != nil && f.listener != p {
		return fmt.Errorf("listen for %v by %s: %w", s.Class, p.at, umad.ErrTaken)
	}
	p.sender.fabric.listener, p.listens = p, true
	return nil
}

// notify queues the packets for the port that listens.
func (p *clientPort) notify() {
	f := p.sender.fabric
	if f.listener == nil {
		return
	}
	for _, n := range f.Notifications() {
		if l := f.listener; n.To.Management() == l.at.Management() {
			from := umad.Addr{LID: n.From, QPN: n.QPN}
			if n.QPN != 0 {
				from.QKey = qp1QKey
			}
			l.replies.add(time.Time{}, from, &n.MAD)
		}
	}
}

// answer turns a request into its reply and reports whether an agent replies.
func (f *Fabric) answer(d destination, p *mad.Packet) bool {
	switch p.Class() {
	case mad.ClassSMPDirected, mad.ClassSMPLIDRouted:
		return f.answerSMP(d, p)
	case mad.ClassPM:
		return f.answerPerf(d, p)
	case mad.ClassSA:
		return f.answerSA(d, p)
	case mad.ClassCC:
		return f.answerCC(d, p)
	case mad.ClassMlnx:
		return f.answerVendor(d, p)
	case classPing:
		return f.answerPing(d, p)
	}
	return false
}

// Recv returns the next reply that is due.
func (p *clientPort) Recv(m *umad.Message, deadline time.Time) error {
	if p.closed {
		return fmt.Errorf("receive MAD by %s: %w", p.at, fs.ErrClosed)
	}
	for {
		until := deadline
		if p.listens {
			until = p.advance(until)
		}
		if p.replies.len() > 0 {
			due := p.replies.first().due
			if due.IsZero() || !time.Now().Before(due) {
				p.replies.pop(m)
				return nil
			}
			if until.IsZero() || due.Before(until) {
				until = due
			}
		}
		if !deadline.IsZero() && !time.Now().Before(deadline) || !p.sleep(until) {
			return os.ErrDeadlineExceeded
		}
	}
}

// advance applies the events that are due. It returns the next event's time if that is
// earlier than a deadline.
func (p *clientPort) advance(deadline time.Time) time.Time {
	f := p.sender.fabric
	f.Advance()
	p.notify()
	if next, any := f.NextEvent(); any && (deadline.IsZero() || next.Before(deadline)) {
		return next
	}
	return deadline
}

// sleep waits until a time, or forever for the zero time. It reports false if it was
// interrupted.
func (p *clientPort) sleep(until time.Time) bool {
	if until.IsZero() {
		<-p.wake
		return false
	}
	if spin(until) {
		return true
	}
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-p.wake:
		return false
	case <-t.C:
		return true
	}
}

// timerSlack is the maximum delay for runtime timers in an idle process, which waits for
// whole milliseconds.
const timerSlack = time.Millisecond

// spin waits for a time that is too close for a timer. It reports false if the time is not
// that close, or if the clock does not advance, as in tests with a separate clock.
func spin(until time.Time) bool {
	start := time.Now()
	if until.Sub(start) > timerSlack {
		return false
	}
	for looks := 0; ; looks++ {
		switch now := time.Now(); {
		case !now.Before(until):
			return true
		case looks > 100 && now.Equal(start):
			return false
		}
		runtime.Gosched()
	}
}

// Interrupt ends a Recv that is waiting.
func (p *clientPort) Interrupt() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Close implements [umad.Port]. The fabric continues to exist.
func (p *clientPort) Close() error {
	p.closed = true
	if p.listens {
		p.sender.fabric.listener = nil
	}
	return nil
}
