package umad_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// panicOf returns the value that f panics with, nil if it returns.
func panicOf(f func()) (text any) {
	defer func() { text = recover() }()
	f()
	return nil
}

// A client that waits for a reply rejects calls of other goroutines, and goes on.
func TestClient_ConcurrentUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := umad.NewClient(newPort(time.Second), umad.ClientOptions{Timeout: 2 * time.Second})
		first := make(chan error)
		go func() { first <- c.Get(t.Context(), umad.Target{LID: 1}, &mad.NodeInfo{}) }()
		synctest.Wait()

		const want = "run client: in use by another goroutine"
		for name, call := range map[string]func() error{
			"Run": func() error { return c.Run(t.Context()) },
			"Get": func() error { return c.Get(t.Context(), umad.Target{LID: 1}, &mad.NodeInfo{}) },
			"GetTable": func() error {
				_, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.NodeRecord{}})
				return err
			},
			"Wait": func() error { return c.Wait(t.Context(), time.Now()) },
		} {
			if err := call(); err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
		got := panicOf(func() { c.Submit(&umad.Request{To: umad.Target{LID: 1}, Attr: mad.AttrNodeInfo}) })
		if want := "umad: concurrent use of a Client: Submit while another goroutine runs it"; got != want {
			t.Errorf("Submit: got panic %v, want %s", got, want)
		}
		if err := <-first; err != nil {
			t.Errorf("first Get: %v", err)
		}
		checkIdle(t, c)
	})
}

// A request that cannot work fails at once, and no packet is sent.
func TestClient_Misuse(t *testing.T) {
	get := func(to umad.Target, a mad.Attribute) func(context.Context, *umad.Client) error {
		return func(ctx context.Context, c *umad.Client) error { return c.Get(ctx, to, a) }
	}
	for name, test := range map[string]struct {
		call func(context.Context, *umad.Client) error
		want string
	}{
		"table without Match": {func(ctx context.Context, c *umad.Client) error {
			_, err := c.GetTable(ctx, &umad.TableRequest{})
			return err
		}, "get table: the request has no Match, a record of the kind wanted"},
		"counters along a route": {get(umad.Target{Route: mad.RouteOf(1)}, &mad.PortCounters{}),
			"Get Perf PortCounters of route 0,1: the request has no destination: " +
				"only subnet management packets have a directed route, a Perf packet needs a LID"},
		"counters along a route from a LID": {get(umad.Target{LID: 5, Route: mad.RouteOf(1)}, &mad.PortCounters{}),
			"Get Perf PortCounters of route 5,0,1: the request has no destination: " +
				"only subnet management packets have a directed route, a Perf packet needs a LID"},
		"no target": {get(umad.Target{}, &mad.NodeInfo{}),
			"Get NodeInfo of no destination: the request has no destination: neither a LID nor a route"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				begin := time.Now()
				if err := test.call(t.Context(), c); err == nil || err.Error() != test.want {
					t.Errorf("got %v, want %s", err, test.want)
				}
				if sent, passed := len(p.Sent()), time.Since(begin); sent != 0 || passed != 0 {
					t.Errorf("got %d packets in %v, want none", sent, passed)
				}
			})
		})
	}
}

func TestClient_SubmitWithoutDone(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		c.Submit(&umad.Request{To: umad.Target{LID: 5}, Attr: mad.AttrNodeInfo})
		if err := c.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestNewClient_NoPort(t *testing.T) {
	got := panicOf(func() { umad.NewClient(nil, umad.ClientOptions{}) })
	if want := "umad: NewClient without a port"; got != want {
		t.Errorf("got panic %v, want %s", got, want)
	}
}

func TestReply_DataWithoutPacket(t *testing.T) {
	inBubble(t, umad.ClientOptions{Attempts: 1}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = nil
		reply, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: 5}, Attr: mad.AttrNodeInfo})
		if data := reply.Data(); err == nil || data != nil {
			t.Errorf("got data %v, error %v, want no data and a timeout", data, err)
		}
	})
}

func TestTable_WrongKind(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = serveTable(linkTable(t, 2), nil)
		_, table, err := getLinks(t, c)
		if err != nil {
			t.Fatal(err)
		}
		const want = "decode table: got LinkRecord, want PathRecord"
		if _, err := umad.Records[mad.PathRecord](table); err == nil || err.Error() != want {
			t.Errorf("Records: got %v, want %s", err, want)
		}
		if err := table.Record(0, &mad.PathRecord{}); err == nil || err.Error() != want {
			t.Errorf("Record: got %v, want %s", err, want)
		}
	})
}
