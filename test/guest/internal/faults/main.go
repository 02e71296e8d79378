//go:build linux

// Command faults causes errors on the first device and prints the completions, for
// comparison with test/guest/mlx5/testdata/faults.c. With arguments, it injects faults:
// each is a syndrome and a vendor syndrome. With the argument "windows" alone, it uses
// memory windows; with "overrun", too small completion queues; with "limit", it waits for
// an SRQ limit event. On RoCE, no completion queue is resized. The arguments "iwarp ADDRESS" are
// first on iWARP, where each fault ends the connection at both sides.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

const (
	size  = 4096
	depth = 4
)

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

// A host holds the objects that all faults use.
type host struct {
	context    *verbs.Context
	pd         *verbs.PD
	mr, closed *verbs.MR
	path       verbs.Path
	roce       bool
	atomics    bool
	address    string      // on iWARP, for the connections
	connection *connection // on iWARP, the current one
}

// A side is one of two connected queue pairs.
type side struct {
	host *host
	cq   *verbs.CQ
	qp   *verbs.QP
}

// locate sets the path to the port itself: on RoCE with the GID of index 1.
func (h *host) locate(port verbs.PortAttr) {
	h.path = verbs.Path{DLID: port.LID, Port: 1}
	if h.roce = port.LinkLayer == ib.LinkLayerEthernet; h.roce && h.address == "" {
		h.path = verbs.Path{DGID: must(h.context.GID(1, 1)).GID, SGIDIndex: 1, HopLimit: 1, Port: 1}
	}
}

func (h *host) create() *side { return h.createWith(4*depth, depth) }

func (h *host) createWith(entries int, depth uint32) *side {
	s := &side{host: h, cq: must(h.context.CreateCQ(verbs.CQInit{Entries: entries}))}
	s.qp = must(h.pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeRC, SendCQ: s.cq, RecvCQ: s.cq, Cap: verbs.QPCap{
		MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1,
	}}))
	if h.address != "" {
		check(s.qp.Modify(verbs.QPStateInit, verbs.QPAttr{Port: new(uint8(1)), Access: new(param.Access)}))
		return s
	}
	check(s.qp.Init(1, param))
	return s
}

// param has no retries: each fault ends a connection at once.
var param = verbs.ConnParam{
	Access: verbs.AccessRemoteWrite | verbs.AccessRemoteAtomic, Timeout: 14, MinRNRTimer: 12, MaxRdAtomic: 1, MaxDestRdAtomic: 1,
}

func (s *side) connect(peer *side) {
	check(s.qp.Connect(verbs.RemoteQP{QPN: peer.qp.Number(), Path: s.host.path, MTU: ib.MTU1024}, param))
}

// join connects both sides. On iWARP, the connection manager does.
func (s *side) join(peer *side) {
	if s.host.address == "" {
		s.connect(peer)
		peer.connect(s)
		return
	}
	s.host.connection = manage(s.host.address, s.qp.Number(), peer.qp.Number())
	check(s.qp.Modify(verbs.QPStateRTS, verbs.QPAttr{}))
	check(peer.qp.Modify(verbs.QPStateRTS, verbs.QPAttr{}))
}

func (s *side) receive(id uint64, mr *verbs.MR, length int) {
	must(s.qp.PostRecv([]verbs.RecvWR{{ID: id, SGEs: []verbs.SGE{{Addr: mr.Addr(), Length: uint32(length), LKey: mr.LKey()}}}}))
}

// post posts a request, after changes.
func (s *side) post(opcode verbs.Opcode, length uint32, changes ...func(*verbs.SendWR)) {
	mr := s.host.mr
	wr := verbs.SendWR{
		ID: 1, Opcode: opcode, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{{Addr: mr.Addr(), Length: length, LKey: mr.LKey()}},
		RemoteAddr: mr.Addr(), RKey: mr.RKey(),
	}
	for _, change := range changes {
		change(&wr)
	}
	must(s.qp.PostSend([]verbs.SendWR{wr}))
}

// print waits for n completions and prints them.
func (s *side) print(fault, name string, n int) {
	into := make([]verbs.Completion, 1)
	for n > 0 {
		if must(s.cq.Poll(into)) == 0 {
			continue
		}
		vendor := "0" // as C's %#x; libmlx5 sets it for errors only
		if v := into[0].VendorErr; v != 0 {
			vendor = fmt.Sprintf("%#x", v)
		}
		fmt.Printf("%s: %s %d: status %d vendor %s\n", fault, name, into[0].ID, into[0].Status, vendor)
		n--
	}
}

