package selftest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/verbs"
)

// A config describes the queue pairs of a session. Zero values have defaults.
type config struct {
	kind    verbs.QPType // QPTypeXRCInit: of requesters; each responder has a target and an SRQ
	pairs   int          // 1
	depth   int          // work requests of each queue; 4
	sges    int          // per work request; 1
	inline  int          // bytes
	room    int          // bytes of each end's memory; 4096
	access  verbs.Access // rights to the memory of the responder; all
	queue   verbs.Access // rights of the requester on the queue pair; all
	limited bool         // access and queue are used as they are
	shared  bool         // responders share a receive queue, and a completion queue
	common  bool         // responders share a completion queue
	events  bool         // completion channels
	huge    bool
	mtu     ib.MTU // that of the port
}

// allRights are the access rights on a responder without restrictions.
const allRights = verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic

// A session is a case's objects: pairs of connected queue pairs, a requester and a
// responder each.
type session struct {
	*tester
	config
	pd      *verbs.PD
	ah      *verbs.AH
	srq     *verbs.SRQ
	xrcd    *verbs.XRCD
	pairs   []pair
	a, b    *end // the first pair
	nextID  uint64
	closers []func() error
}

type pair struct{ a, b *end }

// An end is a queue pair with its completions and memory.
type end struct {
	*verbs.QP
	cq      *verbs.CQ
	channel *verbs.CompChannel
	mr      *verbs.MR
}

// with runs a case in a session. Failures to close an object fail the case.
func (t *tester) with(c config, run func(*session) error) (err error) {
	s := &session{tester: t, config: c, nextID: 1}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(); err != nil {
		return err
	}
	return run(s)
}

func (s *session) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// keep registers an object to close.
func keep[T interface{ Close() error }](s *session, v T, err error) (T, error) {
	if err == nil {
		s.closers = append(s.closers, v.Close)
	}
	return v, err
}

// open creates the objects and connects them.
func (s *session) open() (err error) {
	c := &s.config
	c.pairs, c.depth, c.sges, c.room = max(c.pairs, 1), max(c.depth, 4), max(c.sges, 1), max(c.room, 4096)
	if !c.limited {
		c.access, c.queue = c.access|allRights, c.queue|allRights
	}
	if s.port.Limits.AtomicCap == 0 {
		c.access, c.queue = c.access&^verbs.AccessRemoteAtomic, c.queue&^verbs.AccessRemoteAtomic
	}
	if c.mtu == 0 {
		c.mtu = s.port.Attr.ActiveMTU
	}
	ctx := s.port.Context
	alloc, err := ctx.AllocPD()
	if s.pd, err = keep(s, alloc, err); err != nil {
		return err
	}
	var common *verbs.CQ
	if c.shared {
		srq, err := s.pd.CreateSRQ(verbs.SRQInit{MaxWR: uint32(c.depth * c.pairs), MaxSGE: uint32(c.sges)})
		if s.srq, err = keep(s, srq, err); err != nil {
			return err
		}
	}
	if c.kind == verbs.QPTypeXRCInit {
		xrcd, err := ctx.OpenXRCD(verbs.XRCDInit{})
		if s.xrcd, err = keep(s, xrcd, err); err != nil {
			return err
		}
	}
	for range c.pairs {
		a, err := s.newEnd(nil, nil, verbs.AccessLocalWrite)
		if err != nil {
			return err
		}
		create := s.newEnd
		if c.kind == verbs.QPTypeXRCInit {
			create = s.newTarget
		}
		b, err := create(common, s.srq, c.access)
		if err != nil {
			return err
		}
		if c.shared || c.common {
			common = b.cq
		}
		s.pairs = append(s.pairs, pair{a, b})
	}
	s.a, s.b = s.pairs[0].a, s.pairs[0].b
	if endpoint.Datagrams(c.kind) {
		ah, err := s.pd.CreateAH(s.path())
		if s.ah, err = keep(s, ah, err); err != nil {
			return err
		}
	}
	return s.connect()
}

// newEnd creates a queue pair in the state RESET.
func (s *session) newEnd(cq *verbs.CQ, srq *verbs.SRQ, access verbs.Access) (*end, error) {
	c := s.config
	e, err := s.newQueue(cq, access)
	if err != nil {
		return nil, err
	}
	init := verbs.QPInit{Type: c.kind, SendCQ: e.cq, RecvCQ: e.cq, SRQ: srq, Cap: verbs.QPCap{
		MaxSendWR: uint32(c.depth), MaxRecvWR: uint32(c.depth), MaxSendSGE: uint32(c.sges), MaxRecvSGE: uint32(c.sges), MaxInline: uint32(c.inline),
	}}
	if c.kind == verbs.QPTypeXRCInit {
		init.RecvCQ, init.Cap.MaxRecvWR, init.Cap.MaxRecvSGE = nil, 0, 0
	}
	qp, err := s.pd.CreateQP(init)
	e.QP, err = keep(s, qp, err)
	return e, err
}

// newTarget creates a queue pair of the XRC domain, in the state RESET, and its SRQ.
func (s *session) newTarget(cq *verbs.CQ, _ *verbs.SRQ, access verbs.Access) (*end, error) {
	e, err := s.newQueue(cq, access)
	if err != nil {
		return nil, err
	}
	srq, err := s.pd.CreateSRQ(verbs.SRQInit{MaxWR: uint32(s.depth), MaxSGE: uint32(s.sges), XRCD: s.xrcd, CQ: e.cq})
	if s.srq, err = keep(s, srq, err); err != nil {
		return nil, err
	}
	qp, err := s.xrcd.CreateQP()
	e.QP, err = keep(s, qp, err)
	return e, err
}

// newQueue creates the memory and the completion queue of an end.
func (s *session) newQueue(cq *verbs.CQ, access verbs.Access) (*end, error) {
	c, ctx := s.config, s.port.Context
	e := &end{cq: cq}
	var err error
	if e.mr, err = s.register(c.room, access, c.huge); errors.Is(err, verbs.ErrUnsupported) && !c.limited {
		// Adapters of AWS may lack writes.
		e.mr, err = s.register(c.room, access&^verbs.AccessRemoteWrite, c.huge)
	}
	if err != nil {
		return nil, err
	}
	if c.events {
		ch, err := ctx.NewCompChannel()
		if e.channel, err = keep(s, ch, err); err != nil {
			return nil, err
		}
	}
	if e.cq == nil {
		cq, err := ctx.CreateCQ(verbs.CQInit{Entries: 2 * c.depth * c.pairs, Channel: e.channel})
		if e.cq, err = keep(s, cq, err); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// register allocates and registers memory.
func (s *session) register(length int, access verbs.Access, huge bool) (*verbs.MR, error) {
	m, err := s.port.Context.NewMemory(length, verbs.MemoryOptions{Huge: huge})
	if m, err = keep(s, m, err); err != nil {
		return nil, err
	}
	mr, err := s.pd.RegisterMR(m, access)
	return keep(s, mr, err)
}

// The parameters of all connections. A virtual machine on a busy host may stop for more
// than a second, in which no transport retries may be exceeded.
const (
	testQKey       = 0x11111111
	testHops       = 64
	testTimeout    = 17 // 537 ms
	testRetries    = 3
	testRNRTimer   = 12 // 0.64 ms
	testRNRRetries = 1
)

// path returns the path of loopback.
func (s *session) path() verbs.Path {
	return verbs.Path{
		DGID: s.gid, SGIDIndex: s.index, HopLimit: testHops, DLID: s.port.Attr.LID, Port: s.port.Number,
	}
}

// connect moves all queue pairs from RESET to RTS.
func (s *session) connect() error {
	for _, p := range s.pairs {
		for _, c := range []struct{ from, to *end }{{p.a, p.b}, {p.b, p.a}} {
			if err := s.connectEnd(c.from, c.to); err != nil {
				return err
			}
		}
	}
	return nil
}

// connectEnd moves a queue pair from RESET to RTS.
func (s *session) connectEnd(from, to *end) error {
	reads := uint8(min(s.port.Limits.MaxQPRdAtom, s.port.Limits.MaxQPInitRdAtom, 4))
	return from.Connect(verbs.RemoteQP{QPN: to.Number(), Path: s.path(), MTU: s.mtu}, verbs.ConnParam{
		Access: s.queue, QKey: testQKey, Timeout: testTimeout, RetryCount: testRetries, RNRRetry: testRNRRetries,
		MinRNRTimer: testRNRTimer, MaxRdAtomic: reads, MaxDestRdAtomic: reads,
	})
}

// reconnect resets both ends of all pairs and connects them again.
func (s *session) reconnect() error {
	for _, p := range s.pairs {
		for _, e := range []*end{p.a, p.b} {
			if err := e.Modify(verbs.QPStateReset, verbs.QPAttr{}); err != nil {
				return err
			}
		}
	}
	return s.connect()
}

// id returns an ID that no other work request of the session has.
func (s *session) id() uint64 {
	s.nextID += 0x1_0000_0001
	return s.nextID
}

// send posts a send of local memory with a completion, and returns its ID.
func (s *session) send(e *end, from ...verbs.SGE) (id uint64, err error) {
	return s.post(e, verbs.SendWR{Opcode: verbs.OpSend, Flags: verbs.SendSignaled, SGEs: from})
}

// post posts a send work request with a new ID.
func (s *session) post(e *end, wr verbs.SendWR) (id uint64, err error) {
	wr.ID = s.id()
	s.address(&wr, s.peer(e))
	if s.kind == verbs.QPTypeXRCInit {
		wr.RemoteSRQN = s.srq.Number()
	}
	_, err = e.PostSend([]verbs.SendWR{wr})
	return wr.ID, err
}

// address sets the destination of a datagram.
func (s *session) address(wr *verbs.SendWR, to *end) {
	if !endpoint.Datagrams(s.kind) {
		return
	}
	wr.AH, wr.RemoteQPN = s.ah.Destination(), to.Number()
	if wr.QKey == 0 {
		wr.QKey = testQKey
	}
}

// peer returns the other end of a pair.
func (s *session) peer(e *end) *end {
	for _, p := range s.pairs {
		switch e {
		case p.a:
			return p.b
		case p.b:
			return p.a
		}
	}
	return nil
}

// receive posts a receive work request with a new ID.
func (s *session) receive(e *end, sges ...verbs.SGE) (id uint64, err error) {
	wr := verbs.RecvWR{ID: s.id(), SGEs: sges}
	if s.srq != nil && e != s.a {
		_, err = s.srq.PostRecv([]verbs.RecvWR{wr})
	} else {
		_, err = e.PostRecv([]verbs.RecvWR{wr})
	}
	return wr.ID, err
}

// wait polls n completions.
func (s *session) wait(cq *verbs.CQ, n int) ([]verbs.Completion, error) {
	var all []verbs.Completion
	into := make([]verbs.Completion, n)
	deadline := time.Now().Add(s.timeout)
	for len(all) < n {
		got, err := cq.Poll(into[:n-len(all)])
		all = append(all, into[:got]...)
		switch {
		case err != nil:
			return all, err
		case s.ctx.Err() != nil:
			return all, context.Cause(s.ctx)
		case got == 0 && time.Now().After(deadline):
			return all, fmt.Errorf("got %d of %d completions in %v", len(all), n, s.timeout)
		case got == 0:
			runtime.Gosched()
		}
	}
	return all, nil
}

// place returns the position of a number among those that are pending: the first or, over
// SRD, any.
func (s *session) place(pending []uint64, n uint64) int {
	if s.kind == verbs.QPTypeSRD {
		return max(slices.Index(pending, n), 0)
	}
	return 0
}

// retire checks the completions of pending IDs, and returns the rest of these.
func (s *session) retire(e *end, all []verbs.Completion, pending []uint64, status verbs.Status) ([]uint64, error) {
	pending = slices.Clone(pending)
	for _, c := range all {
		i := s.place(pending, c.ID)
		if err := s.check(c, e, pending[i], status); err != nil {
			return nil, err
		}
		pending = slices.Delete(pending, i, i+1)
	}
	return pending, nil
}

// one waits for a completion and checks its ID, status, opcode and queue pair.
func (s *session) one(e *end, id uint64, want verbs.CompletionOpcode) (verbs.Completion, error) {
	c, err := s.fails(e, id, verbs.StatusOK)
	if err == nil && c.Opcode != want {
		err = fmt.Errorf("completion: got opcode %d, want %d", c.Opcode, want)
	}
	return c, err
}

// fails waits for a completion and checks its ID, queue pair and status, which must be in
// statuses.
func (s *session) fails(e *end, id uint64, statuses ...verbs.Status) (verbs.Completion, error) {
	all, err := s.wait(e.cq, 1)
	if err != nil {
		return verbs.Completion{}, err
	}
	return all[0], s.check(all[0], e, id, statuses...)
}

// deviations are the statuses that drivers report instead of the specified statuses.
// Soft-RoCE detects a wrong key and a short receive buffer only while it executes the work
// request (rxe_req.c, rxe_resp.c), and responds to a message that is too long with the code
// of an error of its own. In Linux 6.12 and 7.2, it changes the queue pair to the error
// state before it completes a work request with a wrong key: the completion is flushed.
var deviations = map[verbs.DriverID]map[verbs.Status][]verbs.Status{
	verbs.DriverRXE: {
		verbs.StatusLocalProt:     {verbs.StatusLocalQPOp, verbs.StatusFlushed},
		verbs.StatusLocalLength:   {verbs.StatusLocalQPOp},
		verbs.StatusRemoteInvalid: {verbs.StatusRemoteOp},
	},
}

// check checks the ID, the queue pair and the status of a completion. It records a status
// that deviates from the specification.
func (s *session) check(c verbs.Completion, e *end, id uint64, statuses ...verbs.Status) error {
	for _, status := range statuses {
		driver := s.port.Context.Driver()
		if c.Status != status && !slices.Contains(deviations[driver][status], c.Status) {
			continue
		}
		switch {
		case c.ID != id:
			return fmt.Errorf("completion: got ID %#x, want %#x", c.ID, id)
		case c.QPN != e.Number():
			return fmt.Errorf("completion: got QP %#x, want %#x", c.QPN, e.Number())
		case c.Status != status:
			s.deviation = fmt.Sprintf("%v instead of %v, as known of %v", c.Status, status, driver)
		}
		return nil
	}
	if c.Status == verbs.StatusOK {
		return fmt.Errorf("completion: got success, want %v", statuses[0])
	}
	return fmt.Errorf("completion: got %v (vendor error %#x), want %v", c.Status, c.VendorErr, statuses[0])
}

// poison is the content of memory that must not change.
const poison = 0xa5

// prepare fills the memory of the requester with random bytes and that of the responder
// with poison.
func (s *session) prepare() {
	random := rand.NewChaCha8([32]byte{byte(s.nextID), byte(s.nextID >> 8)})
	_, _ = random.Read(s.a.mr.Bytes()) // never fails
	b := s.b.mr.Bytes()
	for i := range b {
		b[i] = poison
	}
}

// guard is the number of bytes around received payloads that must not change.
const guard = 64

// verify checks that memory contains a payload at an offset and poison around it.
func verify(memory []byte, at int, payload []byte) error {
	for i, got := range memory[max(at-guard, 0):min(at+len(payload)+guard, len(memory))] {
		i += max(at-guard, 0) - at
		want, where := byte(poison), "beside the payload"
		if i >= 0 && i < len(payload) {
			want, where = payload[i], "of the payload"
		}
		if got != want {
			return fmt.Errorf("byte %d %s: got %#02x, want %#02x", i, where, got, want)
		}
	}
	return nil
}
