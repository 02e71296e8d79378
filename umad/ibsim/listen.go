package ibsim

import (
	"fmt"

	"github.com/ibkit/ibkit/umad"
)

// Listen checks that the port was opened with Options.Responder. It then receives all
// requests that the node's agents do not answer, of any class. It implements
// [umad.Responder].
func (p *Port) Listen(s umad.Service) error {
	if !p.responder {
		return fmt.Errorf("listen for %v: not attached to ibsim as a responder", s.Class)
	}
	return nil
}
