package irdma

import (
	"errors"
	"io"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A fake is a device with the doorbells in plain memory.
type fake struct {
	provider.Device
	*device
	page       []byte
	registered map[uint64]uapi.IRDMAMemRegReq // by address
	cq         uapi.IRDMACreateCQ             // last command data
	qp         uapi.IRDMACreateQP
	srq        uapi.IRDMACreateSRQ
	err        error // from create
	skew       uint32
	lsmm       uint8
}

func (f *fake) Map(offset uint64, length int) ([]byte, error) {
	if offset != pageSize {
		return nil, errors.New("no doorbells there")
	}
	f.page = make([]byte, length)
	return f.page, nil
}

func (f *fake) Unmap([]byte) error { f.page = nil; return nil }

func (f *fake) NUMANode() *int { return nil }

func (f *fake) Register(addr uint64, _ int, in []byte) (io.Closer, error) {
	f.registered[addr] = uapi.Decode[uapi.IRDMAMemRegReq](in)
	return registration{f, addr}, nil
}

type registration struct {
	f    *fake
	addr uint64
}

func (r registration) Close() error { delete(r.f.registered, r.addr); return nil }

// bell returns a doorbell's last value, and clears it.
func (f *fake) bell(offset int) uint32 {
	p := (*uint32)(unsafe.Pointer(&f.page[offset]))
	v := *p
	*p = 0
	return mmio.LE32(v)
}

// response is the response to GET_CONTEXT of an adapter (i40iw_hw.h, icrdma_hw.c).
func response(generation uint8) uapi.IRDMAAllocUcontextResp {
	r := uapi.IRDMAAllocUcontextResp{
		DBMmapKey: pageSize, MaxHWWQFrags: 13, MaxHWReadSGEs: 13, MaxHWInline: 101, MaxHWRQQuanta: 32768, MaxHWWQQuanta: 32768,
		MinHWCQSize: 1, MaxHWCQSize: 1<<20 - 1, MaxHWSQChunk: 8, HWRev: generation, CompMask: uapi.IRDMAUseRawAttr | uapi.IRDMAMinWQSize,
		MinHWWQSize: 8, FeatureFlags: featureRTSEvent | featureResize,
	}
	switch generation {
	case 1:
		r.MaxHWWQFrags, r.MaxHWReadSGEs, r.MaxHWInline, r.MaxHWWQQuanta, r.MaxHWRQQuanta, r.MaxHWSQChunk, r.MinHWWQSize = 3, 1, 48, 2048, 16384, 2, 4
		r.FeatureFlags = 0
	case 3:
		r.MaxHWSRQQuanta, r.MaxHWInline = 1<<18, 244
		r.FeatureFlags |= featureLongCQE | featureAtomics | featureSRQ
	}
	return r
}

func newFake(t testing.TB, generation uint8) *fake {
	t.Helper()
	f := &fake{registered: map[uint64]uapi.IRDMAMemRegReq{}}
	r := response(generation)
	p, err := New(f, uapi.Bytes(&r))
	if err != nil {
		t.Fatal(err)
	}
	f.device = p.(*device)
	return f
}

// answer returns a create function that stores the driver's data and returns a response.
func answer[T, R any](f *fake, into *T, resp R) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if f.err != nil {
			return provider.Created{}, f.err
		}
		*into = uapi.Decode[T](in)
		copy(out, uapi.Bytes(&resp))
		return provider.Created{}, nil
	}
}

const (
	cqNumber  = 0x21
	srqNumber = 0x31
	qpNumber  = 0x123
)

func (f *fake) newCQ(t testing.TB, entries uint32) *cq {
	t.Helper()
	q, err := f.device.NewCQ(provider.CQAttr{Entries: entries}, answer(f, &f.cq, uapi.IRDMACreateCQResp{CQID: cqNumber, CQSize: f.RoundCQ(entries)}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*cq)
}

// reply is the driver's response to a capacity.
func (f *fake) reply(c provider.QPCap) uapi.IRDMACreateQPResp {
	send, receive, _ := f.depths(c)
	caps := uint32(capWriteImm | capSendImm | capRoCE)
	if f.first() {
		caps = capRoCE
	}
	return uapi.IRDMACreateQPResp{
		QPID: qpNumber, ActualSQSize: send>>f.sendShift(c) + f.skew, ActualRQSize: receive >> f.receiveShift(c.MaxRecvSGE), LSMM: f.lsmm, QPCaps: caps,
	}
}

func (f *fake) newQP(t testing.TB, attr provider.QPAttr) *qp {
	t.Helper()
	resp := f.reply(attr.Cap)
	attr.Cap = f.RoundQP(attr.Cap)
	q, err := f.device.NewQP(attr, answer(f, &f.qp, resp))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*qp)
}

