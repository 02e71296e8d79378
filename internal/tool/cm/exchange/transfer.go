package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// Work request IDs.
const (
	recvID = iota
	sendID
)

// A port has the objects that a device's connections share. All messages are in the
// same memory: the contents do not matter.
type port struct {
	device  *device.Device
	channel *verbs.CompChannel
	memory  *verbs.Memory
	mr      *verbs.MR
	events  []verbs.Completion

	cq    *verbs.CQ        // for the next queue pairs
	room  int              // cq entries that no queue pair uses
	limit int              // entries per completion queue
	nodes map[uint32]*node // by queue pair number
}

// newCQ returns a completion queue with room for a number of entries. left is the number
// of queue pairs that will share it: a separate queue for each would take longer to
// create than the queue pair.
func (p *port) newCQ(entries, left int) (*verbs.CQ, error) {
	if entries > p.room {
		room := max(entries, min(entries*left, p.limit))
		cq, err := p.device.Context.CreateCQ(verbs.CQInit{Entries: room, Channel: p.channel})
		if err != nil {
			return nil, err
		}
		p.cq, p.room = cq, room
	}
	p.room -= entries
	return p.cq, nil
}

// A destination is the datagram peer.
type destination struct {
	ah        *verbs.AH
	qpn, qkey uint32
}

// grhSize is the header size before received data.
func (s *Session) grhSize() int {
	if s.Datagrams {
		return verbs.GRHSize
	}
	return 0
}