// faults are error causes. Each returns the number of completions at the peer.
var faults = []struct {
	name  string
	cause func(h *host, a, b *side, name string) (received int)
}{
	{"invalid remote key", func(h *host, a, b *side, name string) int {
		invalid := func(wr *verbs.SendWR) { wr.RKey = h.closed.RKey() }
		b.receive(7, h.mr, 64)
		a.post(verbs.OpWrite, 64, invalid)
		a.post(verbs.OpWrite, 64, invalid, func(wr *verbs.SendWR) { wr.ID = 2 })
		a.print(name, "requester", 2)
		return 1
	}},
	{"no right to read", func(_ *host, a, _ *side, name string) int {
		a.post(verbs.OpRead, 64)
		a.print(name, "requester", 1)
		return 0
	}},
	{"range", func(_ *host, a, _ *side, name string) int {
		a.post(verbs.OpWrite, 64, func(wr *verbs.SendWR) { wr.RemoteAddr += size - 63 })
		a.print(name, "requester", 1)
		return 0
	}},
	{"unaligned atomic", func(_ *host, a, _ *side, name string) int {
		a.post(verbs.OpFetchAdd, 8, func(wr *verbs.SendWR) { wr.RemoteAddr += 4 })
		a.print(name, "requester", 1)
		return 0
	}},
	{"no receive", func(_ *host, a, _ *side, name string) int {
		a.post(verbs.OpSend, 64)
		a.print(name, "requester", 1)
		return 0
	}},
	{"no peer", func(_ *host, a, b *side, name string) int {
		check(b.qp.Close())
		b.qp = nil
		a.post(verbs.OpSend, 64)
		a.print(name, "requester", 1)
		return 0
	}},
	{"receive too short", func(h *host, a, b *side, name string) int {
		b.receive(7, h.mr, 63)
		a.post(verbs.OpSend, 64)
		a.print(name, "requester", 1)
		return 1
	}},
	{"invalid key of a receive", func(h *host, a, b *side, name string) int {
		b.receive(7, h.closed, 64)
		a.post(verbs.OpSend, 64)
		a.print(name, "requester", 1)
		return 1
	}},
	{"invalid local key", func(h *host, a, _ *side, name string) int {
		a.post(verbs.OpWrite, 64, func(wr *verbs.SendWR) { wr.SGEs[0].LKey = h.closed.LKey() })
		a.print(name, "requester", 1)
		return 0
	}},
	{"flush", func(h *host, _, b *side, _ string) int {
		b.receive(7, h.mr, 64)
		b.receive(8, h.mr, 64)
		check(b.qp.Modify(verbs.QPStateError, verbs.QPAttr{}))
		b.post(verbs.OpSend, 64)
		return 3
	}},
}

// run causes a single fault.
func (h *host) run(name string, cause func(h *host, a, b *side, name string) int) {
	a, b := h.create(), h.create()
	a.join(b)
	received := cause(h, a, b, name)
	b.print(name, "responder", received)
	if h.connection != nil {
		h.connection.awaitEnd()
	}
	for _, s := range []*side{a, b} {
		if s.qp != nil {
			check(s.qp.Close())
		}
		check(s.cq.Close())
	}
}

// resize changes the size of a completion queue that has entries.
func (h *host) resize() {
	a, b := h.create(), h.create()
	a.join(b)
	for _, entries := range []int{40, 7, 100} {
		for id := range uint64(3) {
			a.post(verbs.OpWrite, 64, func(wr *verbs.SendWR) { wr.ID = id + 1 })
		}
		a.print("resize", "requester", 1)
		check(a.cq.Resize(entries))
		fmt.Printf("resize: %d entries\n", a.cq.Entries())
		a.print("resize", "requester", 2)
	}
	for _, s := range []*side{a, b} {
		check(s.qp.Close())
		check(s.cq.Close())
	}
}

// A window is a memory window with its current key.
type window struct {
	*verbs.MW
	key uint32
}

// bind binds a memory window with the next key.
func (s *side) bind(name string, w *window, of *verbs.MR) {
	next := w.key&^0xff | (w.key+1)&0xff
	must(s.qp.PostSend([]verbs.SendWR{{
		ID: 5, Opcode: verbs.OpBindMW, Flags: verbs.SendSignaled,
		Bind: &verbs.Bind{Window: w.key, RKey: next, LKey: of.LKey(), Addr: of.Addr(), Length: 64, Access: verbs.AccessRemoteWrite},
	}}))
	s.print(name, "bind", 1)
	w.key = next
}

