package ping

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// classVersion is the version of [Class].
const classVersion = 1

// ListenForAnswers has a port receive the answers to one-way pings and returns
// the method that they are to have: the first that no other program at the port
// has taken. It has to be called before anything of the class is sent.
//
// An ibping server (infiniband-diags) at the same port takes all methods; the
// error wraps [umad.ErrTaken] then.
func ListenForAnswers(p umad.Port, oui uint32) (mad.Method, error) {
	r, ok := p.(umad.Responder)
	if !ok {
		return 0, errors.New("listen for answers: the port receives nothing but responses")
	}
	for m := FirstAnswerMethod; ; m++ {
		err := r.Listen(umad.Service{Class: Class, ClassVersion: classVersion, OUI: oui, Methods: []mad.Method{m}})
		switch {
		case err == nil:
			return m, nil
		case !errors.Is(err, umad.ErrTaken) || m == LastAnswerMethod:
			return 0, fmt.Errorf("listen for answers: %w", err)
		}
	}
}
