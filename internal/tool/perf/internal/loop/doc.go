// Package loop implements the measured loops of a test: all code that runs between
// its first and its last time stamp.
//
// A loop runs on a goroutine, which is locked to its thread ([Pinned]). It does not
// allocate while it runs, reads the clock only when a figure needs it, and waits by
// polling or, with Events, by completion events. Its queue pairs and completion queue
// must not be used by another goroutine meanwhile. [QPFlow.Prepare] builds all work
// requests in advance.
//
// Both sides of a test run a loop. In a latency test the leading side sends the first
// message of each round trip and the following side answers ([PingPong]). In a
// bandwidth test each side sends, receives, or does both ([Stream]). The responder
// runs no loop for reads and atomics, nor for writes in a bandwidth test.
package loop

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/verbs"
)

// A Queue posts work requests. *verbs.QP implements it.
type Queue interface {
	PostSend([]verbs.SendWR) (int, error)
	ReceiveQueue
}

// A ReceiveQueue posts receives. *verbs.QP and *verbs.SRQ implement it.
type ReceiveQueue interface {
	PostRecv([]verbs.RecvWR) (int, error)
}

// Completions returns completions. *verbs.CQ implements it.
type Completions interface {
	Poll([]verbs.Completion) (int, error)
	Wait(context.Context, []verbs.Completion) (int, error)
}

// ErrStalled is returned by a loop that saw no progress for StallTimeout of its
// Supervisor.
var ErrStalled = errors.New("no progress")

// ErrCorrupt is returned when a received payload differs from the sent one.
var ErrCorrupt = errors.New("payload is corrupt")

// ErrUntouched is returned when the device completed a read without writing to its
// buffer. Soft-RoCE does so (Linux 6.1, rxe_comp.c and rxe_resp.c): a responder that
// could not send a response, because its route to the requester was missing for a
// moment, continues with the last packet of the response when the request is
// repeated. The requester treats this packet as a sequence error and completes the
// work request with its current status, which is 0.
var ErrUntouched = errors.New("the device completed a read without writing to its buffer " +
	"(Soft-RoCE does so after a short loss of the route back)")
