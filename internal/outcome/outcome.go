// Package outcome names the change results for ports, agents, subnet managers and devices.
package outcome

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/internal/enum"
)

// An Outcome is a single change's result: for a port, a congestion control agent, a subnet
// manager or a device, which the comments call object.
type Outcome uint8

// The outcomes.
const (
	NotAttempted Outcome = iota
	Unneeded             // the object was in that state before
	Changed              // and verified
	NotUp                // port changed, but the link did not come up in time
	NotActive            // port changed, and the link is up, but no subnet manager activated it in time
	Unverified           // accepted, but the object state is not known
	NoEffect             // accepted, but the object did not change
	Rejected             // the object replied with an error status
	NoReply              // no reply, and the object did not change
	Failed               // the change could not be sent
)

var outcomeNames = [...]string{
	NotAttempted: "not attempted", Unneeded: "not needed", Changed: "changed", NotUp: "not up", NotActive: "not active", Unverified: "unverified",
	NoEffect: "no effect", Rejected: "rejected", NoReply: "no reply", Failed: "failed",
}

// String returns the outcome in words.
func (o Outcome) String() string { return outcomeNames[o] }

// MarshalText returns the [Outcome.String] text. The error is always nil.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText parses an outcome's text.
func (o *Outcome) UnmarshalText(text []byte) error {
	return enum.Parse(o, NotAttempted, Failed, "outcome", text)
}

// Applied reports whether the object may have changed.
func (o Outcome) Applied() bool {
	return o == Changed || o == NotUp || o == NotActive || o == Unverified
}

// Good reports whether the object is in the wanted state.
func (o Outcome) Good() bool { return o == Unneeded || o == Changed }

// pollInterval is the time between two reads after a change.
const pollInterval = 50 * time.Millisecond

// Await calls done until it reports true, until limit has passed, or until ctx ends, at
// least once.
func Await(ctx context.Context, limit time.Duration, done func() bool) {
	deadline := time.Now().Add(limit)
	for !done() && time.Now().Before(deadline) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
	}
}
