package rdmacm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/enum"
	"github.com/ibkit/ibkit/verbs"
)

// A Step is a connection part.
type Step uint8

// A connection's steps, in order. A connection that is accepted has StepEstablish,
// with the reply; a datagram service StepConnect.
const (
	StepAddress    Step = iota // IP address to device, port and GID
	StepRoute                  // path through the fabric, or neighbour
	StepSetup                  // the caller creates the queue pair
	StepConnect                // request and reply
	StepEstablish              // queue pair ready to send, confirmation
	StepDisconnect             // request and reply
)

// steps are the steps as nouns, and as operations on the peer address. A step's
// command has its operation's name as CallError.Op.
var steps = [...]struct{ name, op, preposition string }{
	StepAddress:    {"address", "resolve address", ""},
	StepRoute:      {"route", "resolve route", "to "},
	StepSetup:      {"setup", "set up queue pair", "for "},
	StepConnect:    {"connect", "connect", "to "},
	StepEstablish:  {"establish", "establish connection", "to "},
	StepDisconnect: {"disconnect", "disconnect", "from "},
}

// Steps lists all steps in order.
func Steps() []Step {
	all := make([]Step, len(steps))
	for i := range all {
		all[i] = Step(i)
	}
	return all
}

// String returns the step name.
func (s Step) String() string {
	if int(s) < len(steps) {
		return steps[s].name
	}
	return fmt.Sprintf("step %d", s)
}

// MarshalText returns the step name.
func (s Step) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts the MarshalText result.
func (s *Step) UnmarshalText(text []byte) error {
	return enum.Parse(s, StepAddress, StepDisconnect, "step", text)
}

// A StepError is a step's error.
type StepError struct {
	Step Step
	Peer Addr
	Err  error // for instance a *RejectError, an *EventError or a *TimeoutError
}

func (e *StepError) Error() string {
	step, err := steps[min(int(e.Step), len(steps)-1)], e.Err
	if call, ok := errors.AsType[*CallError](err); ok && strings.HasPrefix(call.Op, step.op) {
		err = call.Err
	}
	to := ""
	if e.Peer != nil {
		to = " " + step.preposition + e.Peer.String()
	}
	return step.op + to + ": " + err.Error()
}

// Unwrap returns Err.
func (e *StepError) Unwrap() error { return e.Err }

// Event returns the event that ended the step, with its type and status. ok is false
// if no event did, such as for a command's error. A timeout of the first two
// steps is the event that the kernel reports at the same time.
func (e *StepError) Event() (event Event, ok bool) {
	if r, ok := errors.AsType[*RejectError](e.Err); ok {
		return Event{Type: EventRejected, Status: int32(r.Reason)}, true
	}
	if s, ok := errors.AsType[*ServiceError](e.Err); ok {
		return Event{Type: EventUnreachable, Status: int32(s.Status)}, true
	}
	if v, ok := errors.AsType[*EventError](e.Err); ok {
		return Event{Type: v.Type, Status: v.Status}, true
	}
	if late := map[Step]EventType{StepAddress: EventAddrError, StepRoute: EventRouteError}[e.Step]; late != 0 && errors.Is(e.Err, context.DeadlineExceeded) {
		return Event{Type: late, Status: -int32(unix.ETIMEDOUT)}, true
	}
	return Event{}, false
}

// A TimeoutError reports that a step took longer than allowed.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("no reply within %v", e.After) }

// Timeout returns true, as in net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Is reports context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// A Conn is a connection, or the path to a datagram service.
type Conn struct {
	channel *Channel
	id      *ID
	qp      *verbs.QP
	peer    Addr

	param    ConnParam
	datagram *Datagram
	ended    bool // the end's event has been received

	trace   func(Step, time.Duration)
	timeout time.Duration // StepDisconnect timeout
}

// ID returns the connection's ID.
func (c *Conn) ID() *ID { return c.id }

// QP returns the connection's queue pair.
func (c *Conn) QP() *verbs.QP { return c.qp }

// Peer returns the peer address.
func (c *Conn) Peer() Addr { return c.peer }

// Param returns the parameters that the peer has sent, with its private data.
func (c *Conn) Param() ConnParam { return c.param }

