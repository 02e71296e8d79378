// Package endpoint has all that one side of a test needs of a device: a protection
// domain of its own, memory, completion queues and connected queue pairs.
package endpoint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
	"github.com/ibkit/ibkit/verbs/dmamem"
)

// GRH is how many bytes a datagram has in front of its payload when it arrives.
const GRH = 40

// Options are what is made.
type Options struct {
	Type      verbs.QPType
	Groups    int // of queue pairs, each with a completion queue of its own
	Lanes     int // queue pairs of each group
	Depth     int // sends under way on a queue pair
	RecvDepth int // receives posted to a queue pair; 0: it receives nothing
	Out, In   int // bytes of memory of a queue pair, to send from and to receive in
	Inline    int // bytes
	Events    bool
	Huge      bool

	OutAccess verbs.Access // what the device may do to memory that is sent from
	InAccess  verbs.Access // and to memory that is received in
	QPAccess  verbs.Access // what the other side may do by a queue pair
}

// An Address is what the other side has to know of a queue pair.
type Address struct {
	QPN  uint32 `json:"qpn"`  // 24 bits
	PSN  uint32 `json:"psn"`  // 24 bits, of the first packet it sends
	Addr uint64 `json:"addr"` // of the memory it receives in
	RKey uint32 `json:"rkey"`
}

// A Group is queue pairs that share a completion queue: those of one thread.
type Group struct {
	CQ    *verbs.CQ
	Lanes []Lane
}

// A Lane is one queue pair and its memory.
type Lane struct {
	QP      *verbs.QP
	Out, In loop.Area
	Address Address
}

// An Endpoint is one side of a test.
type Endpoint struct {
	Groups []Group
	Port   *port.Port

	pd      *verbs.PD
	memory  []*dmamem.Memory
	ah      *verbs.AH
	options Options
}

