package cm

import (
	"context"
	"errors"
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

// TestRunner_Record: failures are grouped, an interrupted connection does not count,
// and an error that is not of a step ends the run.
func TestRunner_Record(t *testing.T) {
	r := &runner{steps: make([]recorder, len(rdmacm.Steps()))}
	refused := &rdmacm.StepError{Step: rdmacm.StepConnect, Err: &rdmacm.RejectError{Reason: rdmacm.RejectConsumer, PrivateData: []byte("no\x00\x00")}}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, err := range []error{r.record(t.Context(), true, nil), r.record(t.Context(), false, refused), r.record(t.Context(), false, refused), r.record(ended, false, context.Canceled)} {
		if err != nil {
			t.Error(err)
		}
	}
	if err := r.record(t.Context(), false, unix.EMFILE); !errors.Is(err, unix.EMFILE) {
		t.Errorf("got error %v, want %v", err, unix.EMFILE)
	}
	want := Result{Connections: 3, Established: 1, Failures: []Failure{
		{Step: rdmacm.StepConnect, Cause: CauseRefused, Error: refused.Error(), Count: 2, PrivateData: []byte("no")},
	}}
	if d := cmp.Diff(want, r.result); d != "" {
		t.Errorf("got another result (-want +got):\n%s", d)
	}
}