func (f *fake) newSRQ(t testing.TB, attr provider.SRQAttr) *srq {
	t.Helper()
	shift := f.receiveShift(attr.MaxSGE)
	depth, err := f.depth(attr.MaxWR, shift, receiveReserved, f.limits.MaxHWSRQQuanta)
	if err != nil {
		t.Fatal(err)
	}
	q, err := f.device.NewSRQ(attr, answer(f, &f.srq, uapi.IRDMACreateSRQResp{SRQID: srqNumber, SRQSize: depth >> shift}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*srq)
}

// rc are the attributes for a queue pair.
func rc(c *cq) provider.QPAttr {
	return provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 40}, SendCQ: c, RecvCQ: c}
}

// An adapter writes completions as the hardware does.
type adapter struct {
	q     *cq
	index uint32
	odd   bool
}

// put stores a completion, and its extension unless that is nil.
func (a *adapter) put(words quantum, more *quantum) {
	set := func(to *quantum, from quantum, odd bool) {
		for i := range from {
			to[i] = mmio.LE64(from[i])
		}
		if !odd {
			to[3] |= mmio.LE64(wqeValid)
		}
	}
	n, at, odd := uint32(1), a.index, a.odd
	if more != nil {
		words[3] |= cqeExtended
		if a.q.scale == 2 {
			set(&a.q.ring[at*2+1], *more, odd)
		} else {
			i, o := a.q.advance(at, odd, 1)
			set(&a.q.ring[i], *more, o)
			n = 2
		}
	}
	set(&a.q.ring[at*a.q.scale], words, odd)
	a.index, a.odd = a.q.advance(at, odd, n)
}

// sent completes a send work request.
func (a *adapter) sent(q *qp, op, index uint64) {
	a.put(quantum{0, q.context, uint64(q.number) << 32, cqeSend | op<<cqeOp | index<<cqeIndex}, nil)
}

// failed completes a queue with an error.
func (a *adapter) failed(q *qp, queue, code uint64) {
	a.put(quantum{0, q.context, uint64(q.number) << 32, queue | cqeError | code}, nil)
}

func poll(t *testing.T, q *cq, want ...provider.Completion) {
	t.Helper()
	into := make([]provider.Completion, len(want)+2)
	n, err := q.Poll(into)
	if diff := cmp.Diff(want, into[:n:n]); (diff != "" && len(want)+n > 0) || err != nil {
		t.Errorf("got error %v, (-want +got):\n%s", err, diff)
	}
}

func postSends(t *testing.T, q *qp, flags provider.SendFlags, ids ...uint64) {
	t.Helper()
	for _, id := range ids {
		if _, err := q.PostSend([]provider.SendWR{{ID: id, Opcode: provider.OpSend, Flags: flags}}); err != nil {
			t.Fatal(err)
		}
	}
}

// Registrations and commands have the sizes that the library computes.
func TestSizes(t *testing.T) {
	f := newFake(t, 2)
	c := f.newCQ(t, 100)
	if got, want := f.registered[f.cq.UserCQBuf], (uapi.IRDMAMemRegReq{RegType: uapi.IRDMARegCQ, CQPages: 2}); got != want {
		t.Errorf("CQ of 202 entries of 32 bytes: got %+v, want %+v", got, want)
	}
	if got, want := f.registered[f.cq.UserShadowArea], (uapi.IRDMAMemRegReq{RegType: uapi.IRDMARegCQ, CQPages: 1}); got != want {
		t.Errorf("shadow area: got %+v, want %+v", got, want)
	}
	q := f.newQP(t, rc(c))
	if got, want := f.registered[f.qp.UserWQEBufs], (uapi.IRDMAMemRegReq{RegType: uapi.IRDMARegQP, SQPages: 4, RQPages: 1}); got != want {
		t.Errorf("QP: got %+v, want %+v", got, want)
	}
	if got, want := q.Cap(), (provider.QPCap{MaxSendWR: 63, MaxRecvWR: 31, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 40}); got != want {
		t.Errorf("QP of 512 quanta: got %+v, want %+v", got, want)
	}
	if err := errors.Join(q.Close(), c.Close(), f.device.Close()); err != nil || len(f.registered) != 0 || f.page != nil {
		t.Errorf("Close: got error %v and the registrations %v", err, f.registered)
	}
	f = newFake(t, 1)
	c = f.newCQ(t, 127)
	if want := f.cq.UserCQBuf + pageSize; f.cq.UserShadowArea != want || f.RoundCQ(127) != 128 {
		t.Errorf("first generation: got shadow area at %#x and %d entries, want %#x and 128", f.cq.UserShadowArea, f.RoundCQ(127), want)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	f.raw = false
	if got, want := f.RoundQP(provider.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 2, MaxRecvSGE: 2}), (provider.QPCap{MaxSendWR: 256, MaxRecvWR: 32, MaxSendSGE: 2, MaxRecvSGE: 2}); got != want {
		t.Errorf("older driver: got %+v, want %+v", got, want)
	}
}