// New makes an endpoint, whose queue pairs are not connected yet. The port is the
// endpoint's from then on: Close closes it, and so does New where it fails.
func New(p *port.Port, o Options) (*Endpoint, error) {
	e := &Endpoint{Port: p, options: o}
	if err := e.make(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Endpoint) make() error {
	var err error
	o, c := e.options, e.Port.Context
	if e.pd, err = c.AllocPD(); err != nil {
		return err
	}
	total := o.Groups * o.Lanes
	out, err := e.region(total*o.Out, o.OutAccess)
	if err != nil {
		return err
	}
	in, err := e.region(total*o.In, o.InAccess)
	if err != nil {
		return err
	}
	for g := range o.Groups {
		init := verbs.CQInit{Entries: o.Lanes * (o.Depth + o.RecvDepth), Vector: uint32(g) % max(1, c.CompVectors())}
		if o.Events {
			if init.Channel, err = c.NewCompChannel(); err != nil {
				return err
			}
		}
		group := Group{}
		if group.CQ, err = c.CreateCQ(init); err != nil {
			return err
		}
		for n := range o.Lanes {
			at := g*o.Lanes + n
			l := Lane{Out: piece(out, at*o.Out, o.Out), In: piece(in, at*o.In, o.In)}
			if l.QP, err = e.queuePair(group.CQ); err != nil {
				return err
			}
			l.Address = Address{QPN: l.QP.Number(), PSN: rand.Uint32() & 0xffffff, Addr: l.In.Addr, RKey: in.RKey()}
			group.Lanes = append(group.Lanes, l)
		}
		e.Groups = append(e.Groups, group)
	}
	return nil
}

// region registers memory.
func (e *Endpoint) region(size int, access verbs.Access) (*verbs.MR, error) {
	m, err := e.Port.Context.NewMemory(max(size, 1), e.options.Huge && size > 0)
	if err != nil {
		return nil, err
	}
	e.memory = append(e.memory, m)
	return e.pd.RegisterMR(m, access)
}

func piece(mr *verbs.MR, at, length int) loop.Area {
	return loop.Area{Bytes: mr.Bytes()[at : at+length], Addr: mr.Addr() + uint64(at), LKey: mr.LKey()}
}

// queuePair makes one, in the state RESET.
func (e *Endpoint) queuePair(cq *verbs.CQ) (*verbs.QP, error) {
	o := e.options
	// Who posts is a loop with a thread of its own.
	return e.pd.CreateQP(verbs.QPInit{Type: o.Type, SendCQ: cq, RecvCQ: cq, Dedicated: true, Cap: verbs.QPCap{
		MaxSendWR: uint32(o.Depth), MaxRecvWR: uint32(max(1, o.RecvDepth)),
		MaxSendSGE: 1, MaxRecvSGE: 1, MaxInline: uint32(o.Inline),
	}})
}

// Addresses returns those of all queue pairs in their order.
func (e *Endpoint) Addresses() []Address {
	var all []Address
	for _, g := range e.Groups {
		for _, l := range g.Lanes {
			all = append(all, l.Address)
		}
	}
	return all
}

// AH is the way to the other side for datagrams, nil of other types.
func (e *Endpoint) AH() *verbs.AH { return e.ah }

// Close destroys all that was made, and closes the port.
func (e *Endpoint) Close() error {
	var errs []error
	for _, g := range e.Groups {
		for _, l := range g.Lanes {
			errs = append(errs, l.QP.Close())
		}
	}
	e.Groups = nil
	errs = append(errs, e.Port.Close()) // the rest of the objects, and the device
	for _, m := range e.memory {
		errs = append(errs, m.Close())
	}
	e.memory = nil
	return errors.Join(errs...)
}

// A Link is how queue pairs are connected. Zero values are not defaults.
type Link struct {
	GID          netip.Addr // of the other side; not valid: InfiniBand by LID
	GIDIndex     uint8      // of this side
	LID          uint16     // of the other side
	MTU          ib.MTU
	SL           uint8
	TrafficClass uint8
	FlowLabel    uint32
	HopLimit     uint8
	PKeyIndex    uint16
	Timeout      uint8 // see verbs.QPAttr
	RetryCount   uint8
	RNRRetry     uint8
	MinRNRTimer  uint8
	ReadsOut     uint8  // reads and atomics under way from this side
	ReadsIn      uint8  // and from the other side
	QKey         uint32 // of datagrams, both sides'
}

// Begin brings the queue pairs to INIT, where receives can be posted.
func (e *Endpoint) Begin(link Link) error {
	attr := verbs.QPAttr{PKeyIndex: &link.PKeyIndex, Port: &e.Port.Number}
	if e.options.Type == verbs.QPTypeUD {
		attr.QKey = &link.QKey
	} else {
		attr.Access = &e.options.QPAccess
	}
	return e.modify(verbs.QPStateInit, func(int) verbs.QPAttr { return attr })
}

// Connect brings the queue pairs to RTS, each to talk with its peer.
func (e *Endpoint) Connect(link Link, peers []Address) error {
	if n := e.options.Groups * e.options.Lanes; len(peers) != n {
		return fmt.Errorf("connect %d queue pairs: the other side has %d", n, len(peers))
	}
	path := verbs.Path{
		DGID: link.GID, SGIDIndex: link.GIDIndex, FlowLabel: link.FlowLabel, HopLimit: link.HopLimit,
		TrafficClass: link.TrafficClass, DLID: ib.LID(link.LID), SL: link.SL, Port: e.Port.Number,
	}
	kind := e.options.Type
	err := e.modify(verbs.QPStateRTR, func(i int) verbs.QPAttr {
		var attr verbs.QPAttr
		if kind != verbs.QPTypeUD {
			attr.Path, attr.PathMTU, attr.DestQPN, attr.RQPSN = &path, &link.MTU, &peers[i].QPN, &peers[i].PSN
		}
		if kind == verbs.QPTypeRC {
			attr.MaxDestRdAtomic, attr.MinRNRTimer = &link.ReadsIn, &link.MinRNRTimer
		}
		return attr
	})
	if err != nil {
		return err
	}
	local := e.Addresses()
	err = e.modify(verbs.QPStateRTS, func(i int) verbs.QPAttr {
		attr := verbs.QPAttr{SQPSN: &local[i].PSN}
		if kind == verbs.QPTypeRC {
			attr.Timeout, attr.RetryCount, attr.RNRRetry = &link.Timeout, &link.RetryCount, &link.RNRRetry
			attr.MaxRdAtomic = &link.ReadsOut
		}
		return attr
	})
	if err == nil && kind == verbs.QPTypeUD {
		e.ah, err = e.pd.CreateAH(path)
	}
	return err
}

// modify brings all queue pairs to a state.
func (e *Endpoint) modify(to verbs.QPState, attr func(i int) verbs.QPAttr) error {
	i := 0
	for _, g := range e.Groups {
		for _, l := range g.Lanes {
			if err := l.QP.Modify(to, attr(i)); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}
