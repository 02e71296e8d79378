package verbs

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// The fake responds like uverbs_ioctl.c: a supported method fails to read the
// attributes, a supported command fails because of its sizes or structure.
func TestMethods(t *testing.T) {
	supported := map[string]bool{"DEVICE QUERY_PORT": true, "QP QP_CREATE": true, "ASYNC_EVENT ASYNC_EVENT_ALLOC": true}
	c, f := openFake(t, DriverRXE, func(c call) error {
		if !c.Probe {
			cmd, ok := c.Command()
			if in := c.Attr(uapi.AttrCoreIn); !ok || in.Len <= 8 || c.Attr(uapi.AttrCoreOut) != nil {
				t.Errorf("got request %+v, want a command with an unreadable structure", c)
			}
			switch cmd {
			case uapi.CmdPostSend:
				return unix.ENOSPC
			case uapi.CmdExQueryDevice:
				return unix.EFAULT
			}
			return unix.EOPNOTSUPP
		}
		if c.Header.NumAttrs != 1 {
			t.Errorf("got %d attributes, want 1", c.Header.NumAttrs)
		}
		if supported[methodName(c.Header.Object, c.Header.Method)] {
			return unix.EFAULT
		}
		return unix.EPROTONOSUPPORT
	})
	methods, err := c.Methods()
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range methods {
		if m.Known {
			known = append(known, m.Object+" "+m.Name)
		}
	}
	want := []string{
		"DEVICE QUERY_PORT", "QP QP_CREATE", "ASYNC_EVENT ASYNC_EVENT_ALLOC", "WRITE POST_SEND", "WRITE EX_QUERY_DEVICE",
	}
	if !slices.Equal(known, want) {
		t.Errorf("got %v, want %v", known, want)
	}
	if len(f.calls) != len(methods) || len(methods) < 90 {
		t.Errorf("got %d calls for %d methods, want one each and at least 90", len(f.calls), len(methods))
	}
	last := methods[len(methods)-1]
	if last.Name != "EX_MODIFY_CQ" || last.Number() != 0x80000039 {
		t.Errorf("last command: got %+v, want EX_MODIFY_CQ", last)
	}
}

// Other errors end the probing: the device was removed, or the kernel behaves in an
// unknown way.
func TestMethodsFail(t *testing.T) {
	for errno, want := range map[unix.Errno]error{unix.EIO: ErrDeviceRemoved, unix.ENOMEM: unix.ENOMEM} {
		t.Run(unix.ErrnoName(errno), func(t *testing.T) {
			c, _ := openFake(t, DriverRXE, refuse(errno))
			if _, err := c.Methods(); !errors.Is(err, want) {
				t.Errorf("got error %v, want %v", err, want)
			}
		})
	}
	c, f := openFake(t, DriverRXE, func(call) error { return nil })
	if _, err := c.Methods(); err == nil || len(f.calls) != 1 {
		t.Errorf("got error %v after %d calls, want an error after 1", err, len(f.calls))
	}
}

func TestMethodNames(t *testing.T) {
	for want, got := range map[string]string{
		"DEVICE QUERY_GID_TABLE": methodName(uapi.ObjectDevice, uapi.MethodQueryGIDTable),
		"COMP_CHANNEL method 0":  methodName(uapi.ObjectCompChannel, 0),
		"object 4096 method 7":   methodName(4096, 7),
		"COMP_CNTR":              ObjectKind(uapi.ObjectCompCounter).String(),
		"object 20":              ObjectKind(20).String(),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