// access uses a memory window at the peer.
func (s *side) access(name string, opcode verbs.Opcode, w *window, length uint32) {
	s.post(opcode, length, func(wr *verbs.SendWR) { wr.RKey = w.key })
	s.print(name, "requester", 1)
}

func (s *side) invalidate(name string, w *window) {
	must(s.qp.PostSend([]verbs.SendWR{{ID: 6, Opcode: verbs.OpLocalInvalidate, Flags: verbs.SendSignaled, InvalidateKey: w.key}}))
	s.print(name, "invalidate", 1)
}

// windows are uses of a memory window, which is bound to b unless unbound is set.
var windows = []struct {
	name    string
	unbound bool
	use     func(a, b *side, name string, w *window, of *verbs.MR)
}{
	{"region without the right", true, func(_, b *side, name string, w *window, _ *verbs.MR) { b.bind(name, w, b.host.mr) }},
	{"write", false, func(a, _ *side, name string, w *window, _ *verbs.MR) { a.access(name, verbs.OpWrite, w, 64) }},
	{"read", false, func(a, _ *side, name string, w *window, _ *verbs.MR) { a.access(name, verbs.OpRead, w, 64) }},
	{"longer write", false, func(a, _ *side, name string, w *window, _ *verbs.MR) { a.access(name, verbs.OpWrite, w, 65) }},
	{"bound twice", false, func(_, b *side, name string, w *window, of *verbs.MR) { b.bind(name, w, of) }},
	{"invalidated", false, func(a, b *side, name string, w *window, _ *verbs.MR) {
		b.invalidate(name, w)
		a.access(name, verbs.OpWrite, w, 64)
	}},
	{"invalidated by the peer", false, func(a, b *side, name string, w *window, _ *verbs.MR) {
		b.receive(7, b.host.mr, 64)
		a.post(verbs.OpSendInvalidate, 64, func(wr *verbs.SendWR) { wr.InvalidateKey = w.key })
		a.print(name, "requester", 1)
		b.print(name, "responder", 1)
		a.access(name, verbs.OpWrite, w, 64)
	}},
	{"unbound", true, func(_, b *side, name string, w *window, _ *verbs.MR) { b.invalidate(name, w) }},
	{"other queue pair", true, func(a, _ *side, name string, w *window, of *verbs.MR) {
		a.bind(name, w, of)
		a.access(name, verbs.OpWrite, w, 64)
	}},
}

// useWindows uses memory windows on a region.
func (h *host) useWindows(of *verbs.MR) {
	for _, test := range windows {
		mw := must(h.pd.AllocMW())
		w := &window{mw, mw.RKey()}
		h.run(test.name, func(_ *host, a, b *side, name string) int {
			if !test.unbound {
				b.bind(name, w, of)
			}
			test.use(a, b, name, w, of)
			return 0
		})
		check(mw.Close())
	}
}

// event prints an event on a side.
func (s *side) event(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e := must(must(s.host.context.Events()).Next(ctx))
	element, of := "QP", s.qp.ID()
	if e.Type == verbs.EventCQErr {
		element, of = "CQ", s.cq.ID()
	}
	same := 0
	if e.Element == of {
		same = 1
	}
	fmt.Printf("%s: event %d, of the %s: %d\n", name, e.Type, element, same)
}

// overrun has more messages than a completion queue has room for.
func (h *host) overrun(name string, opcode verbs.Opcode, entries [2]int) {
	a, b := h.createWith(entries[0], 8), h.createWith(entries[1], 8)
	full := a
	if entries[1] < entries[0] {
		full = b
	}
	a.join(b)
	for id := range uint64(6) {
		b.receive(id+1, h.mr, 64)
	}
	for id := range uint64(6) {
		a.post(opcode, 64, func(wr *verbs.SendWR) { wr.ID = id + 1 })
	}
	full.event(name)
	full.event(name)
	fmt.Printf("%s: state %d\n", name, must(full.qp.Query()).State)
	if full == b {
		a.print(name, "requester", 6)
	}
	full.print(name, "full", 4)
	resize := 0
	if full.cq.Resize(50) != nil {
		resize = 1
	}
	fmt.Printf("%s: resize %d\n", name, resize)
	more, err := 0, error(nil)
	for wr := []verbs.SendWR{{Opcode: opcode, SGEs: []verbs.SGE{h.mr.SGE(0, 64)}}}; err == nil; more++ {
		_, err = full.qp.PostSend(wr)
	}
	if !errors.Is(err, verbs.ErrFull) {
		check(err)
	}
	fmt.Printf("%s: %d more requests, %d completions\n", name, more-1, must(full.cq.Poll(make([]verbs.Completion, 1))))
	for _, s := range []*side{a, b} {
		check(s.qp.Close())
		check(s.cq.Close())
	}
	for _, kind := range []verbs.ObjectKind{verbs.ObjectCQ, verbs.ObjectQP} {
		if left := must(h.context.Handles(kind)); len(left) > 0 {
			check(fmt.Errorf("%d objects of kind %v are left", len(left), kind))
		}
	}
}

