package oneway

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

func TestErrno(t *testing.T) {
	step := func(s rdmacm.Step, err error) error { return &rdmacm.StepError{Step: s, Err: err} }
	for _, c := range []struct {
		name     string
		err      error
		function string
		want     unix.Errno
	}{
		{"call", step(rdmacm.StepAddress, &rdmacm.CallError{Op: "resolve address", Err: unix.ENODEV}), "rdma_create_ep", unix.ENODEV},
		{"event", step(rdmacm.StepRoute, &rdmacm.EventError{Type: rdmacm.EventRouteError, Status: -int32(unix.EINVAL)}), "rdma_create_ep", unix.EINVAL},
		{"timeout", step(rdmacm.StepAddress, &rdmacm.TimeoutError{}), "rdma_create_ep", unix.ETIMEDOUT},
		{"rejection", step(rdmacm.StepConnect, &rdmacm.RejectError{Reason: rdmacm.RejectInvalidServiceID}), "rdma_connect", unix.ECONNREFUSED},
		{"XRC", step(rdmacm.StepSetup, verbs.ErrOpcode), "rdma_create_ep", unix.EOPNOTSUPP},
		{"none", ErrDisconnected, "rdma_create_ep", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Errno(c.err); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			err := failed(dialFunction(c.err), c.err)
			e, ok := errors.AsType[*Error](failed("other", err))
			if !ok || e.Function != c.function || !errors.Is(err, c.err) {
				t.Errorf("got %v, want the error of %s", err, c.function)
			}
		})
	}
	if err := failed("rdma_accept", nil); err != nil {
		t.Errorf("without an error: got %v", err)
	}
}
