package timing

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/rdmacm"
)

// newTestClient returns a client without a kernel, and its warning texts.
func newTestClient(connections int) (c *Client, warnings func() []string) {
	var texts []string
	c = &Client{nodes: make([]node, connections), base: time.Now()}
	c.Begin = func(string) {}
	c.Warn = func(f *exchange.Error) { texts = append(texts, f.Error()) }
	for i := range c.nodes {
		c.nodes[i].id = &rdmacm.ID{}
	}
	for s := range c.times {
		c.times[s] = Times{Step: Step(s), Min: -1}
	}
	return c, func() []string { return slices.Compact(texts) }
}

func (c *Client) count(s Step) (done, failed int) {
	for i := range c.nodes {
		if c.nodes[i].done[s] {
			done++
		}
		if c.nodes[i].failed {
			failed++
		}
	}
	return done, failed
}

func TestStep_String(t *testing.T) {
	for s, want := range map[Step]string{StepCreate: "create id", StepConnect: "connect", StepDestroy: "destroy"} {
		if s.String() != want {
			t.Errorf("got %s, want %s", s, want)
		}
	}
}

// TestClient_Calls runs a step without events. A failed call excludes the connection from the
// following steps.
func TestClient_Calls(t *testing.T) {
	c, warnings := newTestClient(9)
	bad := &c.nodes[7]
	c.each(StepBind, func(n *node) (string, error) {
		if n == bad {
			return "failure bind addr", errors.New("in use")
		}
		return "", nil
	})
	done, failed := c.count(StepBind)
	if done != len(c.nodes)-1 || failed != 1 || c.result != -1 || !slices.Equal(warnings(), []string{"failure bind addr: in use"}) {
		t.Errorf("got %d done, %d failed, result %d, warnings %q", done, failed, c.result, warnings())
	}
	if x := c.times[StepBind]; x.Min < 0 || x.Max < x.Min || x.Total < x.Max {
		t.Errorf("got times %+v, want 0 <= min <= max <= total", x)
	}
	c.each(StepQP, func(n *node) (string, error) {
		if n == bad {
			t.Error("got a step of a failed connection, want none")
		}
		return "", nil
	})
}

// TestClient_Events runs a step that events complete.
func TestClient_Events(t *testing.T) {
	c, warnings := newTestClient(12)
	bad := &c.nodes[4]
	c.await(t.Context(), StepAddress, func(n *node) (string, error) {
		kind := rdmacm.EventAddrResolved
		if n == bad {
			kind = rdmacm.EventAddrError // without a retry left
		}
		c.handle(n, rdmacm.Event{Type: kind, Status: -19})
		return "", nil
	})
	done, failed := c.count(StepAddress)
	if done != len(c.nodes) || failed != 1 || c.pending > 0 {
		t.Errorf("got %d done, %d failed, %d pending; want %d, 1, 0", done, failed, c.pending, len(c.nodes))
	}
	if got := warnings(); !slices.Equal(got, []string{"RDMA_CM_EVENT_ADDR_ERROR, error: -19"}) {
		t.Errorf("got warnings %q, want that of the event", got)
	}
}

// TestClient_FailedRequest ends a step that no event follows.
func TestClient_FailedRequest(t *testing.T) {
	c, warnings := newTestClient(2)
	c.await(t.Context(), StepRoute, func(n *node) (string, error) { return "failure resolving route", errors.New("no memory") })
	if done, failed := c.count(StepRoute); done != 0 || failed != 2 || c.result != -1 || c.times[StepRoute].Min != -1 {
		t.Errorf("got %d done, %d failed, result %d, %+v; want 0, 2, -1, and no minimum", done, failed, c.result, c.times[StepRoute])
	}
	if got := warnings(); !slices.Equal(got, []string{"failure resolving route: no memory"}) {
		t.Errorf("got warnings %q", got)
	}
}

// TestClient_Handle maps events to the steps that they end.
func TestClient_Handle(t *testing.T) {
	for _, test := range []struct {
		event  rdmacm.EventType
		step   Step
		failed bool
	}{
		{rdmacm.EventAddrResolved, StepAddress, false},
		{rdmacm.EventRouteResolved, StepRoute, false},
		{rdmacm.EventEstablished, StepConnect, false},
		{rdmacm.EventConnectError, StepConnect, true},
		{rdmacm.EventUnreachable, StepConnect, true},
		{rdmacm.EventRejected, StepConnect, true},
		{rdmacm.EventRouteError, StepRoute, true},
		{rdmacm.EventDisconnected, StepDisconnect, false},
	} {
		t.Run(test.event.String(), func(t *testing.T) {
			c, warnings := newTestClient(1)
			n := &c.nodes[0]
			n.waits = true
			c.pending++
			c.handle(n, rdmacm.Event{Type: test.event, Status: -1})
			wasFailed := n.failed
			for _, late := range []rdmacm.EventType{rdmacm.EventRejected, rdmacm.EventDisconnected, test.event} {
				c.handle(n, rdmacm.Event{Type: late, Status: -1})
			}
			if n.failed != wasFailed {
				t.Error("a late event changed the connection")
			}
			if !n.done[test.step] || n.failed != test.failed || c.pending != 0 {
				t.Errorf("got done %v, failed %v, %d pending, warnings %q; want %v of %v", n.done, n.failed, c.pending, warnings(), test.failed, test.step)
			}
		})
	}
}
