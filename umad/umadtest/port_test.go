package umadtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A port on which a single agent answers, after a request was lost.
func Example() {
	port := &umadtest.Port{Attributes: umad.PortAttr{LID: 1, SMLID: 1}}
	port.OnSend = func(p *umadtest.Port, m umad.Message) error {
		if len(p.Sent()) == 0 {
			p.Deliver(0, umadtest.Returned(m)) // without a reply
		} else {
			p.Deliver(0, umadtest.ReplyWith(m, &mad.NodeInfo{NodeType: mad.NodeTypeSwitch, NumPorts: 36}))
		}
		return nil
	}
	client := umad.NewClient(port, umad.ClientOptions{Attempts: 2})
	var node mad.NodeInfo
	err := client.Get(context.Background(), umad.Target{LID: 7}, &node)
	fmt.Println(node.NodeType, "with", node.NumPorts, "ports", err)
	fmt.Println(len(port.Sent()), "requests were sent to LID", port.Sent()[1].Addr.LID)
	// Output:
	// Switch with 36 ports <nil>
	// 2 requests were sent to LID 7
}

// message returns a message with a transaction ID.
func message(tid uint64) umad.Message {
	var m umad.Message
	m.MAD.SetTID(tid)
	return m
}

// recv receives a message and returns its transaction ID, and how long that took.
func recv(p umad.Port, deadline time.Time) (uint64, time.Duration, error) {
	var m umad.Message
	start := time.Now()
	err := p.Recv(&m, deadline)
	return m.MAD.TID(), time.Since(start), err
}

func TestPort_Recv(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &umadtest.Port{}
		start := time.Now()
		p.Deliver(2*time.Second, message(3))
		p.Deliver(time.Second, message(1))
		p.Deliver(time.Second, message(2))
		steps := []struct {
			name     string
			deadline time.Duration // since start; 0: none
			tid      uint64        // 0: none by the deadline
			took     time.Duration
		}{
			{"deadline in the past", -time.Hour, 0, 0},
			{"deadline before the arrival", 500 * time.Millisecond, 0, 500 * time.Millisecond},
			{"arrival at the deadline", time.Second, 1, 500 * time.Millisecond},
			{"arrival at the same time", 0, 2, 0},
			{"no deadline", 0, 3, time.Second},
		}
		for _, step := range steps {
			var deadline time.Time
			if step.deadline != 0 {
				deadline = start.Add(step.deadline)
			}
			tid, took, err := recv(p, deadline)
			if tid != step.tid || took != step.took || errors.Is(err, os.ErrDeadlineExceeded) != (step.tid == 0) {
				t.Errorf("%s: got ID %d, error %v after %v, want ID %d after %v", step.name, tid, err, took, step.tid, step.took)
			}
		}
	})
}

func TestPort_Interrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &umadtest.Port{}
		p.Interrupt()
		p.Deliver(0, message(1))
		if tid, _, err := recv(p, time.Time{}); tid != 1 || err != nil {
			t.Errorf("interrupted with a message: got ID %d, error %v, want the message", tid, err)
		}
		if _, took, err := recv(p, time.Time{}); took != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("interrupted before: got error %v after %v, want %v at once", err, took, os.ErrDeadlineExceeded)
		}
		time.AfterFunc(time.Second, p.Interrupt)
		if _, took, err := recv(p, time.Time{}); took != time.Second || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("interrupted: got error %v after %v, want %v after 1s", err, took, os.ErrDeadlineExceeded)
		}
		time.AfterFunc(time.Second, func() { p.Deliver(time.Second, message(2)) })
		if tid, took, err := recv(p, time.Time{}); tid != 2 || took != 2*time.Second || err != nil {
			t.Errorf("delivered while waiting: got ID %d, error %v after %v, want ID 2 after 2s", tid, err, took)
		}
	})
}

func TestPort_Hooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		var fails error
		p := &umadtest.Port{
			OnSend:   func(*umadtest.Port, umad.Message) error { return fails },
			OnRecv:   func(*umadtest.Port) error { return fails },
			OnListen: func(umad.Service) error { return fails },
			OnIdle:   func(p *umadtest.Port) { p.Deliver(time.Second, message(9)) },
			Pick:     func(arrived []umad.Message) int { return len(arrived) - 1 },
		}
		m := message(1)
		m.Addr.GRH = &umad.GRH{HopLimit: 1}
		s := umad.Service{Class: 0x32}
		for _, fails = range []error{broken, nil} {
			if err := p.Send(&m); !errors.Is(err, fails) {
				t.Errorf("Send: got error %v, want %v", err, fails)
			}
			if err := p.Listen(s); !errors.Is(err, fails) {
				t.Errorf("Listen: got error %v, want %v", err, fails)
			}
			if _, _, err := recv(p, time.Now()); fails != nil && !errors.Is(err, fails) {
				t.Errorf("Recv: got error %v, want %v", err, fails)
			}
		}
		m.Addr.GRH.HopLimit = 2
		if sent := p.Sent(); len(sent) != 1 || sent[0].Addr.GRH.HopLimit != 1 {
			t.Errorf("Sent: got %+v, want one message as it was sent", sent)
		}
		if got := p.Services(); len(got) != 1 || got[0].Class != 0x32 {
			t.Errorf("Services: got %+v, want %+v", got, s)
		}
		if tid, took, err := recv(p, time.Time{}); tid != 9 || took != time.Second || err != nil {
			t.Errorf("idle: got ID %d, error %v after %v, want ID 9 after 1s", tid, err, took)
		}
		p.Deliver(0, message(1))
		p.Deliver(0, message(2))
		if tid, _, err := recv(p, time.Time{}); tid != 2 || err != nil || p.Pending() != 1 {
			t.Errorf("Pick: got ID %d, error %v, want the last message", tid, err)
		}
		if err := p.Close(); err != nil || !p.Closed() {
			t.Errorf("Close: got error %v, closed %t", err, p.Closed())
		}
	})
}

func TestBatchPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &umadtest.BatchPort{Port: &umadtest.Port{}, Room: 2}
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			p.Deliver(0, umadtest.Reply(m))
			return nil
		}
		m := make([]umad.Message, 3)
		if n, err := p.SendBatch(m); n != 2 || !errors.Is(err, umad.ErrWouldBlock) {
			t.Errorf("SendBatch: got %d, error %v, want 2 and %v", n, err, umad.ErrWouldBlock)
		}
		p.Deliver(time.Second, message(1))
		if n, err := p.RecvBatch(m, time.Time{}); n != 2 || err != nil {
			t.Errorf("RecvBatch: got %d, error %v, want the 2 messages that have arrived", n, err)
		}
		if n, err := p.RecvBatch(m, time.Now()); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("RecvBatch at the deadline: got %d, error %v, want %v", n, err, os.ErrDeadlineExceeded)
		}
		if len(p.Sends) != 1 || p.Sends[0] != 2 || len(p.Receives) != 1 || p.Receives[0] != 2 {
			t.Errorf("got batches %v and %v, want one of 2 in both directions", p.Sends, p.Receives)
		}
	})
}

func TestReturned(t *testing.T) {
	m := message(5)
	m.MAD[100] = 1
	if got := umadtest.Returned(m); got.Status == 0 || got.MAD.TID() != 5 || got.MAD[100] != 0 {
		t.Errorf("got %+v, want a status, the header and no data", got)
	}
}
