package efa

import (
	"flag"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/ringtest"
	"github.com/ibkit/ibkit/verbs/provider"
)

// recorded is the output of test/guest/efa/testdata/wqes.c with libefa 44.0, and with 56.1,
// which has writes: work requests, and the rings that the library wrote. The test in a guest
// replaces it with new output.
var recorded = flag.String("wqes", "testdata/libefa.wqes", "`FILE` with work requests of libefa")

// TestLibefa posts the same work requests as a program with libefa and compares the rings,
// byte by byte, after more than a round. Request IDs differ: libefa takes the last that was
// returned, the provider the first.
func TestLibefa(t *testing.T) {
	var q *qp
	rings, requests := 0, 0
	for _, l := range ringtest.Lines(t, *recorded) {
		switch {
		case l.Values["queue"] != "":
			q = openRecorded(t, l)
		case l.Values["send"] != "":
			rings++
			if q.send.head <= q.send.size {
				t.Errorf("got %d work requests, want more than a round of %d", q.send.head, q.send.size)
			}
			ringtest.Compare(t, fmt.Sprintf("send ring %d", rings), q.send.ring, l.Hex(t, "send"), int(q.send.blocks)*smallWQE, 0, 1)
			ringtest.Compare(t, fmt.Sprintf("receive ring %d", rings), q.recv.ring, l.Hex(t, "receive"), receiveSize, 8, 9)
		case l.Values["receive"] != "":
			if _, err := q.PostRecv([]provider.RecvWR{{SGEs: l.SGEs}}); err != nil {
				t.Fatalf("%s: %v", l.Text, err)
			}
			q.recv.free.put(q.recv.free.ids[(q.recv.free.taken-1)&uint32(len(q.recv.free.ids)-1)])
		default:
			requests++
			wr := l.Send(t)
			wr.AH = provider.NewDestination(&ah{uint16(l.Number(t, "ah"))})
			post(t, q, wr)
			q.send.free.put(q.send.free.ids[(q.send.free.taken-1)&uint32(len(q.send.free.ids)-1)])
		}
	}
	ringtest.Posted(t, rings, requests)
}

// openRecorded creates the queue pair of a line.
func openRecorded(t *testing.T, l ringtest.Line) *qp {
	t.Helper()
	f := newFake(t, func(r *uapi.EFAAllocUcontextResp) { r.InlineBufSizeEx = 80 })
	attr := provider.QPAttr{Transport: provider.SRD, Cap: provider.QPCap{
		MaxSendWR: uint32(l.Number(t, "sends")), MaxRecvWR: uint32(l.Number(t, "receives")), MaxSendSGE: uint32(l.Number(t, "sges")),
		MaxRecvSGE: uint32(l.Number(t, "sges")), MaxInline: uint32(l.Number(t, "inline")),
	}}
	if l.Values["queue"] == "ud" {
		attr.Transport = provider.UD
	}
	attr.SendCQ = f.newCQ(t, 100)
	attr.RecvCQ = attr.SendCQ
	return f.newQP(t, attr)
}