// A response that contradicts the request is an error, and a refusal leaves no registration.
func TestInconsistent(t *testing.T) {
	f := newFake(t, 3)
	c := f.newCQ(t, 8)
	before := len(f.registered)
	f.skew = 1
	attr := rc(c)
	q, err := f.device.NewQP(attr, answer(f, &f.qp, f.reply(attr.Cap)))
	if !errors.Is(err, provider.ErrCorrupt) || q.Close() != nil {
		t.Errorf("QP: got error %v, want %v", err, provider.ErrCorrupt)
	}
	bad, err := f.device.NewCQ(provider.CQAttr{Entries: 8}, answer(f, &f.cq, uapi.IRDMACreateCQResp{CQSize: 7}))
	if !errors.Is(err, provider.ErrCorrupt) || bad.Close() != nil {
		t.Errorf("CQ: got error %v, want %v", err, provider.ErrCorrupt)
	}
	s, err := f.device.NewSRQ(provider.SRQAttr{MaxWR: 4, MaxSGE: 1}, answer(f, &f.srq, uapi.IRDMACreateSRQResp{}))
	if !errors.Is(err, provider.ErrCorrupt) || s.Close() != nil {
		t.Errorf("SRQ: got error %v, want %v", err, provider.ErrCorrupt)
	}
	f.err = errors.New("refused")
	for name, create := range map[string]func() error{
		"QP": func() error { _, err := f.device.NewQP(attr, answer(f, &f.qp, 0)); return err },
		"CQ": func() error { _, err := f.device.NewCQ(provider.CQAttr{Entries: 8}, answer(f, &f.cq, 0)); return err },
		"SRQ": func() error {
			_, err := f.device.NewSRQ(provider.SRQAttr{MaxWR: 4, MaxSGE: 1}, answer(f, &f.srq, 0))
			return err
		},
		"AH": func() error { _, err := f.NewAH(provider.Path{}, 0, nil); return errors.Join(err, f.err) },
	} {
		if err := create(); !errors.Is(err, f.err) || len(f.registered) != before {
			t.Errorf("%s: got error %v and %d registrations, want %v and %d", name, err, len(f.registered), f.err, before)
		}
	}
	for name, change := range map[string]func(*uapi.IRDMAAllocUcontextResp){
		"generation": func(r *uapi.IRDMAAllocUcontextResp) { r.HWRev = 4 },
		"i40iw":      func(r *uapi.IRDMAAllocUcontextResp) { r.HWRev = 0 },
		"chunk":      func(r *uapi.IRDMAAllocUcontextResp) { r.MaxHWSQChunk = 12 },
		"ring":       func(r *uapi.IRDMAAllocUcontextResp) { r.MaxHWWQQuanta = 1 << 16 },
	} {
		r := response(2)
		change(&r)
		if _, err := New(f, uapi.Bytes(&r)); !errors.Is(err, provider.ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

func TestPostSend_Refused(t *testing.T) {
	f := newFake(t, 2)
	c := f.newCQ(t, 8)
	connected := f.newQP(t, rc(c))
	attr := rc(c)
	attr.Transport = provider.UD
	datagrams := f.newQP(t, attr)
	for name, test := range map[string]struct {
		q    *qp
		wr   provider.SendWR
		want error
	}{
		"atomic":             {connected, provider.SendWR{Opcode: provider.OpFetchAdd, SGEs: []provider.SGE{{Length: 8}}}, provider.ErrOpcode},
		"unknown operation":  {connected, provider.SendWR{Opcode: 200}, provider.ErrOpcode},
		"write of datagram":  {datagrams, provider.SendWR{Opcode: provider.OpWrite}, provider.ErrOpcode},
		"inline":             {connected, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, 41)}, provider.ErrInline},
		"inline read":        {connected, provider.SendWR{Opcode: provider.OpRead, Flags: provider.SendInline}, provider.ErrInline},
		"SGEs":               {connected, provider.SendWR{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 3)}, provider.ErrSGEs},
		"length":             {connected, provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1 << 31}}}, provider.ErrLength},
		"bind":               {connected, provider.SendWR{Opcode: provider.OpBindMW}, provider.ErrLength},
		"no address handle":  {datagrams, provider.SendWR{Opcode: provider.OpSend}, provider.ErrAH},
		"address of another": {datagrams, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(1)}, provider.ErrAH},
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := test.q.PostSend([]provider.SendWR{test.wr}); n != 0 || !errors.Is(err, test.want) || f.bell(bellQP) != 0 {
				t.Errorf("got %d posted and error %v, want %v and no doorbell", n, err, test.want)
			}
		})
	}
}

