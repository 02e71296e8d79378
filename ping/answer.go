package ping

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// ListenForAnswers makes a port receive the answers to one-way pings, and returns the
// method of the answers: the first method that no other program at the port uses. It must
// be called before any ping class packet is sent.
//
// An ibping server (infiniband-diags) at the same port occupies all methods. The
// error then wraps [umad.ErrTaken].
func ListenForAnswers(p umad.Port, oui uint32) (mad.Method, error) {
	r, ok := p.(umad.Responder)
	if !ok {
		return 0, errors.New("listen for replies: the port receives responses only")
	}
	for m := firstAnswerMethod; ; m++ {
		err := r.Listen(umad.Service{Class: class, ClassVersion: class.Version(), OUI: oui, Methods: []mad.Method{m}})
		switch {
		case err == nil:
			return m, nil
		case !errors.Is(err, umad.ErrTaken) || m == lastAnswerMethod:
			return 0, fmt.Errorf("listen for replies: %w", err)
		}
	}
}