// Datagram returns the datagram destination, or nil for a connection.
func (c *Conn) Datagram() *Datagram { return c.datagram }

// run runs a step: start begins it, any event in want completes it. A step
// without events ends with start.
func (c *Conn) run(ctx context.Context, step Step, timeout time.Duration, start func() error, want ...EventType) (e Event, err error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = start()
	switch {
	case err == nil && len(want) > 0:
		e, err = c.await(limited, want)
		for step == StepAddress && IsAddressTimeout(err) {
			if err = start(); err == nil {
				e, err = c.await(limited, want)
			}
		}
	case step == StepEstablish && errors.Is(err, unix.EINVAL):
		err = c.reason(limited, err)
	}
	if err != nil {
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			err = &TimeoutError{After: timeout}
		}
		return e, &StepError{Step: step, Peer: c.peer, Err: err}
	}
	if c.trace != nil {
		c.trace(step, time.Since(began))
	}
	return e, nil
}

// reasonTimeout limits the wait for an event that the kernel is about to report.
const reasonTimeout = time.Second

// reason returns the error for the event that has made a command fail: the kernel rejects
// commands for an ID after its peer has given up. It returns err if there is no such event.
func (c *Conn) reason(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, reasonTimeout)
	defer cancel()
	for {
		e, failed := c.channel.Next(ctx)
		if failed != nil {
			return err
		}
		if e.Type == EventDisconnected {
			c.ended = true
		}
		if ended := e.Err(); ended != nil {
			return ended
		}
	}
}

// await returns the first wanted event, or the error for another event.
func (c *Conn) await(ctx context.Context, want []EventType) (Event, error) {
	for {
		e, err := c.channel.Next(ctx)
		if err != nil {
			return e, err
		}
		if e.Type == EventDisconnected {
			c.ended = true
		}
		if slices.Contains(want, e.Type) && e.Status == 0 {
			return e, nil
		}
		if err := e.Err(); err != nil {
			return e, err
		}
	}
}

// Next waits for the connection's next event: EventDisconnected,
// EventDeviceRemoval, EventAddrChange or EventTimewaitExit. It confirms the end for the
// connection to the peer.
func (c *Conn) Next(ctx context.Context) (Event, error) {
	e, err := c.channel.Next(ctx)
	if err == nil && e.Type == EventDisconnected && !c.ended {
		c.ended = true
		err = c.hangUp()
	}
	return e, err
}

// AwaitEnd waits until the peer has disconnected or the device is removed, and confirms
// the end to the peer. It returns nil then, and at once if the peer has disconnected
// before. Work requests are flushed, so that a wait for completions ends too.
func (c *Conn) AwaitEnd(ctx context.Context) error {
	for !c.ended {
		e, err := c.Next(ctx)
		if err != nil || e.Type == EventDeviceRemoval {
			return err
		}
	}
	return nil
}

// hangUp flushes the queue pair and sends the request to disconnect, or the reply to
// the peer's request.
func (c *Conn) hangUp() error {
	if c.qp != nil {
		end := verbs.QPStateError
		if c.qp.IWARP() && c.qp.State() == verbs.QPStateRTS {
			end = verbs.QPStateSQD // an error would cancel the send in progress
		}
		if err := c.qp.Modify(end, verbs.QPAttr{}); err != nil {
			return err
		}
	}
	return c.id.Disconnect()
}

// Disconnect ends the connection and waits until the peer has confirmed it. Posted
// work requests are flushed. It has no effect on datagrams or after the peer has
// disconnected.
func (c *Conn) Disconnect(ctx context.Context) error {
	if c.ended || c.id.qpType == verbs.QPTypeUD {
		return nil
	}
	_, err := c.run(ctx, StepDisconnect, c.timeout, c.hangUp, EventDisconnected)
	return err
}

// Close ends the connection without waiting for the peer, and destroys the ID. The
// caller closes the queue pair. A second Close returns fs.ErrClosed.
func (c *Conn) Close() error {
	// The kernel disconnects an ID that it destroys. The channel's Close comes last:
	// it also destroys an ID that Close could not destroy.
	return errors.Join(c.id.Close(), c.channel.Close())
}