// inject makes the module fail the next request.
func (h *host) inject(codes string) {
	check(os.WriteFile("/sys/module/verbstest/parameters/fault", []byte("0 "+codes), 0o200))
	h.run(codes, func(_ *host, a, _ *side, name string) int {
		a.post(verbs.OpWrite, 64)
		a.print(name, "requester", 1)
		return 0
	})
}

// limit consumes receives from an SRQ until the limit event arrives.
func (h *host) limit() {
	srq := must(h.pd.CreateSRQ(verbs.SRQInit{MaxWR: depth, MaxSGE: 1}))
	a, b := h.create(), &side{host: h, cq: must(h.context.CreateCQ(verbs.CQInit{Entries: 4 * depth}))}
	b.qp = must(h.pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeRC, SendCQ: b.cq, RecvCQ: b.cq, SRQ: srq, Cap: verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}}))
	check(b.qp.Modify(verbs.QPStateInit, verbs.QPAttr{PKeyIndex: new(uint16(0)), Port: new(uint8(1)), Access: new(verbs.Access(0))}))
	a.join(b)
	for id := range uint64(depth) {
		must(srq.PostRecv([]verbs.RecvWR{{ID: id, SGEs: []verbs.SGE{h.mr.SGE(0, 64)}}}))
	}
	check(srq.SetLimit(depth - 1))
	a.post(verbs.OpSend, 64)
	a.post(verbs.OpSend, 64)
	a.print("limit", "requester", 2)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e := must(must(h.context.Events()).Next(ctx))
	fmt.Printf("limit: event %v of the SRQ: %t, limit now %d\n", e.Type, e.Element == srq.ID(), must(srq.Query()).Limit)
}

func main() {
	var address string
	switch {
	case len(os.Args) == 5 && os.Args[1] == "connect":
		serve(os.Args[2], os.Args[3:])
		return
	case len(os.Args) > 2 && os.Args[1] == "iwarp":
		address, os.Args = os.Args[2], os.Args[2:]
	}
	devices := must(verbs.Devices())
	if len(devices) == 0 {
		check(os.ErrNotExist)
	}
	c := must(devices[0].Open())
	h := &host{context: c, address: address, pd: must(c.AllocPD()), atomics: must(c.QueryDevice()).AtomicCap != 0}
	h.locate(must(c.QueryPort(1)))
	memory, access := must(c.NewMemory(size, verbs.MemoryOptions{})), verbs.AccessLocalWrite|verbs.AccessRemoteWrite
	h.mr = must(h.pd.RegisterMR(memory, access|verbs.AccessRemoteAtomic))
	h.closed = must(must(c.AllocPD()).RegisterMR(memory, access))
	switch {
	case len(os.Args) == 2 && os.Args[1] == "limit":
		h.limit()
	case len(os.Args) == 2 && os.Args[1] == "windows":
		h.useWindows(must(h.pd.RegisterMR(memory, verbs.AccessLocalWrite|verbs.AccessMWBind)))
	case len(os.Args) == 2 && os.Args[1] == "overrun":
		h.overrun("overrun by sends", verbs.OpWrite, [2]int{3, 16})
		h.overrun("overrun by receives", verbs.OpSend, [2]int{16, 3})
	default:
		for _, f := range faults {
			if h.atomics || f.name != "unaligned atomic" {
				h.run(f.name, f.cause)
			}
		}
		if !h.roce {
			h.resize()
		}
		for _, codes := range os.Args[1:] {
			h.inject(codes)
		}
	}
	check(c.Close())
	check(memory.Close())
}
