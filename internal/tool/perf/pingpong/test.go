package pingpong

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// A Test holds settings that both programs must be started with.
type Test struct {
	Type       verbs.QPType // QPTypeRC, QPTypeUC or QPTypeUD
	Size       int          // -s, bytes of a message
	Iterations int          // -n, messages of each side; with Shared, of all queue pairs together
	RxDepth    int          // -r, receives posted (local)
	MTU        ib.MTU       // -m; ignored for UD
	SL         uint8        // -l
	Events     bool         // -e, wait for completion events instead of polling (local)

	// Shared is the number of RC queue pairs that share a receive queue: -q of
	// ibv_srq_pingpong. 0 selects the other programs.
	Shared int

	// Verify fills each message with a payload of its own and compares the answer
	// with it. This works because the programs have a single buffer for receives and
	// sends.
	Verify bool

	// Chk makes the checks of option -c: the client sends a buffer with pages that begin
	// with zero, and Result.BadPages are the pages of the server's last message that do
	// not.
	Chk bool

	// OnDemand registers the memory for on-demand paging: -o.
	OnDemand bool

	// PeerTimeout is the maximum time to the peer's first message and between
	// messages.
	PeerTimeout time.Duration

	// Sample, unless nil, is called with the time of each round trip. It must not
	// allocate.
	Sample func(time.Duration)

	// Local and Remote, unless nil, are called with the addresses of a side when they are
	// known.
	Local, Remote func([]Address)
}

// A Place is a local port.
type Place struct {
	Context  *verbs.Context
	Port     uint8
	GIDIndex int // -g; negative: packets have no GRH (InfiniBand only)
}

// A Result holds the figures of a test.
type Result struct {
	Connected  bool // the peer's address is known
	PeerLID    ib.LID
	PeerGID    netip.Addr
	Iterations int // messages sent and received
	Bytes      int64
	Elapsed    time.Duration
	Corrupt    int // answers that differ from the message, with Verify
	BadPages   []int

	local []Address
}

// errSharedBuffer is returned for Verify with several queue pairs.
var errSharedBuffer = errors.New("messages of several queue pairs cannot be verified: the peer has a single buffer for them")

// grhSize is the number of bytes before the payload of a received datagram (InfiniBand
// Architecture Specification, volume 1, section 11.4.1.2).
const grhSize = 40

// Check returns an error if the settings are invalid.
func (t *Test) Check() error {
	switch {
	case t.Size < 1 || t.Iterations < 1 || t.RxDepth < 1 || t.PeerTimeout <= 0:
		return fmt.Errorf("size %d, %d iterations, rx depth %d, timeout %v: each must be positive", t.Size, t.Iterations, t.RxDepth, t.PeerTimeout)
	case t.Type != verbs.QPTypeRC && t.Type != verbs.QPTypeUC && t.Type != verbs.QPTypeUD:
		return fmt.Errorf("queue pairs of type %v: RC, UC and UD are supported", t.Type)
	case t.Shared > 0 && t.Type != verbs.QPTypeRC:
		return fmt.Errorf("queue pairs of type %v with a shared receive queue: only RC is supported", t.Type)
	case t.Shared > MaxShared:
		return fmt.Errorf("%d queue pairs: ibv_srq_pingpong supports at most %d", t.Shared, MaxShared)
	case t.Shared > t.RxDepth:
		return fmt.Errorf("rx depth %d for %d queue pairs: each needs a receive", t.RxDepth, t.Shared)
	case t.Shared > 1 && t.Verify:
		return errSharedBuffer
	}
	return nil
}

// qps returns the number of queue pairs.
func (t *Test) qps() int { return max(t.Shared, 1) }

// headroom returns the number of bytes before a received payload.
func (t *Test) headroom() int {
	if t.Type == verbs.QPTypeUD {
		return grhSize
	}
	return 0
}
