package pingpong

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// A Test is what both programs have to be started with. Nothing of it is
// exchanged.
type Test struct {
	Type       verbs.QPType // QPTypeRC, QPTypeUC or QPTypeUD
	Size       int          // bytes of a message, -s
	Iterations int          // messages of each side, -n; with Shared of all queue pairs together
	RxDepth    int          // receives posted, -r; a matter of each side
	MTU        ib.MTU       // -m; not of UD
	SL         uint8        // -l
	Events     bool         // wait for completions instead of polling, -e; a matter of each side

	// Shared is how many queue pairs of RC receive from one queue, -q of
	// ibv_srq_pingpong; 0 is any of the others.
	Shared int

	// Verify fills each message anew, and looks whether it comes back as it
	// went: all that these programs have for memory is one buffer, which they
	// receive to and send from.
	Verify bool

	// Silence is how long to wait for the other side's first message, and at most for
	// the next.
	Silence time.Duration

	// Sample, unless nil, is told how long each message and its answer took. It
	// must not allocate.
	Sample func(time.Duration)
}

// A Place is a port of this host.
type Place struct {
	Context  *verbs.Context
	Port     uint8
	GIDIndex int // -g; below 0: no GRH, which is InfiniBand's alone
}

// A Result is what a test came to.
type Result struct {
	Local, Remote []Record
	Iterations    int // messages sent and received
	Bytes         int64
	Elapsed       time.Duration
	Corrupt       int // messages that came back as others, with Verify
}

// errNotBoth is about Verify: two queue pairs would fill one buffer of the other
// side's.
var errNotBoth = errors.New("messages of several queue pairs cannot be verified: the other side has one buffer for all of them")

// grhSize is what datagrams begin with in memory (InfiniBand Architecture
// Specification, volume 1, section 11.4.1.2).
const grhSize = 40

// Check looks for what cannot be.
func (t *Test) Check() error {
	switch {
	case t.Size < 1 || t.Iterations < 1 || t.RxDepth < 1 || t.Silence <= 0:
		return fmt.Errorf("a test of %d messages of %d bytes, %d posted, %v of silence: each has to be above 0", t.Iterations, t.Size, t.RxDepth, t.Silence)
	case t.Shared > 0 && t.Type != verbs.QPTypeRC:
		return fmt.Errorf("queue pairs of type %v do not share a receive queue here", t.Type)
	case t.Shared > srqRecords:
		return fmt.Errorf("%d queue pairs: ibv_srq_pingpong has at most %d", t.Shared, srqRecords)
	case t.Shared > t.RxDepth:
		return fmt.Errorf("%d receives for %d queue pairs: each needs one", t.RxDepth, t.Shared)
	case t.Shared > 1 && t.Verify:
		return errNotBoth
	}
	return nil
}

// qps is how many queue pairs there are.
func (t *Test) qps() int { return max(t.Shared, 1) }

// headroom is what a received message has in front of it.
func (t *Test) headroom() int {
	if t.Type == verbs.QPTypeUD {
		return grhSize
	}
	return 0
}