// A ring takes as many work requests as its capacity, through several rounds, whatever their
// sizes, and rings once for a call.
func TestFull(t *testing.T) {
	f := newFake(t, 2)
	c := f.newCQ(t, 8)
	q := f.newQP(t, rc(c))
	a := adapter{q: c}
	wrs := make([]provider.SendWR, 1000)
	for i := range wrs {
		wrs[i] = provider.SendWR{ID: uint64(i), Opcode: provider.OpSend, SGEs: make([]provider.SGE, i%3)}
	}
	for round := range 20 {
		n, err := q.PostSend(wrs)
		if n < int(q.Cap().MaxSendWR) || !errors.Is(err, provider.ErrFull) || f.bell(bellQP) != qpNumber {
			t.Fatalf("round %d: got %d posted and error %v, want at least %d and %v", round, n, err, q.Cap().MaxSendWR, provider.ErrFull)
		}
		last := (q.send.head - uint32(q.send.quanta(&wrs[n-1]))) & uint32(len(q.send.ring)-1)
		a.sent(q, opSend, uint64(last))
		poll(t, c, provider.Completion{ID: uint64(n - 1), QPN: qpNumber})
		if q.send.tail.Load() != q.send.head {
			t.Fatalf("round %d: got tail %d, want %d", round, q.send.tail.Load(), q.send.head)
		}
	}
	q.Reset()
	if n, err := q.PostSend(wrs[:1]); n != 1 || err != nil || mmio.LE64(q.send.ring[0][3]) != wqeValid|opSend<<wqeOpcode {
		t.Errorf("after Reset: got %d posted and error %v, header %#x", n, err, mmio.LE64(q.send.ring[0][3]))
	}
}

// Receives keep an entry free, and their IDs come back by entry.
func TestReceives(t *testing.T) {
	for generation := range uint8(3) {
		f := newFake(t, generation+1)
		c := f.newCQ(t, 4)
		q := f.newQP(t, rc(c))
		a := adapter{q: c}
		for round := range uint64(5) {
			wrs := make([]provider.RecvWR, 100)
			for i := range wrs {
				wrs[i].ID = round*100 + uint64(i)
			}
			n, err := q.PostRecv(wrs)
			if n != int(q.Cap().MaxRecvWR) || !errors.Is(err, provider.ErrFull) {
				t.Fatalf("got %d posted and error %v, want %d and %v", n, err, q.Cap().MaxRecvWR, provider.ErrFull)
			}
			for i := range uint64(n) {
				entry := (round*uint64(n) + i) & uint64(q.recv.size-1) << q.recv.shift
				a.put(quantum{60, q.context, 0, opSend<<cqeOp | entry<<cqeIndex}, nil)
				poll(t, c, provider.Completion{ID: wrs[i].ID, QPN: qpNumber, Opcode: provider.CompletedRecv, ByteLen: 60})
			}
		}
	}
}

