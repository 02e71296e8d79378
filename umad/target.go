package umad

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// A Target is who is asked. The zero value is the local port itself.
//
// With LID 0 a subnet management packet follows Route from the local port.
// With a LID and no Route it is routed by LID; with both, by LID as far as that
// port and from there along Route. Other classes are routed by LID only.
type Target struct {
	LID   uint16
	Route mad.Route
}

// String writes the target as the tools of infiniband-diags do: "Lid 5" or
// "DR path slid 65535; dlid 65535; 0,1,3".
func (t Target) String() string {
	switch {
	case t.LID == 0:
		return fmt.Sprintf("DR path slid %d; dlid %d; %s", PermissiveLID, PermissiveLID, t.Route)
	case t.Route == "":
		return fmt.Sprintf("Lid %d", t.LID)
	default:
		return fmt.Sprintf("Lid %d DR path slid 0; dlid %d; %s", t.LID, PermissiveLID, t.Route)
	}
}

// ErrTimeout is wrapped by the error of a request that no attempt got a reply
// to.
var ErrTimeout = errors.New("no reply")

// An Error says which request came to nothing. Err is or wraps ErrTimeout, a
// [mad.StatusError] that the other side sent, ErrGone, or the error of the
// context.
type Error struct {
	To       Target
	Attr     mad.AttrID
	Modifier uint32
	Attempts int
	Err      error
}

func (e *Error) Error() string {
	what := fmt.Sprintf("get %s of %s", e.Attr, e.To)
	if e.Modifier != 0 {
		what = fmt.Sprintf("get %s %d of %s", e.Attr, e.Modifier, e.To)
	}
	if errors.Is(e.Err, ErrTimeout) {
		return fmt.Sprintf("%s: %v to %d attempts", what, e.Err, e.Attempts)
	}
	return fmt.Sprintf("%s: %v", what, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }
