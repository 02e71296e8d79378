package verbs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

func TestLimit(t *testing.T) {
	c, _ := openFake(t, DriverRXE, func(call call) error {
		call.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.ExQueryDeviceResp{Base: uapi.QueryDeviceResp{MaxCQE: 8, MaxMRSize: 1 << 20}}))
		return nil
	})
	entries := func(n uint64) demand {
		return demand{"entries of a CQ", n, func(d DeviceAttr) uint64 { return uint64(d.MaxCQE) }}
	}
	for _, test := range []struct {
		err  unix.Errno
		n    uint64
		want string // "" if it is not a LimitError
	}{
		{unix.EAGAIN, 1, "resource temporarily unavailable (limit of CQs reached: rdma.max of the process's control group or of a parent)"},
		{unix.ENOMEM, 1, "cannot allocate memory (limit of CQs reached)"},
		{unix.ENOSPC, 1, "no space left on device (limit of CQs reached)"},
		{unix.EINVAL, 9, "invalid argument (limit of entries of a CQ reached: got 9, the device supports at most 8)"},
		{unix.EINVAL, 8, ""},
		{unix.EPERM, 9, ""},
	} {
		t.Run(fmt.Sprint(test.err, " ", test.n), func(t *testing.T) {
			err := c.limit("CQs", test.err, entries(test.n))
			var limit *LimitError
			switch {
			case !errors.Is(err, test.err):
				t.Errorf("got error %v, want %v in its chain", err, test.err)
			case errors.As(err, &limit) != (test.want != ""):
				t.Errorf("got LimitError %v, want %v: %v", limit != nil, test.want != "", err)
			case limit != nil && err.Error() != test.want:
				t.Errorf("got %q, want %q", err, test.want)
			}
		})
	}
	if err := c.memoryLimit(1<<20+1, unix.EINVAL); !strings.Contains(err.Error(), "got 1048577, the device") {
		t.Errorf("got %q, want the requested size in it", err)
	}
	// A removed device's limits are unknown.
	gone, _ := openFake(t, DriverRXE, refuse(unix.EIO))
	if err := gone.limit("CQs", unix.EINVAL, entries(9)); !errors.Is(err, unix.EINVAL) {
		t.Errorf("got error %v, want %v", err, unix.EINVAL)
	}
}
