// Package endpoint creates the verbs objects for a test side: a protection domain,
// memory, completion queues and queue pairs.
package endpoint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"syscall"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/verbs"
)

// GRH is the number of bytes before a received datagram's payload.
const GRH = 40

// Options are an endpoint's properties.
type Options struct {
	Type      verbs.QPType // QPTypeXRCInit: for XRC, each with a target
	Groups    int          // queue pair groups, each with its own completion queue
	GroupSize int          // queue pairs per group
	Depth     int          // sends in flight per queue pair
	RecvDepth int          // receives posted per queue pair; may be 0
	Out, In   int          // send and receive memory per queue pair in bytes
	Inline    int          // bytes
	Events    bool
	Vector    uint32 // completion vector for the first group; the others use the following vectors
	Memory    memory.Source
	Huge      bool
	Polled    bool // the processor polls receive memory
	Shared    bool // a common receive queue with RecvDepth receives for all queue pairs
	Separate  bool // separate memory regions for each queue pair

	OutAccess verbs.Access // device access to send memory
	InAccess  verbs.Access // device access to receive memory
	QPAccess  verbs.Access // peer access through a queue pair
}

// An Address is the queue pair data that the peer needs.
type Address struct {
	QPN  uint32 `json:"qpn"`  // 24 bits; XRC: the target's
	PSN  uint32 `json:"psn"`  // 24 bits, in the first packet sent
	Addr uint64 `json:"addr"` // receive memory address
	RKey uint32 `json:"rkey"`

	// XRC: the queue pair that sends, and the shared receive queue. Number 0 means that
	// a queue pair is not used.
	SendQPN uint32 `json:"send_qpn,omitempty"`
	SendPSN uint32 `json:"send_psn,omitempty"`
	SRQN    uint32 `json:"srqn,omitempty"`
}

// A Group is a thread's queue pairs, which share a completion queue.
type Group struct {
	CQ  *verbs.CQ
	QPs []QueuePair
}

// A QueuePair is a queue pair and its memory.
type QueuePair struct {
	QP      *verbs.QP
	Target  *verbs.QP  // XRC: receives
	SRQ     *verbs.SRQ // XRC: its receive queue
	Out, In loop.Area
	Address Address
}

// An Endpoint is a test side.
type Endpoint struct {
	Groups []Group
	Port   *port.Port

	pd      *verbs.PD
	xrcd    *verbs.XRCD // of XRC
	srq     *verbs.SRQ  // for all queue pairs, with Options.Shared; XRC: for all groups
	memory  *memory.Pool
	ah      *verbs.AH
	options Options
}

// New creates an endpoint with unconnected queue pairs. It takes over the port: Close
// closes it, and so does New on failure.
func New(p *port.Port, o Options) (*Endpoint, error) {
	e := &Endpoint{Port: p, options: o}
	if err := e.create(); err != nil {
		return nil, errors.Join(e.explain(err), e.Close())
	}
	return e, nil
}

// Failure reasons, which New wraps.
var (
	ErrQueueLimit  = errors.New("above a limit of the device")
	ErrInlineLimit = errors.New("the device may not support that much inline data")
	ErrAddressable = errors.New("the processor cannot address this memory")
)

// ErrTransport is wrapped for a queue pair type that the device does not have.
var ErrTransport = errors.New("no such transport on this device")

// explain adds the likely reason to an invalid argument error.
func (e *Endpoint) explain(err error) error {
	o := e.options
	switch {
	case errors.Is(err, verbs.ErrOpcode):
		return fmt.Errorf("create %v queue pair on %s: %w", o.Type, e.Port.Device, ErrTransport)
	case !errors.Is(err, syscall.EINVAL):
	case errors.As(err, new(*verbs.LimitError)):
		return fmt.Errorf("%w (%w)", err, ErrQueueLimit)
	case o.Inline > 0:
		return fmt.Errorf("%w (%w: %d bytes)", err, ErrInlineLimit, o.Inline)
	}
	return err
}

