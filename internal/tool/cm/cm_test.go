package cm

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

func TestCauseOf(t *testing.T) {
	reject := func(r rdmacm.RejectReason) error { return &rdmacm.RejectError{Reason: r} }
	event := func(kind rdmacm.EventType, errno unix.Errno) error {
		return &rdmacm.EventError{Type: kind, Status: -int32(errno)}
	}
	for want, e := range map[Cause]rdmacm.StepError{
		CauseNoRoute:        {Step: rdmacm.StepAddress, Err: unix.ENETUNREACH},
		CauseNoDevice:       {Step: rdmacm.StepAddress, Err: event(rdmacm.EventAddrError, unix.ENODEV)},
		CauseNoNeighbour:    {Step: rdmacm.StepAddress, Err: &rdmacm.TimeoutError{After: time.Second}},
		CauseOther:          {Step: rdmacm.StepAddress, Err: unix.EPERM},
		CauseNoPath:         {Step: rdmacm.StepRoute, Err: event(rdmacm.EventRouteError, unix.EINVAL)},
		CauseNoProvider:     {Step: rdmacm.StepSetup, Err: fmt.Errorf("create RC QP: %w", verbs.ErrNoProvider)},
		CauseSetup:          {Step: rdmacm.StepSetup, Err: unix.ENOMEM},
		CauseNoListener:     {Step: rdmacm.StepConnect, Err: reject(rdmacm.RejectInvalidServiceID)},
		CauseRefused:        {Step: rdmacm.StepConnect, Err: reject(rdmacm.RejectConsumer)},
		CauseStale:          {Step: rdmacm.StepConnect, Err: reject(rdmacm.RejectStale)},
		CauseRejected:       {Step: rdmacm.StepConnect, Err: reject(26)},
		CauseNoReply:        {Step: rdmacm.StepConnect, Err: event(rdmacm.EventUnreachable, unix.ETIMEDOUT)},
		CauseNotEstablished: {Step: rdmacm.StepEstablish, Err: unix.EINVAL},
		CauseNoDisconnect:   {Step: rdmacm.StepDisconnect, Err: &rdmacm.TimeoutError{After: time.Second}},
		CauseDeviceRemoved:  {Step: rdmacm.StepConnect, Err: event(rdmacm.EventDeviceRemoval, 0)},
	} {
		t.Run(string(want), func(t *testing.T) {
			if got := causeOf(&e); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// On iWARP, a host without a listener refuses the TCP connection, at once or later.
func TestCauseOf_IWARP(t *testing.T) {
	for _, err := range []error{unix.ECONNREFUSED, &rdmacm.EventError{Type: rdmacm.EventRejected, Status: -int32(unix.ECONNRESET)}} {
		if got := causeOf(&rdmacm.StepError{Step: rdmacm.StepConnect, Err: err}); got != CauseNoListener {
			t.Errorf("%v: got %q, want %q", err, got, CauseNoListener)
		}
	}
}

func TestRecorder(t *testing.T) {
	var r recorder
	if got := r.result(rdmacm.StepRoute); got.Count != 0 || got.Min != nil || got.Histogram == nil {
		t.Errorf("without a value: got %+v", got)
	}
	for _, d := range []time.Duration{1000, 1023, 1500, 5000, 2 * time.Hour} {
		r.add(d)
	}
	got := r.result(rdmacm.StepRoute)
	if got.Count != 5 || *got.Min != 1000 || *got.Median < 1500 || *got.Median > 1502 {
		t.Errorf("got %d values, minimum %d, median %d, want 5, 1000, 1500", got.Count, *got.Min, *got.Median)
	}
	last := got.Histogram[len(got.Histogram)-1]
	want := []Bar{{512, 1024, 2}, {1024, 2048, 1}, {4096, 8192, 1}, last}
	if d := cmp.Diff(want, got.Histogram); d != "" || last.Count != 1 {
		t.Errorf("got another histogram (-want +got):\n%s", d)
	}
}

// TestRunner_Count: failures with the same step and cause are a single kind.
func TestRunner_Count(t *testing.T) {
	r := &runner{}
	refused := &rdmacm.StepError{Step: rdmacm.StepConnect, Err: &rdmacm.RejectError{Reason: rdmacm.RejectConsumer, PrivateData: []byte("no\x00\x00")}}
	late := &rdmacm.StepError{Step: rdmacm.StepConnect, Err: &rdmacm.TimeoutError{After: time.Second}}
	for _, err := range []*rdmacm.StepError{refused, late, refused} {
		r.count(err)
	}
	want := []FailedStep{
		{Step: rdmacm.StepConnect, Cause: CauseRefused, Error: refused.Error(), Count: 2, PrivateData: []byte("no")},
		{Step: rdmacm.StepConnect, Cause: CauseNoReply, Error: late.Error(), Count: 1},
	}
	if d := cmp.Diff(want, r.result.Failed); d != "" {
		t.Errorf("got other failures (-want +got):\n%s", d)
	}
}

// TestPeerGone: only the connection manager's rejection of a command in a state follows
// from a peer that has given up.
func TestPeerGone(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&rdmacm.CallError{Op: "query QP attributes for RTS", Err: unix.EINVAL}, true},
		{fmt.Errorf("accept: %w", &rdmacm.CallError{Op: "accept", Err: unix.EINVAL}), true},
		{&rdmacm.CallError{Op: "accept", Err: unix.ENOMEM}, false},
		{fmt.Errorf("modify QP: %w", unix.EINVAL), false},
	} {
		t.Run(fmt.Sprint(c.err), func(t *testing.T) {
			if got := peerGone(c.err); got != c.want {
				t.Errorf("%v: got %t, want %t", c.err, got, c.want)
			}
		})
	}
}

// TestRunner_Deadline: the next work is the deadline of the oldest step in progress, or
// an earlier connection start. Steps that have ended have no time limit.
func TestRunner_Deadline(t *testing.T) {
	a := &attempt{id: new(rdmacm.ID), step: rdmacm.StepRoute}
	r := &runner{limits: []limit{{a, rdmacm.StepAddress, 5}, {&attempt{}, rdmacm.StepAddress, 6}, {a, rdmacm.StepRoute, 7}}}
	if got := r.deadline(9, true); got != 7 {
		t.Errorf("got %d, want 7, the end of the step", got)
	}
	if got := r.deadline(3, true); got != 3 {
		t.Errorf("got %d, want 3, the begin of a connection", got)
	}
	if got := r.deadline(0, false); got != 7 {
		t.Errorf("without a begin: got %d, want 7", got)
	}
}

// TestWaiter: a context is used for several events, until an earlier deadline or its end.
func TestWaiter(t *testing.T) {
	w := waiter{ctx: t.Context(), base: time.Now()}
	defer w.stop()
	first := w.until(time.Hour)
	if got := w.until(2 * time.Hour); got != first {
		t.Error("got another context for a later deadline, want the same one")
	}
	earlier := w.until(time.Minute)
	if earlier == first {
		t.Error("got the same context for an earlier deadline")
	}
	if first.Err() == nil {
		t.Error("the replaced context has not ended")
	}
	if w.until(-time.Hour).Err() == nil {
		t.Error("got a context for a time that is over, want one that has ended")
	}
}