// The data of a completion with an extension, at the ring's end too.
func TestExtension(t *testing.T) {
	for generation := uint8(2); generation <= 3; generation++ {
		f := newFake(t, generation)
		c := f.newCQ(t, 4)
		a := adapter{q: c}
		attr := rc(c)
		q := f.newQP(t, attr)
		attr.Transport = provider.UD
		ud := f.newQP(t, attr)
		op := uint64(packetWriteOnlyImm)
		if generation == 3 {
			op = opWriteSolicited
		}
		receive := func(q *qp, id uint64) (entry uint64) {
			if _, err := q.PostRecv([]provider.RecvWR{{ID: id}}); err != nil {
				t.Fatal(err)
			}
			return uint64((q.recv.head-1)&(q.recv.size-1)) << q.recv.shift << cqeIndex
		}
		for range 9 {
			a.put(quantum{8, q.context, 0, op<<cqeOp | receive(q, 1)}, &quantum{0x01020304, 0, 0, cqeImm})
			poll(t, c, provider.Completion{ID: 1, QPN: qpNumber, Opcode: provider.CompletedRecvWriteImm, ByteLen: 8, Imm: 0x01020304, Flags: provider.CompletionWithImm})
			a.put(quantum{104, ud.context, 0x77, opSend<<cqeOp | receive(ud, 2)}, &quantum{})
			poll(t, c, provider.Completion{ID: 2, QPN: qpNumber, Opcode: provider.CompletedRecv, ByteLen: 104, SrcQPN: 0x77, Flags: provider.CompletionGRH})
			a.put(quantum{8, q.context, 0x99, opSendInv<<cqeOp | receive(q, 3) | cqeKey}, nil)
			poll(t, c, provider.Completion{ID: 3, QPN: qpNumber, Opcode: provider.CompletedRecv, ByteLen: 8, InvKey: 0x99, Flags: provider.CompletionWithInv})
		}
		if got := mmio.LE64(c.shadow[shadowIndex]); got != uint64(c.index) {
			t.Errorf("got index %d in the shadow area, want %d", got, c.index)
		}
	}
}

// A queue in error has a single completion, and the others are made here: also for work
// requests that are posted later, but only once the adapter's completions are polled.
func TestFlush(t *testing.T) {
	f := newFake(t, 2)
	c := f.newCQ(t, 32)
	a := adapter{q: c}
	q := f.newQP(t, rc(c))
	flushedOne := provider.Completion{Status: provider.StatusFlushed, QPN: qpNumber, VendorErr: 1<<16 | 1}
	with := func(id uint64, opcode provider.CompletionOpcode) provider.Completion {
		x := flushedOne
		x.ID, x.Opcode = id, opcode
		return x
	}
	postSends(t, q, 0, 1, 2, 3)
	if n, err := q.PostRecv([]provider.RecvWR{{ID: 4}, {ID: 5}}); n != 2 || err != nil {
		t.Fatalf("got %d posted, error %v", n, err)
	}
	a.sent(q, opSend, 0)
	a.failed(q, cqeSend, majorFlush<<cqeMajor|3)
	a.failed(q, 0, majorFlush<<cqeMajor|1)
	poll(t, c, provider.Completion{ID: 1, QPN: qpNumber},
		provider.Completion{ID: 2, Status: provider.StatusRemoteAccess, QPN: qpNumber, VendorErr: 1<<16 | 3},
		with(4, provider.CompletedRecv), with(3, provider.CompletedSend), with(5, provider.CompletedRecv))
	postSends(t, q, 0, 6)
	poll(t, c, with(6, provider.CompletedSend))
	poll(t, c)
	q.Reset()
	postSends(t, q, 0, 7, 8)
	poll(t, c)
	a.sent(q, opSend, 0)
	q.Flush()
	poll(t, c, provider.Completion{ID: 7, QPN: qpNumber}, with(8, provider.CompletedSend))
	if err := q.Close(); err != nil || len(c.flushed) != 0 {
		t.Errorf("Close: got error %v and %d queues in error", err, len(c.flushed))
	}
}