// open creates a node's queue pair.
func (s *Session) open(n *node) error {
	a, err := n.id.Addresses()
	if err != nil {
		return failed("query addresses", err)
	}
	d, err := s.devices.Get(a)
	if err != nil {
		return unable(outOfMemory, err, "unable to allocate PD")
	}
	if s.Datagrams {
		if err := s.checkSize(d.Context, a.Port); err != nil {
			return err
		}
	}
	if s.Size == 0 {
		s.Count = 0
	}
	if n.port, err = s.openPort(d); err != nil {
		return err
	}
	depth := uint32(max(s.Count, 1))
	if s.Count >= 0 {
		n.cq, err = n.port.newCQ(2*int(depth), s.connecting)
	} else {
		err = unix.EINVAL
	}
	if err != nil {
		return unable(outOfMemory, err, "unable to create CQ")
	}
	n.qp, err = d.PD.CreateQP(verbs.QPInit{
		Type: s.qpType(), SendCQ: n.cq, RecvCQ: n.cq, SignalAll: true, BlockMulticastLoopback: s.multicast.BlockLoopback,
		Cap: verbs.QPCap{MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err == nil {
		n.port.nodes[n.qp.Number()] = n
		err = n.id.InitQP(n.qp)
	}
	return failed("unable to create QP", err)
}

// openPort creates the objects that a device's connections share.
func (s *Session) openPort(d *device.Device) (*port, error) {
	if found := s.ports[d]; found != nil {
		return found, nil
	}
	p := &port{device: d, events: make([]verbs.Completion, 64), nodes: map[uint32]*node{}}
	attr, err := d.Context.QueryDevice()
	if err != nil {
		return nil, unable(outOfMemory, err, "unable to create CQ")
	}
	p.limit = int(attr.MaxCQE)
	if p.channel, err = d.Context.NewCompChannel(); err != nil {
		return nil, unable(outOfMemory, err, "unable to create CQ")
	}
	if s.Size < 0 {
		err = unix.ENOMEM // as malloc
	} else {
		p.memory, err = d.Context.NewMemory(max(s.Size, 1)+s.grhSize(), verbs.MemoryOptions{})
	}
	if err != nil {
		s.warn(&Error{Op: "failed message allocation", Bare: true})
		return nil, &Error{Op: "failed to create messages: -1", Code: -1}
	}
	if p.mr, err = d.PD.RegisterMR(p.memory, verbs.AccessLocalWrite); err != nil {
		s.warn(&Error{Op: "failed to reg MR", Bare: true})
		return nil, errors.Join(&Error{Op: "failed to create messages: -1", Code: -1}, p.memory.Close())
	}
	s.ports[d] = p
	return p, nil
}

// receive posts a node's receives.
func (s *Session) receive(n *node) error {
	if s.Count == 0 {
		return nil
	}
	wr := verbs.RecvWR{ID: recvID, SGEs: []verbs.SGE{n.port.mr.SGE(0, s.Size+s.grhSize())}}
	_, err := n.qp.PostRecv(slices.Repeat([]verbs.RecvWR{wr}, s.Count))
	return posted("receives", err)
}

// posted returns the failure to post work requests. Its code is a positive error
// number.
func posted(what string, err error) error {
	if err == nil {
		return nil
	}
	code := int(errno(err))
	return &Error{Op: fmt.Sprintf("failed to post %s: %d", what, code), Code: code, Bare: true}
}

// Send posts all connections' messages.
func (s *Session) Send() error {
	for _, n := range s.nodes {
		if !n.connected || s.Count == 0 {
			continue
		}
		wr := verbs.SendWR{ID: sendID, Opcode: verbs.OpSend, SGEs: []verbs.SGE{n.port.mr.SGE(0, s.Size)}}
		if s.Datagrams {
			// The peer replies to the queue pair that the immediate data names.
			wr.Opcode, wr.Imm = verbs.OpSendWithImm, n.qp.Number()
			wr.AH, wr.RemoteQPN, wr.QKey = n.peer.ah.Destination(), n.peer.qpn, n.peer.qkey
		}
		if _, err := n.qp.PostSend(slices.Repeat([]verbs.SendWR{wr}, s.Count)); err != nil {
			return posted("sends", err)
		}
	}
	return nil
}

// AwaitSends waits until all messages have been sent. Failed sends count.
func (s *Session) AwaitSends(ctx context.Context) error {
	return s.awaitAll(ctx, func(n *node) int { return n.sent })
}

// AwaitReceives waits until all messages have been received. Failed receives count.
func (s *Session) AwaitReceives(ctx context.Context) error {
	return s.awaitAll(ctx, func(n *node) int { return n.received })
}

// awaitAll waits for all connections' completions. When a connection ends, its work
// requests are flushed. A goroutine receives events from the first wait on that blocks:
// without a blocking wait, the events can wait.
func (s *Session) awaitAll(ctx context.Context, completed func(*node) int) error {
	watched, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer func() {
		stop()
		watch.Wait()
	}()
	blocks := sync.OnceFunc(func() { watch.Go(func() { s.watch(watched) }) })
	for _, n := range s.nodes {
		if !n.connected {
			continue
		}
		for completed(n) < s.Count {
			if err := n.port.poll(ctx, n.cq, blocks); err != nil {
				return &Error{Op: "failed polling CQ: -1", Code: -1}
			}
		}
	}
	return nil
}

// poll waits for completions from a queue, which the node shares, and counts them. It
// calls blocks before a wait that blocks.
func (p *port) poll(ctx context.Context, cq *verbs.CQ, blocks func()) error {
	count, err := device.Spin(cq, p.events)
	if err == nil && count == 0 {
		if err = cq.Arm(false); err == nil {
			count, err = cq.Poll(p.events)
		}
		if err == nil && count == 0 {
			blocks()
			// An event from another queue: that queue is polled later.
			_, err = p.channel.Wait(ctx)
		}
	}
	for _, c := range p.events[:max(count, 0)] {
		n := p.nodes[c.QPN]
		switch {
		case n == nil:
		case c.ID == sendID:
			n.sent++
		default:
			n.received++
			if n.peer.ah == nil && n.qp.Type() == verbs.QPTypeUD && c.Err() == nil {
				err = errors.Join(err, n.reply(c))
			}
		}
	}
	return err
}

// resolved stores the destination for datagrams to a service.
func (n *node) resolved(d *rdmacm.Datagram) (err error) {
	if d == nil {
		return unable(1, errors.ErrUnsupported, "failure creating address handle")
	}
	n.peer.qpn, n.peer.qkey = d.QPN, d.QKey
	n.peer.ah, err = n.port.device.PD.CreateAH(d.Path)
	return unable(1, err, "failure creating address handle")
}

// reply stores a datagram's sender as the destination.
func (n *node) reply(received verbs.Completion) error {
	a, err := n.id.Addresses()
	if err != nil {
		return err
	}
	path, err := n.port.device.Context.ReplyPath(received, n.port.memory.Bytes(), a.Port)
	if err != nil {
		return err
	}
	own, err := n.qp.Query()
	if err != nil {
		return err
	}
	n.peer.qpn, n.peer.qkey = received.Imm, own.QKey
	n.peer.ah, err = n.port.device.PD.CreateAH(path)
	return err
}
