package bnxt

import (
	"flag"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/verbs/internal/ringtest"
	"github.com/ibkit/ibkit/verbs/provider"
)

// recorded is the output of test/guest/bnxt/testdata/wqes.c with libbnxt_re 44.0 for Thor, and
// 56.1 for Thor2 with static and with variable work requests: work requests, and the rings that
// the library wrote. The test in a guest replaces it with new output.
var recorded = flag.String("wqes", "testdata/libbnxt_re.wqes", "`FILE` with work requests of libbnxt_re")

// TestLibbnxt posts the same work requests as a program with libbnxt_re and compares the rings
// and the tables of packet numbers, byte by byte, after more than a round.
func TestLibbnxt(t *testing.T) {
	var f *fake
	var q *qp
	rings, requests := 0, 0
	for _, l := range ringtest.Lines(t, *recorded) {
		switch {
		case l.Values["chip"] != "":
			f = newFake(t, uint32(l.Number(t, "chip")), l.Number(t, "properties"))
		case l.Values["queue"] != "":
			q = f.openRecorded(t, l)
		case l.Values["send"] != "":
			rings++
			if q.send.used < uint32(len(q.send.ring)) && !q.send.ud {
				t.Errorf("got %d slots, want more than a round of %d", q.send.used, len(q.send.ring))
			}
			ringtest.Compare(t, fmt.Sprintf("send ring %d", rings), q.send.ring, l.Hex(t, "send"), slotSize)
			ringtest.Compare(t, fmt.Sprintf("table %d", rings), q.send.packets.table, l.Hex(t, "table"), 8)
			ringtest.Compare(t, fmt.Sprintf("receive ring %d", rings), q.recv.ring, l.Hex(t, "receives"), slotSize)
		case l.Values["receive"] != "":
			if _, err := q.PostRecv([]provider.RecvWR{{SGEs: l.SGEs}}); err != nil {
				t.Fatalf("%s: %v", l.Text, err)
			}
			q.recv.done.Store(q.recv.posted.Load())
		default:
			requests++
			wr := l.Send(t)
			if l.Values["ah"] != "" {
				wr.AH = provider.NewDestination(&ah{uint32(l.Number(t, "ah"))})
			}
			if _, err := q.PostSend([]provider.SendWR{wr}); err != nil {
				t.Fatalf("%s: %v", l.Text, err)
			}
			q.send.doneSlots.Store(q.send.used)
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
	q := f.newQP(t, provider.QPAttr{Transport: transport, SendCQ: c, RecvCQ: c, Cap: provider.QPCap{
		MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: sges, MaxRecvSGE: sges, MaxInline: uint32(l.Number(t, "inline")),
	}})
	q.Sequence(new(uint32(l.Number(t, "psn"))), new(uint32(l.Number(t, "mtu"))))
	return q
}