// Each error code has its status.
func TestStatuses(t *testing.T) {
	f := newFake(t, 3)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	q := f.newQP(t, rc(c))
	for code, want := range map[uint64]provider.Status{
		majorFlush<<cqeMajor | 2: provider.StatusLocalProt, majorFlush<<cqeMajor | 4: provider.StatusLocalQPOp, majorFlush<<cqeMajor | 5: provider.StatusRemoteOp,
		majorFlush<<cqeMajor | 6: provider.StatusLocalLength, majorFlush<<cqeMajor | 7: provider.StatusFatal, majorFlush<<cqeMajor | 8: provider.StatusRetryExceeded,
		majorFlush<<cqeMajor | 9: provider.StatusMWBind, majorFlush<<cqeMajor | 10: provider.StatusRemoteInvalid, majorFlush<<cqeMajor | 11: provider.StatusRNRExceeded,
		majorFlush<<cqeMajor | 99: provider.StatusFatal, majorEvent<<cqeMajor | 0x0108: provider.StatusLocalProt, majorEvent<<cqeMajor | 0x050f: provider.StatusRNRExceeded,
		majorEvent<<cqeMajor | 0x7777: provider.StatusFlushed, 5<<cqeMajor | 6: provider.StatusGeneral,
	} {
		q.Reset()
		postSends(t, q, 0, 9)
		a.failed(q, cqeSend, code)
		into := make([]provider.Completion, 2)
		if n, err := c.Poll(into); n != 1 || err != nil || into[0].Status != want || into[0].ID != 9 || uint64(into[0].VendorErr) != code {
			t.Errorf("code %#x: got %d completions, error %v, %+v, want %v", code, n, err, into[0], want)
		}
	}
}

// A shared queue's completions have the IDs, and free an entry each, polled or not.
func TestSRQ(t *testing.T) {
	f := newFake(t, 3)
	c := f.newCQ(t, 16)
	a := adapter{q: c}
	s := f.newSRQ(t, provider.SRQAttr{MaxWR: 7, MaxSGE: 1})
	if got, want := f.registered[f.srq.UserSRQBuf], (uapi.IRDMAMemRegReq{RegType: uapi.IRDMARegSRQ, RQPages: 1}); got != want || f.srq.UserShadowArea != f.srq.UserSRQBuf+pageSize {
		t.Errorf("got %+v, shadow area at %#x, want %+v", got, f.srq.UserShadowArea, want)
	}
	attr := rc(c)
	attr.SRQ = s
	q := f.newQP(t, attr)
	if n, err := q.PostRecv(make([]provider.RecvWR, 1)); n != 0 || !errors.Is(err, provider.ErrFull) {
		t.Errorf("own queue: got %d posted and error %v, want %v", n, err, provider.ErrFull)
	}
	if n, err := s.PostRecv(make([]provider.RecvWR, 9)); n != 7 || !errors.Is(err, provider.ErrFull) || mmio.LE64(s.shadow[0]) != 7 {
		t.Errorf("got %d posted, error %v, index %d, want 7, %v and 7", n, err, mmio.LE64(s.shadow[0]), provider.ErrFull)
	}
	a.put(quantum{8, 77, 0, opSend<<cqeOp | cqeSRQ}, &quantum{1: q.context})
	poll(t, c, provider.Completion{ID: 77, QPN: qpNumber, Opcode: provider.CompletedRecv, ByteLen: 8})
	a.put(quantum{8, 78, 0, opSend<<cqeOp | cqeSRQ}, &quantum{1: q.context})
	if err := q.Close(); err != nil || s.queue.tail.Load() != 2 {
		t.Errorf("Close: got error %v and %d free entries, want 2", err, s.queue.tail.Load())
	}
	poll(t, c)
	if _, err := newFake(t, 2).device.NewSRQ(provider.SRQAttr{MaxWR: 7}, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("second generation: got error %v, want %v", err, errors.ErrUnsupported)
	}
}

// A queue pair's completions vanish with it; other completions stay.
func TestPurge(t *testing.T) {
	f := newFake(t, 2)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	gone, stays := f.newQP(t, rc(c)), f.newQP(t, rc(c))
	postSends(t, gone, 0, 1)
	postSends(t, stays, 0, 2)
	a.sent(gone, opSend, 0)
	a.sent(stays, opSend, 0)
	a.sent(gone, opSend, 0)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	poll(t, c, provider.Completion{ID: 2, QPN: qpNumber})
	if c.index != 3 {
		t.Errorf("got index %d, want 3", c.index)
	}
	a.put(quantum{1: 1 << 40, 3: cqeSend}, nil)
	if n, err := c.Poll(make([]provider.Completion, 2)); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("unknown queue pair: got %d completions and error %v, want %v", n, err, provider.ErrCorrupt)
	}
}