func (e *Endpoint) create() error {
	var err error
	o, c := e.options, e.Port.Context
	if e.memory, err = o.Memory.Open(c); err != nil {
		return err
	}
	if !e.memory.Addressable() && (o.Polled || o.Inline > 0) {
		return fmt.Errorf("%w: no latency of writes and no inline data with memory %v", ErrAddressable, o.Memory)
	}
	if e.pd, err = c.AllocPD(); err != nil {
		return err
	}
	registered := 1 // queue pairs per region pair
	if !o.Separate {
		registered = o.Groups * o.GroupSize
	}
	var r regions
	if o.Type == verbs.QPTypeXRCInit {
		if e.xrcd, err = c.OpenXRCD(verbs.XRCDInit{}); err != nil {
			return err
		}
	} else if o.Shared {
		if e.srq, err = e.pd.CreateSRQ(verbs.SRQInit{MaxWR: uint32(max(1, o.RecvDepth)), MaxSGE: 1}); err != nil {
			return err
		}
	}
	for g := range o.Groups {
		init := verbs.CQInit{Entries: o.GroupSize * (o.Depth + o.RecvDepth), Vector: (o.Vector + uint32(g)) % max(1, c.CompVectors())}
		if o.Events {
			if init.Channel, err = c.NewCompChannel(); err != nil {
				return err
			}
		}
		group := Group{}
		if group.CQ, err = c.CreateCQ(init); err != nil {
			return err
		}
		for n := range o.GroupSize {
			at := (g*o.GroupSize + n) % registered
			if at == 0 {
				if r, err = e.register(registered); err != nil {
					return err
				}
			}
			q := QueuePair{Out: area(r.out, at*o.Out, o.Out), In: area(r.in, at*o.In, o.In)}
			if q.QP, err = e.createQP(group.CQ); err != nil {
				return err
			}
			q.Address = Address{QPN: q.QP.Number(), PSN: rand.Uint32() & 0xffffff, Addr: q.In.Addr, RKey: r.in.RKey()}
			if e.xrcd != nil {
				if err = e.createTarget(&q, group.CQ); err != nil {
					return err
				}
			}
			group.QPs = append(group.QPs, q)
		}
		e.Groups = append(e.Groups, group)
	}
	return nil
}

// regions are the send and the receive memory for queue pairs.
type regions struct{ out, in memory.Region }

// register allocates and registers queue pair memory.
func (e *Endpoint) register(queuePairs int) (r regions, err error) {
	o := e.options
	if r.out, err = e.registerRegion(queuePairs*o.Out, o.outAccess(e.Port.Context.IWARP())); err == nil {
		r.in, err = e.registerRegion(queuePairs*o.In, o.InAccess)
	}
	return r, err
}

// outAccess returns the device access to send memory. On iWARP, the peer answers a read with
// a tagged message, as it writes (RFC 5040, 5.2). perftest grants the access, too.
func (o Options) outAccess(iwarp bool) verbs.Access {
	if iwarp && o.OutAccess&verbs.AccessLocalWrite != 0 {
		return o.OutAccess | verbs.AccessRemoteWrite
	}
	return o.OutAccess
}

func (e *Endpoint) registerRegion(size int, access verbs.Access) (memory.Region, error) {
	return e.memory.Register(e.pd, max(size, 1), access, e.options.Huge && size > 0)
}

func area(r memory.Region, at, length int) loop.Area {
	a := loop.Area{Bytes: r.Bytes[at : at+length], Addr: r.Addr() + uint64(at), LKey: r.LKey(), Offset: at}
	if r.Shared != nil {
		a.Shared = r.Shared
	}
	return a
}

// createTarget creates the receiving part of an XRC queue pair.
func (e *Endpoint) createTarget(q *QueuePair, cq *verbs.CQ) (err error) {
	o := e.options
	if q.SRQ = e.srq; q.SRQ == nil {
		q.SRQ, err = e.pd.CreateSRQ(verbs.SRQInit{MaxWR: uint32(max(1, o.RecvDepth)), MaxSGE: 1, XRCD: e.xrcd, CQ: cq})
		if err != nil {
			return err
		}
		if o.Shared {
			e.srq = q.SRQ
		}
	}
	if q.Target, err = e.xrcd.CreateQP(); err != nil {
		return err
	}
	q.Address.SendQPN, q.Address.SendPSN = q.QP.Number(), q.Address.PSN
	q.Address.QPN, q.Address.SRQN = q.Target.Number(), q.SRQ.Number()
	return nil
}

