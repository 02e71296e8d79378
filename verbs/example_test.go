package verbs_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// exchange tells the other side, over TCP for instance, what it needs, and returns
// what it says.
var exchange func(qpn uint32) (peer uint32, path verbs.Path)

// One side of a reliable connection: a message to the other side, and one back.
func Example() {
	c, err := verbs.Open("rxe0", "/dev/infiniband/uverbs0")
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close() // closes all that follows

	pd, err := c.AllocPD()
	if err != nil {
		log.Fatal(err)
	}
	memory, err := c.NewMemory(64<<10, false)
	if err != nil {
		log.Fatal(err)
	}
	mr, err := pd.RegisterMR(memory, verbs.AccessLocalWrite)
	if err != nil {
		log.Fatal(err)
	}
	channel, err := c.NewCompChannel()
	if err != nil {
		log.Fatal(err)
	}
	cq, err := c.CreateCQ(verbs.CQInit{Entries: 32, Channel: channel})
	if err != nil {
		log.Fatal(err)
	}
	qp, err := pd.CreateQP(verbs.QPInit{
		Type: verbs.QPTypeRC, SendCQ: cq, RecvCQ: cq,
		Cap: verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		log.Fatal(err)
	}

	// Attributes that a change of state lacks, or cannot have, are an error that
	// names them.
	err = qp.Modify(verbs.QPStateInit, verbs.QPAttr{
		PKeyIndex: new(uint16(0)), Port: new(uint8(1)), Access: new(verbs.Access(0)),
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := qp.PostRecv([]verbs.RecvWR{{ID: 1, SGEs: []verbs.SGE{mr.SGE(0, 4096)}}}); err != nil {
		log.Fatal(err)
	}
	peer, path := exchange(qp.Number())
	err = qp.Modify(verbs.QPStateRTR, verbs.QPAttr{
		Path: &path, PathMTU: new(ib.MTU1024), DestQPN: &peer, RQPSN: new(uint32(0)),
		MaxDestRdAtomic: new(uint8(1)), MinRNRTimer: new(uint8(12)),
	})
	if err != nil {
		log.Fatal(err)
	}
	err = qp.Modify(verbs.QPStateRTS, verbs.QPAttr{
		SQPSN: new(uint32(0)), Timeout: new(uint8(14)), RetryCount: new(uint8(7)), RNRRetry: new(uint8(7)),
		MaxRdAtomic: new(uint8(1)),
	})
	if err != nil {
		log.Fatal(err)
	}

	n := copy(mr.Bytes()[4096:], "hello")
	_, err = qp.PostSend([]verbs.SendWR{{
		ID: 2, Opcode: verbs.OpSend, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{mr.SGE(4096, n)},
	}})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	done := make([]verbs.Completion, 2)
	for got := 0; got < 2; {
		n, err := cq.Wait(ctx, done) // Poll does not wait
		if err != nil {
			log.Fatal(err)
		}
		for i := range done[:n] {
			if err := done[i].Err(); err != nil {
				log.Fatal(err) // says what to look at
			}
			if done[i].Opcode.Received() {
				fmt.Printf("%s\n", mr.Bytes()[:done[i].ByteLen])
			}
		}
		got += n
	}
}
