package ping

import (
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// pingFake is a port with a clock of its bubble's (testing/synctest), behind
// which a test says what comes of a probe.
type pingFake struct {
	attr     umad.PortAttr
	arrivals []arrival // by time
	wake     chan struct{}
	sent     int

	// onSend says what comes of a probe, by arrive. The number counts from 0.
	onSend func(f *pingFake, n int, m umad.Message) error
}

type arrival struct {
	at time.Time
	m  umad.Message
}

func newPingFake(onSend func(f *pingFake, n int, m umad.Message) error) *pingFake {
	return &pingFake{attr: umad.PortAttr{LID: 1}, wake: make(chan struct{}, 1), onSend: onSend}
}

func (f *pingFake) Attr() umad.PortAttr { return f.attr }
func (f *pingFake) Close() error        { return nil }

func (f *pingFake) Interrupt() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *pingFake) Send(m *umad.Message) error {
	err := f.onSend(f, f.sent, *m)
	f.sent++
	return err
}

func (f *pingFake) Recv(m *umad.Message, deadline time.Time) error {
	for {
		now := time.Now()
		until := deadline
		if len(f.arrivals) > 0 {
			if !f.arrivals[0].at.After(now) {
				*m, f.arrivals = f.arrivals[0].m, f.arrivals[1:]
				return nil
			}
			if f.arrivals[0].at.Before(until) {
				until = f.arrivals[0].at
			}
		}
		if !deadline.After(now) {
			return os.ErrDeadlineExceeded
		}
		select {
		case <-f.wake:
			return os.ErrDeadlineExceeded
		case <-time.After(time.Until(until)):
		}
	}
}

// arrive makes a packet arrive in a while.
func (f *pingFake) arrive(in time.Duration, m umad.Message) {
	a := arrival{time.Now().Add(in), m}
	i := len(f.arrivals)
	for i > 0 && f.arrivals[i-1].at.After(a.at) {
		i--
	}
	f.arrivals = slices.Insert(f.arrivals, i, a)
}

// answerOf is what a server of ibkit's answers a ping with.
func answerOf(m umad.Message) umad.Message {
	pong(&m, "host")
	m.MAD.SetTID(m.MAD.TID()&0xffffffff | 0xabcd<<48)
	return m
}

// ibpingAnswerOf is what infiniband-diags' server answers a ping with.
func ibpingAnswerOf(m umad.Message, host string) umad.Message {
	m = answerOf(m)
	clear(m.MAD.Data())
	copy(m.MAD.Data(), host)
	return m
}

// agentAnswerOf is what an agent of a node answers.
func agentAnswerOf(m umad.Message, node ib.GUID) umad.Message {
	m.MAD.SetMethod(mad.MethodGetResp)
	if m.MAD.Class().IsSMP() {
		info := &mad.NodeInfo{BaseVersion: 1, ClassVersion: 1, NodeType: mad.NodeTypeCA, NumPorts: 1, NodeGUID: node, PortGUID: node + 1}
		if err := mad.Encode(info, m.MAD.Data()); err != nil {
			panic(err)
		}
	}
	return m
}

// returned is a probe that the kernel gives back without an answer.
func returned(m umad.Message) umad.Message {
	m.Status = syscall.ETIMEDOUT
	clear(m.MAD[24:])
	return m
}