// createQP creates a queue pair in state RESET.
func (e *Endpoint) createQP(cq *verbs.CQ) (*verbs.QP, error) {
	o := e.options
	if o.Type == verbs.QPTypeXRCInit {
		return e.pd.CreateQP(verbs.QPInit{Type: o.Type, SendCQ: cq, Cap: verbs.QPCap{
			MaxSendWR: uint32(o.Depth), MaxSendSGE: 1, MaxInline: uint32(o.Inline),
		}})
	}
	return e.pd.CreateQP(verbs.QPInit{Type: o.Type, SendCQ: cq, RecvCQ: cq, SRQ: e.srq, Cap: verbs.QPCap{
		MaxSendWR: uint32(o.Depth), MaxRecvWR: uint32(max(1, o.RecvDepth)),
		MaxSendSGE: 1, MaxRecvSGE: 1, MaxInline: uint32(o.Inline),
	}})
}

// QPs returns all queue pairs in order.
func (e *Endpoint) QPs() []QueuePair {
	var all []QueuePair
	for _, g := range e.Groups {
		all = append(all, g.QPs...)
	}
	return all
}

// Addresses returns all queue pair addresses in order.
func (e *Endpoint) Addresses() []Address {
	var all []Address
	for _, q := range e.QPs() {
		all = append(all, q.Address)
	}
	return all
}

// Shared returns the common receive queue, nil without Options.Shared.
//
// With XRC, a receive queue belongs to the first group's completion queue.
func (e *Endpoint) Shared() *verbs.SRQ { return e.srq }

// Datagrams reports whether a type's work requests have an address handle.
func Datagrams(kind verbs.QPType) bool { return kind == verbs.QPTypeUD || kind == verbs.QPTypeSRD }

// AH returns the peer's address handle for datagrams, nil for other types.
func (e *Endpoint) AH() *verbs.AH { return e.ah }

// SetDestination creates the peer's address handle for datagrams from the path to it. The
// queue pairs have been connected by other means than Connect.
func (e *Endpoint) SetDestination(path verbs.Path) (err error) {
	e.ah, err = e.pd.CreateAH(path)
	return err
}

// Close destroys all objects and closes the port.
func (e *Endpoint) Close() error {
	var errs []error
	for _, g := range e.Groups {
		for _, q := range g.QPs {
			errs = append(errs, q.QP.Close())
			if q.Target != nil {
				errs = append(errs, q.Target.Close())
			}
		}
	}
	e.Groups = nil
	errs = append(errs, e.Port.Close()) // with all other objects
	if e.memory != nil {
		errs = append(errs, e.memory.Close())
	}
	return errors.Join(errs...)
}

// A Link describes a queue pair connection. Zero values are used as they are.
type Link struct {
	GID             netip.Addr // peer's GID; invalid: InfiniBand by LID
	GIDIndex        uint8      // local
	LID             ib.LID     // peer's LID
	MTU             ib.MTU
	SL              uint8
	TrafficClass    uint8
	FlowLabel       uint32
	FlowLabels      []uint32 // unless empty: for the queue pairs, in turn
	StaticRate      ib.Rate  // 0: the port's rate
	HopLimit        uint8
	PKeyIndex       uint16
	Timeout         uint8 // see verbs.QPAttr
	RetryCount      uint8
	RNRRetry        uint8
	MinRNRTimer     uint8
	MaxRdAtomic     uint8  // reads and atomics in flight to the peer
	MaxDestRdAtomic uint8  // reads and atomics in flight from the peer
	QKey            uint32 // for datagrams, on both sides
}

