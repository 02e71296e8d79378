package device

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Listen registers an agent that receives a service's requests. It implements
// [umad.Responder].
func (p *Port) Listen(s umad.Service) error {
	if p.smi != nil && s.Class.IsSMP() {
		return p.smi.Listen(s)
	}
	a := &p.agents[s.Class]
	if a.registered {
		return fmt.Errorf("listen for %v by %s: the class is in use already", s.Class, p.name)
	}
	r := serviceRegistration(s)
	switch err := p.ioctl(uapi.UMADRegisterAgent, unsafe.Pointer(&r)); {
	case errors.Is(err, unix.EINVAL):
		// The kernel's only error for a method that has an agent
		// (drivers/infiniband/core/mad.c, ib_register_mad_agent).
		return fmt.Errorf("listen for %v of OUI 0x%06x by %s: %w", s.Class, s.OUI, p.name, umad.ErrTaken)
	case err != nil:
		return p.failed(fmt.Sprintf("listen for %v", s.Class), err)
	}
	*a = agent{id: r.ID, registered: true}
	return nil
}

// serviceRegistration describes an agent that also receives requests.
func serviceRegistration(s umad.Service) uapi.UMADRegister {
	r := uapi.UMADRegister{QPN: 1, Class: uint8(s.Class), ClassVers: s.ClassVersion}
	if s.Class.IsSMP() {
		r.QPN = 0
	}
	if s.Class.HasOUI() {
		r.OUI = s.OUI
	}
	if s.RMPP {
		r.RMPPVersion = mad.RMPPVersion
	}
	for _, m := range s.Methods {
		r.MethodMask[m>>6&1] |= 1 << (m & 63)
	}
	return r
}
