package umad_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// report returns a service's packet as it arrives.
func report(tid uint64) (m umad.Message) {
	m.Addr = umad.Addr{LID: 1, QPN: 1}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: 2, Method: mad.MethodReport, TID: tid, Attr: mad.AttrNotice})
	return m
}

var reports = umad.Service{Class: mad.ClassSA, ClassVersion: 2, Methods: []mad.Method{mad.MethodReport}}

// TestClient_Listen receives a service's packets while a request is in
// flight, and after it.
func TestClient_Listen(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		var received []uint64
		err := c.Listen(reports, func(m *umad.Message) {
			received = append(received, m.MAD.TID())
			answer := umad.Message{Addr: m.Addr, MAD: m.MAD}
			answer.MAD.SetMethod(mad.MethodReportResp)
			if err := c.Respond(&answer); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			if m.MAD.Method() != mad.MethodGet {
				return
			}
			// The transaction ID of a service's packet may be the same as the request's.
			p.Deliver(time.Millisecond, report(m.MAD.TID()))
			p.Deliver(2*time.Millisecond, umadtest.Reply(m))
		})
		if _, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo}); err != nil || len(received) != 1 {
			t.Fatalf("got error %v and %d packets during the request, want 1", err, len(received))
		}
		p.Deliver(time.Second, report(7))
		start := time.Now()
		if err := c.Wait(t.Context(), start.Add(time.Minute)); err != nil || len(received) != 2 || time.Since(start) != time.Second {
			t.Errorf("got error %v and %d packets after %v, want 2 after 1 s", err, len(received), time.Since(start))
		}
		if err := c.Wait(t.Context(), time.Now().Add(time.Minute)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("without a packet: got %v, want %v", err, os.ErrDeadlineExceeded)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Wait(ctx, time.Time{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the end of the context: got %v, want %v", err, context.DeadlineExceeded)
		}
		if got := c.Stats().Stray; got != 0 {
			t.Errorf("got %d stray packets, want 0", got)
		}
		answers := 0
		for _, m := range p.Sent() {
			if m.MAD.Method() == mad.MethodReportResp {
				answers++
			}
		}
		if answers != 2 {
			t.Errorf("got %d responses, want 2", answers)
		}
	})
}

// TestClient_ListenOther counts packets that no service receives as strays.
func TestClient_ListenOther(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		if err := c.Listen(reports, func(*umad.Message) { t.Error("got a packet") }); err != nil {
			t.Fatal(err)
		}
		method, class, returned := report(1), report(2), umadtest.Returned(report(3))
		method.MAD.SetMethod(mad.MethodTrap)
		class.MAD[1] = byte(mad.ClassPM)
		for _, m := range []umad.Message{method, class, returned} {
			p.Deliver(0, m)
		}
		if err := c.Wait(t.Context(), time.Now().Add(time.Second)); !errors.Is(err, os.ErrDeadlineExceeded) || c.Stats().Stray != 3 {
			t.Errorf("got error %v and %d stray packets, want the end of the time and 3", err, c.Stats().Stray)
		}
	})
}

func TestClient_ListenUnsupported(t *testing.T) {
	c := umad.NewClient(struct{ umad.Port }{&umadtest.Port{}}, umad.ClientOptions{})
	if err := c.Listen(reports, nil); err == nil {
		t.Error("got no error for a port that receives responses only")
	}
	c = umad.NewClient(&umadtest.Port{OnListen: func(umad.Service) error { return umad.ErrTaken }}, umad.ClientOptions{})
	if err := c.Listen(reports, nil); !errors.Is(err, umad.ErrTaken) {
		t.Errorf("got %v, want %v", err, umad.ErrTaken)
	}
}