// Begin moves the queue pairs to INIT, in which they accept receives.
func (e *Endpoint) Begin(link Link) error {
	return e.each(func(_ int, qp *verbs.QP) error { return qp.Init(e.Port.Number, e.param(link, 0)) })
}

// param returns a queue pair's parameters with its first packet number.
func (e *Endpoint) param(link Link, psn uint32) verbs.ConnParam {
	return verbs.ConnParam{
		PSN: psn, PKeyIndex: link.PKeyIndex, Access: e.options.QPAccess, QKey: link.QKey,
		Timeout: link.Timeout, RetryCount: link.RetryCount, RNRRetry: link.RNRRetry, MinRNRTimer: link.MinRNRTimer,
		MaxRdAtomic: link.MaxRdAtomic, MaxDestRdAtomic: link.MaxDestRdAtomic,
	}
}

// Path returns a link's path.
func (e *Endpoint) Path(link Link) verbs.Path {
	return verbs.Path{
		DGID: link.GID, SGIDIndex: link.GIDIndex, FlowLabel: link.FlowLabel, HopLimit: link.HopLimit,
		TrafficClass: link.TrafficClass, DLID: link.LID, SL: link.SL, Port: e.Port.Number, StaticRate: link.StaticRate,
	}
}

// Connect moves the queue pairs to RTS, each connected to its peer.
func (e *Endpoint) Connect(link Link, peers []Address) error {
	if n := e.options.Groups * e.options.GroupSize; len(peers) != n {
		return fmt.Errorf("connect %d queue pairs: the peer has %d", n, len(peers))
	}
	path, local := e.Path(link), e.Addresses()
	err := e.each(func(i int, qp *verbs.QP) error {
		if !peers[i].uses(qp) {
			return nil
		}
		if n := len(link.FlowLabels); n > 0 {
			path.FlowLabel = link.FlowLabels[i%n]
		}
		peer := verbs.RemoteQP{Path: path, MTU: link.MTU}
		peer.QPN, peer.PSN = peers[i].of(qp)
		return qp.Connect(peer, e.param(link, local[i].PSN))
	})
	kind := e.options.Type
	if err == nil && Datagrams(kind) {
		e.ah, err = e.pd.CreateAH(path)
	}
	if err == nil && link.StaticRate != 0 && !Datagrams(kind) {
		err = e.checkRate(link.StaticRate)
	}
	return err
}

// ErrRate is returned if the device does not limit a queue pair's rate.
var ErrRate = errors.New("the device does not limit the rate")

// checkRate checks that the device has accepted a rate: some ignore it.
func (e *Endpoint) checkRate(want ib.Rate) error {
	for _, g := range e.Groups {
		for _, q := range g.QPs {
			status, err := q.QP.Query()
			if err != nil {
				return err
			}
			if got := status.Path.StaticRate; got != want {
				return fmt.Errorf("limit QP %#x of %s to %v Gb/s: %w", q.QP.Number(), e.Port.Device, want.Gbps(), ErrRate)
			}
		}
	}
	return nil
}

// each calls f for the queue pairs, for either part with XRC, with their index in QPs.
func (e *Endpoint) each(f func(i int, qp *verbs.QP) error) error {
	for i, q := range e.QPs() {
		for _, qp := range []*verbs.QP{q.QP, q.Target} {
			if qp == nil {
				continue
			}
			if err := f(i, qp); err != nil {
				return err
			}
		}
	}
	return nil
}

// of returns the number of the peer's queue pair that a local queue pair is connected to,
// and its first packet number.
func (a *Address) of(qp *verbs.QP) (qpn, psn uint32) {
	if qp.Type() == verbs.QPTypeXRCTarget {
		return a.SendQPN, a.SendPSN
	}
	return a.QPN, a.PSN
}

// uses reports whether the peer has a queue pair for a local queue pair: both XRC parts
// are optional.
func (a *Address) uses(qp *verbs.QP) bool {
	switch qp.Type() {
	case verbs.QPTypeXRCInit, verbs.QPTypeXRCTarget:
		qpn, _ := a.of(qp)
		return qpn != 0
	}
	return true
}
