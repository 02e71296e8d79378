package ibsim

import (
	"fmt"

	"github.com/ibkit/ibkit/umad"
)

// Listen makes sure that requests come in, which is so where the port was opened
// with Options.Responder. They are all those that the node's agents do not
// answer: the server knows nothing of classes. It implements [umad.Responder].
func (p *Port) Listen(s umad.Service) error {
	if !p.responder {
		return fmt.Errorf("listen for %v: attached to ibsim as one who only asks", s.Class)
	}
	return nil
}
