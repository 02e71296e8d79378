package irdma

import (
	"flag"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/verbs/internal/ringtest"
	"github.com/ibkit/ibkit/verbs/provider"
)

// recorded is the output of test/guest/irdma/testdata/wqes.c with libirdma 44.0 for
// generations 1 and 2, and 65.0 for generation 3: work requests, and the rings that the
// library wrote. The test in a guest replaces it with new output.
var recorded = flag.String("wqes", "testdata/libirdma.wqes", "`FILE` with work requests of libirdma")

// TestLibirdma posts the same work requests as a program with libirdma and compares the
// rings, byte by byte, after more than a round.
func TestLibirdma(t *testing.T) {
	var f *fake
	var q *qp
	rings, requests := 0, 0
	for _, l := range ringtest.Lines(t, *recorded) {
		switch {
		case l.Values["generation"] != "":
			f = newFake(t, uint8(l.Number(t, "generation")))
		case l.Values["queue"] != "":
			q = f.openRecorded(t, l)
		case l.Values["send"] != "":
			rings++
			if q.send.head < uint32(len(q.send.ring)) && !q.send.ud {
				t.Errorf("got %d quanta, want more than a round of %d", q.send.head, len(q.send.ring))
			}
			ringtest.Compare(t, fmt.Sprintf("send ring %d", rings), q.send.ring, l.Hex(t, "send"), quantumSize)
			ringtest.Compare(t, fmt.Sprintf("receive ring %d", rings), q.recv.ring, l.Hex(t, "receive"), quantumSize)
		case l.Values["receive"] != "":
			if _, err := q.PostRecv([]provider.RecvWR{{SGEs: l.SGEs}}); err != nil {
				t.Fatalf("%s: %v", l.Text, err)
			}
			q.recv.tail.Store(q.recv.head)
		default:
			requests++
			wr := l.Send(t)
			if l.Values["ah"] != "" {
				wr.AH = provider.NewDestination(&ah{uint32(l.Number(t, "ah"))})
			}
			if _, err := q.PostSend([]provider.SendWR{wr}); err != nil {
				t.Fatalf("%s: %v", l.Text, err)
			}
			q.send.tail.Store(q.send.head)
		}
	}
	ringtest.Posted(t, rings, requests)
}

// openRecorded creates the queue pair of a line.
func (f *fake) openRecorded(t *testing.T, l ringtest.Line) *qp {
	t.Helper()
	transport := provider.RC
	if l.Values["queue"] == "ud" {
		transport = provider.UD
	}
	sges := uint32(l.Number(t, "sges"))
	c := f.newCQ(t, 100)
	return f.newQP(t, provider.QPAttr{Transport: transport, SendCQ: c, RecvCQ: c, Cap: provider.QPCap{
		MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: sges, MaxRecvSGE: sges, MaxInline: uint32(l.Number(t, "inline")),
	}})
}
