package docs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
	"github.com/ibkit/ibkit/verbs"
)

// The functions that library.md shows.

func badLinks(ctx context.Context, source fabric.Source) error {
	r, err := linkinfo.Run(ctx, linkinfo.Options{Source: source})
	if err != nil {
		return err
	}
	for _, l := range r.Links() {
		if l.HasProblem() {
			fmt.Println(l)
		}
	}
	return nil
}

func linkDowned(ctx context.Context, client *umad.Client, node string, port uint8) error {
	address, err := lookup.Parse(node) // a name, GUID, LID, GID, IP address or directed route
	if err != nil {
		return err
	}
	found, err := lookup.New(client, client.Local(), lookup.Options{}).Find(ctx, address)
	if err != nil {
		return err
	}
	counters := mad.PortCounters{PortSelection: mad.PortSelection{PortSelect: port}}
	if err := client.Get(ctx, found[0].To, &counters); err != nil {
		return err
	}
	fmt.Printf("%s[%d] went down %d times\n", node, port, counters.LinkDowned)
	return nil
}

func firstSwitch(ctx context.Context, client *umad.Client) error {
	to := umad.Target{Route: mad.RouteOf(client.Local().Number)}
	var name mad.NodeDescription
	if err := client.Get(ctx, to, &name); err != nil {
		return err
	}
	var info mad.SwitchInfo
	if err := client.Get(ctx, to, &info); err != nil {
		return err
	}
	fmt.Printf("%s forwards to LIDs up to %d, of %d\n", name.Clean(), info.LinearFDBTop, info.LinearFDBCap)
	return nil
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port := &umadtest.Port{OnSend: func(p *umadtest.Port, m umad.Message) error {
			if m.Addr.LID == 7 {
				p.Deliver(time.Millisecond, umadtest.ReplyWith(m, &mad.NodeInfo{NumPorts: 36}))
			} else {
				p.Deliver(m.Timeout, umadtest.Returned(m)) // as a kernel does without a reply
			}
			return nil
		}}
		client := umad.NewClient(port, umad.ClientOptions{Timeout: time.Second, Attempts: 2})
		var node mad.NodeInfo
		if err := client.Get(t.Context(), umad.Target{LID: 7}, &node); err != nil || node.NumPorts != 36 {
			t.Errorf("LID 7: got %d ports, %v, want 36", node.NumPorts, err)
		}
		begin := time.Now()
		err := client.Get(t.Context(), umad.Target{LID: 8}, &node)
		if took := time.Since(begin); !errors.Is(err, umad.ErrTimeout) || took != 2*time.Second {
			t.Errorf("LID 8: got %v after %v, want a timeout after 2 s", err, took)
		}
	})
}

func send(ctx context.Context, address, text string) error {
	var c *verbs.Context
	var mr *verbs.MR
	var cq *verbs.CQ
	conn, err := rdmacm.Dialer{Setup: func(_ context.Context, id *rdmacm.ID) (*verbs.QP, error) {
		c = must(must(id.Device()).Open())
		pd, memory := must(c.AllocPD()), must(c.NewMemory(4096, verbs.MemoryOptions{}))
		mr = must(pd.RegisterMR(memory, verbs.AccessLocalWrite))
		cq = must(c.CreateCQ(verbs.CQInit{Entries: 4, Channel: must(c.NewCompChannel())}))
		room := verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}
		return pd.CreateQP(verbs.QPInit{Type: id.QPType(), SendCQ: cq, RecvCQ: cq, Cap: room})
	}}.Dial(ctx, address)
	if err != nil {
		return err
	}
	defer c.Close() // with all its objects
	defer conn.Close()
	sge := mr.SGE(0, copy(mr.Bytes(), text))
	wr := verbs.SendWR{Opcode: verbs.OpSend, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{sge}}
	if _, err := conn.QP().PostSend([]verbs.SendWR{wr}); err != nil {
		return err
	}
	done := make([]verbs.Completion, 1)
	if _, err := cq.Wait(ctx, done); err != nil {
		return err
	}
	return done[0].Err()
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// The output that library.md shows.

func Example_badLinks() {
	simulated := must(sim.Build("demo"))
	source := fabric.Source{OpenPort: simulated.Opener("node01")}
	if err := badLinks(context.Background(), source); err != nil {
		log.Fatal(err)
	}
	// Output:
	// leaf1[1] - spine1[1]
	// leaf2[5] - node07[1]
	// leaf3[4] - node10[1]
}

// demo returns a client of a port in the simulated fabric demo.
func demo() *umad.Client {
	return umad.NewClient(must(must(sim.Build("demo")).Open("node01")), umad.ClientOptions{})
}

func Example_linkDowned() {
	if err := linkDowned(context.Background(), demo(), "leaf3", 4); err != nil {
		log.Fatal(err)
	}
	// Output: leaf3[4] went down 17 times
}

func Example_firstSwitch() {
	if err := firstSwitch(context.Background(), demo()); err != nil {
		log.Fatal(err)
	}
	// Output: leaf1 forwards to LIDs up to 22, of 49152
}

// Without an RDMA device, or without a server, the error names the step.
func Example_send() {
	fmt.Println(send(context.Background(), "192.0.2.1:7174", "hello"))
}
