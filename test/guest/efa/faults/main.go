// Program faults causes errors of SRD and prints the completions, for comparison with
// testdata/faults.c. With arguments, the module injects faults: each is a status and another
// code.
package main

import (
	"fmt"
	"os"

	"github.com/ibkit/ibkit/verbs"
)

// The same as in faults.c.
const (
	size  = 4096
	depth = 4
	qkey  = 0x11111111
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
	context           *verbs.Context
	pd                *verbs.PD
	mr, local, closed *verbs.MR
	ah, nowhere       *verbs.AH
}

// A side is one of two queue pairs.
type side struct {
	host *host
	cq   *verbs.CQ
	qp   *verbs.QP // nil after its end
}

func (h *host) create() *side {
	s := &side{host: h, cq: must(h.context.CreateCQ(verbs.CQInit{Entries: 4 * depth}))}
	s.qp = must(h.pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeSRD, SendCQ: s.cq, RecvCQ: s.cq, Cap: verbs.QPCap{
		MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1,
	}}))
	check(s.qp.Init(1, verbs.ConnParam{QKey: qkey}))
	check(s.qp.Modify(verbs.QPStateRTR, verbs.QPAttr{}))
	check(s.qp.Modify(verbs.QPStateRTS, verbs.QPAttr{SQPSN: new(uint32(0)), RNRRetry: new(uint8(0))}))
	return s
}

func (s *side) close() {
	if s.qp != nil {
		check(s.qp.Close())
	}
	check(s.cq.Close())
}

func (s *side) receive(id uint64, mr *verbs.MR, length uint32) {
	must(s.qp.PostRecv([]verbs.RecvWR{{ID: id, SGEs: []verbs.SGE{{Addr: mr.Addr(), Length: length, LKey: mr.LKey()}}}}))
}

// request returns a valid send to the side.
func (s *side) request() verbs.SendWR {
	mr := s.host.mr
	return verbs.SendWR{
		ID: 1, Opcode: verbs.OpSend, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{mr.SGE(0, 64)},
		AH: s.host.ah.Destination(), RemoteQPN: s.qp.Number(), QKey: qkey, RemoteAddr: mr.Addr(), RKey: mr.RKey(),
	}
}

func (s *side) post(wr verbs.SendWR) { must(s.qp.PostSend([]verbs.SendWR{wr})) }

// print waits for n completions and prints them.
func (s *side) print(fault, name string, n int) {
	into := make([]verbs.Completion, 1)
	for n > 0 {
		if must(s.cq.Poll(into)) == 0 {
			continue
		}
		vendor := "0" // as C's %#x
		if v := into[0].VendorErr; v != 0 {
			vendor = fmt.Sprintf("%#x", v)
		}
		fmt.Printf("%s: %s %d: status %d vendor %s\n", fault, name, into[0].ID, into[0].Status, vendor)
		n--
	}
}

// A fault is an error cause: a change in the request to b, or a receive at b.
type fault struct {
	name    string
	change  func(h *host, wr *verbs.SendWR)
	receive func(h *host, b *side)
}

var faults = []fault{
	{name: "invalid remote key", change: func(h *host, wr *verbs.SendWR) { wr.Opcode, wr.RKey = verbs.OpRead, h.closed.RKey() }},
	{name: "no right to read", change: func(h *host, wr *verbs.SendWR) { wr.Opcode, wr.RKey = verbs.OpRead, h.local.RKey() }},
	{name: "range", change: func(_ *host, wr *verbs.SendWR) { wr.Opcode, wr.RemoteAddr = verbs.OpRead, wr.RemoteAddr+size-63 }},
	{name: "unknown queue pair", change: func(_ *host, wr *verbs.SendWR) { wr.RemoteQPN += 100 }},
	{name: "wrong QKey", change: func(_ *host, wr *verbs.SendWR) { wr.QKey++ }},
	{name: "unreachable", change: func(h *host, wr *verbs.SendWR) { wr.AH = h.nowhere.Destination() }},
	{name: "no peer", receive: func(_ *host, b *side) {
		check(b.qp.Close())
		b.qp = nil
	}},
	{name: "no receive"},
	{name: "receive too short", receive: func(h *host, b *side) { b.receive(7, h.mr, 63) }},
	{name: "invalid key of a receive", receive: func(h *host, b *side) { b.receive(7, h.closed, 64) }},
	{name: "invalid local key", change: func(h *host, wr *verbs.SendWR) { wr.SGEs[0].LKey = h.closed.LKey() }},
	{name: "local range", change: func(_ *host, wr *verbs.SendWR) { wr.SGEs[0].Length = size + 1 }},
	{name: "too long", change: func(_ *host, wr *verbs.SendWR) { wr.SGEs[0].Length = 2*size + 1 }},
}

// run causes a fault. A failed message does not end others: another one follows.
func (h *host) run(f fault) {
	a, b := h.create(), h.create()
	defer b.close()
	defer a.close()
	wr := b.request()
	if f.receive != nil {
		f.receive(h, b)
	}
	if f.change != nil {
		f.change(h, &wr)
	}
	a.post(wr)
	a.print(f.name, "requester", 1)
	switch {
	case b.qp == nil:
	case f.receive != nil:
		b.print(f.name, "responder", 1)
	default:
		b.receive(9, h.mr, 64)
		a.post(b.request())
		a.print(f.name, "next", 1)
		b.print(f.name, "received", 1)
	}
}

// flush moves a queue pair with receives to the error state.
func (h *host) flush() {
	s := h.create()
	defer s.close()
	s.receive(7, h.mr, 64)
	s.receive(8, h.mr, 64)
	check(s.qp.Modify(verbs.QPStateError, verbs.QPAttr{}))
	s.print("flush", "responder", 2)
}

func main() {
	devices := must(verbs.Devices())
	if len(devices) == 0 {
		check(os.ErrNotExist)
	}
	c := must(devices[0].Open())
	h := &host{context: c, pd: must(c.AllocPD())}
	memory, access := must(c.NewMemory(size, verbs.MemoryOptions{})), verbs.AccessLocalWrite|verbs.AccessRemoteRead
	h.mr, h.local = must(h.pd.RegisterMR(memory, access)), must(h.pd.RegisterMR(memory, verbs.AccessLocalWrite))
	h.closed = must(must(c.AllocPD()).RegisterMR(memory, access))
	path := verbs.Path{DGID: must(c.GID(1, 0)).GID, Port: 1}
	h.ah = must(h.pd.CreateAH(path))
	path.DGID = path.DGID.Next()
	h.nowhere = must(h.pd.CreateAH(path))
	for _, f := range faults {
		h.run(f)
	}
	h.flush()
	for _, codes := range os.Args[1:] {
		check(os.WriteFile("/sys/module/verbstest/parameters/fault", []byte("0 "+codes), 0o200))
		h.run(fault{name: codes})
	}
	check(c.Close())
	check(memory.Close())
}
