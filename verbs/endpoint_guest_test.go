//go:build inguest

package verbs_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// An endpoint contains the objects that a transfer end needs.
type endpoint struct {
	t       *testing.T
	context *verbs.Context
	pd      *verbs.PD
	mr      *verbs.MR
	channel *verbs.CompChannel
	cq      *verbs.CQ
	srq     *verbs.SRQ // may be nil
	qp      *verbs.QP

	rnrRetry uint8 // 7: wait for the peer's receive forever
}

const (
	memorySize = 1 << 20
	depth      = 16
	maxSGE     = 4
	maxInline  = 128
	qkey       = 0x1234
)

const allAccess = verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic |
	verbs.AccessMWBind

// must returns a function that returns v, or ends the test if err is not nil.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newEndpoint creates an endpoint of a type. The context closes its objects.
func newEndpoint(t *testing.T, c *verbs.Context, kind verbs.QPType, shared bool) *endpoint {
	t.Helper()
	e := &endpoint{t: t, context: c, rnrRetry: 7, pd: must(c.AllocPD())(t)}
	memory := must(c.NewMemory(memorySize, verbs.MemoryOptions{}))(t)
	t.Cleanup(func() {
		if err := memory.Close(); err != nil {
			t.Error(err)
		}
	})
	e.mr = must(e.pd.RegisterMR(memory, allAccess))(t)
	e.channel = must(c.NewCompChannel())(t)
	e.cq = must(c.CreateCQ(verbs.CQInit{Entries: 4 * depth, Channel: e.channel}))(t)
	if shared {
		e.srq = must(e.pd.CreateSRQ(verbs.SRQInit{MaxWR: depth, MaxSGE: maxSGE}))(t)
	}
	e.qp = must(e.pd.CreateQP(verbs.QPInit{
		Type: kind, SendCQ: e.cq, RecvCQ: e.cq, SRQ: e.srq,
		Cap: verbs.QPCap{MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: maxSGE, MaxRecvSGE: maxSGE, MaxInline: maxInline},
	}))(t)
	// The context, which uses the memory, closes before it.
	t.Cleanup(func() {
		if err := e.context.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	})
	return e
}

// path returns the path from a port to itself with its RoCE v2 GID over IPv4.
func path(t *testing.T, c *verbs.Context) verbs.Path {
	t.Helper()
	for _, e := range must(c.GIDTable())(t) {
		if e.Type == verbs.GIDTypeRoCEv2 && e.GID.Is4In6() {
			return verbs.Path{DGID: e.GID, SGIDIndex: uint8(e.Index), HopLimit: 64, Port: 1}
		}
	}
	t.Fatal("got no RoCE v2 GID over IPv4")
	return verbs.Path{}
}

// modify changes the queue pair state.
func (e *endpoint) modify(to verbs.QPState, attr verbs.QPAttr) {
	e.t.Helper()
	if err := e.qp.Modify(to, attr); err != nil {
		e.t.Fatal(err)
	}
}

// connect changes the queue pair to RTS, connected to a peer.
func (e *endpoint) connect(peer *endpoint) {
	e.t.Helper()
	e.begin()
	e.finish(peer)
}

// begin changes the queue pair to INIT.
func (e *endpoint) begin() {
	e.t.Helper()
	if err := e.qp.Init(1, e.param()); err != nil {
		e.t.Fatal(err)
	}
}

// param returns the connection's parameters. A missing peer is detected after half a second,
// because a guest may be stopped for a while. Retry count 7 would retry forever.
func (e *endpoint) param() verbs.ConnParam {
	p := verbs.ConnParam{
		PSN: e.qp.Number(), Access: verbs.AccessRemoteWrite | verbs.AccessRemoteRead | verbs.AccessRemoteAtomic, QKey: qkey,
		Timeout: 14, RetryCount: 6, RNRRetry: e.rnrRetry, MinRNRTimer: 1, MaxRdAtomic: 4, MaxDestRdAtomic: 4,
	}
	if e.qp.Type() == verbs.QPTypeUC {
		p.Access = verbs.AccessRemoteWrite
	}
	return p
}

// finish changes the queue pair from INIT to RTS.
func (e *endpoint) finish(peer *endpoint) {
	e.t.Helper()
	number := peer.qp.Number()
	if err := e.qp.Connect(verbs.RemoteQP{QPN: number, PSN: number, Path: path(e.t, e.context), MTU: ib.MTU1024}, e.param()); err != nil {
		e.t.Fatal(err)
	}
}

// send posts a single signaled work request.
func (e *endpoint) send(wr verbs.SendWR) {
	e.t.Helper()
	wr.Flags |= verbs.SendSignaled
	if n, err := e.qp.PostSend([]verbs.SendWR{wr}); n != 1 || err != nil {
		e.t.Fatalf("%v: got %d posted, error %v, want 1", wr.Opcode, n, err)
	}
}

// receive posts a single work request with SGEs.
func (e *endpoint) receive(id uint64, sges ...verbs.SGE) {
	e.t.Helper()
	wrs := []verbs.RecvWR{{ID: id, SGEs: sges}}
	var n int
	var err error
	if e.srq != nil {
		n, err = e.srq.PostRecv(wrs)
	} else {
		n, err = e.qp.PostRecv(wrs)
	}
	if n != 1 || err != nil {
		e.t.Fatalf("got %d receives posted, error %v, want 1", n, err)
	}
}

// timeout is a step's maximum duration.
const timeout = time.Minute

// completion polls for a completion.
func (e *endpoint) completion() verbs.Completion {
	e.t.Helper()
	var c [1]verbs.Completion
	for end := time.Now().Add(timeout); time.Now().Before(end); {
		if n, err := e.cq.Poll(c[:]); err != nil {
			e.t.Fatal(err)
		} else if n == 1 {
			return c[0]
		}
	}
	e.t.Fatalf("got no completion after %v", timeout)
	return c[0]
}

// event waits for a completion through the channel.
func (e *endpoint) event() verbs.Completion {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), timeout)
	defer cancel()
	var c [1]verbs.Completion
	if n, err := e.cq.Wait(ctx, c[:]); n != 1 || err != nil {
		e.t.Fatalf("got %d completions, error %v, want 1", n, err)
	}
	return c[0]
}

// ok waits for a successful work request's completion.
func (e *endpoint) ok(id uint64, op verbs.CompletionOpcode) verbs.Completion {
	e.t.Helper()
	c := e.completion()
	e.check(c, id, op)
	return c
}

func (e *endpoint) check(c verbs.Completion, id uint64, op verbs.CompletionOpcode) {
	e.t.Helper()
	if c.Err() != nil || c.ID != id || c.Opcode != op || c.QPN != e.qp.Number() {
		e.t.Fatalf("got completion %+v, error %v, want ID %d, opcode %d", c, c.Err(), id, op)
	}
}