// An armed queue is armed again after its event only, or for all completions.
func TestArm(t *testing.T) {
	f := newFake(t, 2)
	c := f.newCQ(t, 8)
	for i, step := range []struct {
		solicited, event bool
		word             uint64 // 0: no doorbell
	}{
		{true, false, armSolicited | armSequence},
		{true, false, 0},
		{false, false, armNext | armSolicited | 2*armSequence},
		{false, false, 0},
		{false, true, armNext | armSolicited | 3*armSequence},
		{true, true, armSolicited},
	} {
		if step.event {
			c.Delivered()
		}
		if err := c.Arm(step.solicited); err != nil {
			t.Fatal(err)
		}
		bell := f.bell(bellCQ)
		if step.word == 0 && bell != 0 || step.word != 0 && (bell != cqNumber || mmio.LE64(c.shadow[shadowArm]) != step.word) {
			t.Errorf("step %d: got doorbell %#x, word %#x, want %#x", i, bell, mmio.LE64(c.shadow[shadowArm]), step.word)
		}
	}
}

// On iWARP, the driver uses the first work requests of the ring.
func TestConnectionRequests(t *testing.T) {
	f := newFake(t, 2)
	f.lsmm = 1
	c := f.newCQ(t, 8)
	q := f.newQP(t, rc(c))
	postSends(t, q, 0, 1)
	if header := mmio.LE64(q.send.ring[3][3]); header != wqeValid|opSend<<wqeOpcode {
		t.Errorf("got header %#x in quantum 3", header)
	}
	a := adapter{q: c}
	a.sent(q, opNOP, 2)
	a.sent(q, opSend, 3)
	poll(t, c, provider.Completion{ID: 1, QPN: qpNumber})
	if q.send.tail.Load() != 4 {
		t.Errorf("got tail %d, want 4", q.send.tail.Load())
	}
}

// Posting and polling do not allocate.
func TestAllocations(t *testing.T) {
	f := newFake(t, 2)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	q := f.newQP(t, rc(c))
	wrs := []provider.SendWR{{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 2)}}
	receives := []provider.RecvWR{{SGEs: make([]provider.SGE, 1)}}
	into := make([]provider.Completion, 1)
	if n := testing.AllocsPerRun(1000, func() {
		at := uint64(q.send.head & uint32(len(q.send.ring)-1))
		entry := uint64(q.recv.head&(q.recv.size-1)) << q.recv.shift
		q.PostSend(wrs)
		q.PostRecv(receives)
		a.sent(q, opSend, at)
		c.Poll(into)
		a.put(quantum{8, q.context, 0, opSend<<cqeOp | entry<<cqeIndex}, nil)
		c.Poll(into)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// Whatever an adapter writes, polling neither panics nor makes a success of an error.
func FuzzPoll(f *testing.F) {
	f.Add(uint64(8), uint64(1), uint64(0), uint64(cqeSend|opSend<<cqeOp), uint64(0), uint64(0))
	f.Add(uint64(8), uint64(1), uint64(0), uint64(cqeExtended), uint64(5), uint64(cqeImm))
	f.Add(uint64(8), uint64(1), uint64(0), uint64(cqeError|majorFlush<<cqeMajor|3), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, word0, context, word2, word3, more0, more3 uint64) {
		for generation := range uint8(3) {
			fake := newFake(t, generation+1)
			c := fake.newCQ(t, 8)
			q := fake.newQP(t, rc(c))
			postSends(t, q, 0, 1, 2, 3)
			q.PostRecv(make([]provider.RecvWR, 3))
			a := adapter{q: c}
			words := quantum{word0, context, word2, word3 &^ (wqeValid | cqeExtended)}
			if word3&cqeExtended != 0 {
				a.put(words, &quantum{more0, context, 0, more3 &^ wqeValid})
			} else {
				a.put(words, nil)
			}
			into := make([]provider.Completion, 8)
			n, err := c.Poll(into)
			if err != nil && !errors.Is(err, provider.ErrCorrupt) {
				t.Fatal(err)
			}
			for _, x := range into[:n] {
				if x.Status == provider.StatusOK && word3&cqeError != 0 {
					t.Errorf("got %+v for %#x", x, word3)
				}
			}
			if err := errors.Join(q.Close(), c.Close(), fake.device.Close()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
