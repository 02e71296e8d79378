package umadtest

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A ReadOnlyPort is a port that rejects all packets that may change a fabric: packets
// with a method other than the queries Get, GetTable and GetMulti.
type ReadOnlyPort struct {
	umad.Port

	// Rejected is called for each rejected packet.
	Rejected func(*umad.Message)
}

// Listen makes the port receive a service's packets.
func (p *ReadOnlyPort) Listen(s umad.Service) error {
	r, ok := p.Port.(umad.Responder)
	if !ok {
		return fmt.Errorf("listen for %v: the port receives responses only", s.Class)
	}
	return r.Listen(s)
}

// Send sends a query. For other packets it calls Rejected and returns an error.
func (p *ReadOnlyPort) Send(m *umad.Message) error {
	switch m.MAD.Method() {
	case mad.MethodGet, mad.MethodGetTable, mad.MethodGetMulti:
		return p.Port.Send(m)
	}
	p.Rejected(m)
	return fmt.Errorf("send %v %s: the port is read-only", m.MAD.Method(), m.MAD.Class().AttrName(m.MAD.Attr()))
}
