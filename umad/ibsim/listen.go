package ibsim

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Listen checks that the port was opened with Options.Responder. It then receives all
// requests, in any class, that the node's agents do not answer. It implements
// [umad.Responder].
func (p *Port) Listen(s umad.Service) error {
	if !p.responder {
		return fmt.Errorf("listen for %v: not attached to ibsim as a responder", s.Class)
	}
	p.services = append(p.services, s)
	return nil
}

// reject answers a Get or Set that no service receives with a status, as a kernel does
// (drivers/infiniband/core/mad.c, generate_unmatched_resp). It reports false for other
// messages. Otherwise the requester would wait for ever: a responder seems to be a subnet
// manager, and opensm queries it for SMInfo.
func (p *Port) reject(m *umad.Message) bool {
	method := m.MAD.Method()
	if m.Status != 0 || method != mad.MethodGet && method != mad.MethodSet || len(p.services) == 0 {
		return false
	}
	for _, s := range p.services {
		if s.Class == m.MAD.Class() && slices.Contains(s.Methods, method) {
			return false
		}
	}
	m.MAD.SetMethod(mad.MethodGetResp)
	m.MAD.SetStatus(mad.StatusBadMethodAttr)
	if m.MAD.Class() == mad.ClassSMPDirected {
		m.MAD.SetReturning()
	}
	// The requester may be gone, and repeats a request after a lost response.
	_ = p.Send(m)
	return true
}
