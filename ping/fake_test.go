package ping

import (
	"context"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A fate decides a probe's outcome. Probes are numbered from 0.
type fate func(p *umadtest.Port, n int, m umad.Message) error

// newPort returns a port on which probes have a fate.
func newPort(f fate) *umadtest.Port {
	n := -1
	return &umadtest.Port{
		Attributes: umad.PortAttr{LID: 1},
		OnSend: func(p *umadtest.Port, m umad.Message) error {
			n++
			return f(p, n, m)
		},
	}
}

// serverReply returns the reply from an ibkit server to a ping.
func serverReply(m umad.Message) umad.Message {
	makeReply(&m, "host")
	m.MAD.SetTID(m.MAD.TID()&0xffffffff | 0xabcd<<48)
	return m
}

// ibpingReply returns the reply from an infiniband-diags server to a ping.
func ibpingReply(m umad.Message, host string) umad.Message {
	m = serverReply(m)
	clear(m.MAD.Data())
	copy(m.MAD.Data(), host)
	return m
}

// agentReply returns the reply from a node's management agent.
func agentReply(m umad.Message, node ib.GUID) umad.Message {
	if !m.MAD.Class().IsSMP() {
		return umadtest.Reply(m)
	}
	return umadtest.ReplyWith(m, &mad.NodeInfo{
		BaseVersion: 1, ClassVersion: 1, NodeType: mad.NodeTypeCA, NumPorts: 1, NodeGUID: node, PortGUID: node + 1,
	})
}

// pingFrom returns the request from an ibping client at a LID.
func pingFrom(lid ib.LID, tid uint64) umad.Message {
	m := umad.Message{Addr: umad.Addr{LID: lid, QPN: 1, SL: 3, PathBits: 2, PKeyIndex: 1}}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: class, ClassVersion: 1, Method: mad.MethodGet, TID: tid})
	m.MAD.SetOUI(OUI)
	return m
}

// pings returns a port at which messages have arrived.
func pings(messages ...umad.Message) *umadtest.Port {
	p := &umadtest.Port{}
	for _, m := range messages {
		p.Deliver(0, m)
	}
	return p
}

// serveAll serves a port until all messages that have arrived are processed, and
// returns the server.
func serveAll(t testing.TB, o ServeOptions, p *umadtest.Port) *Server {
	t.Helper()
	s := NewServer(o)
	runServer(t, s, p)
	return s
}

func runServer(t testing.TB, s *Server, p *umadtest.Port) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.OnIdle = func(*umadtest.Port) { cancel() }
	if err := s.Serve(ctx, p); err != nil {
		t.Fatal(err)
	}
}

// roundTrip is the usual round-trip time in tests, and timeout the timeout.
const (
	roundTrip = 100 * time.Microsecond
	timeout   = 10 * time.Millisecond
)
