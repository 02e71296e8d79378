//go:build inguest

package verbs

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// old is the running kernel without the methods that kernels from 2019 lack, with a
// driver that lacks the extended command.
type old struct{ *linux }

func (k old) Ioctl(fd int, request []byte) error {
	h := uapi.Decode[uapi.UverbsHeader](request)
	if h.Object == uapi.ObjectDevice {
		switch h.Method {
		case uapi.MethodGetContext, uapi.MethodQueryPort:
			return unix.EPROTONOSUPPORT
		case uapi.MethodInvokeWrite:
			// The command is the third attribute, if there is a response.
			a := uapi.Decode[uapi.UverbsAttr](request[uapi.UverbsHeaderSize+2*uapi.UverbsAttrSize:])
			if a.ID == uapi.AttrWriteCmd && uapi.Decode[uint64](a.Data[:]) == uapi.CmdExQueryDevice {
				return unix.EOPNOTSUPP
			}
		}
	}
	return k.linux.Ioctl(fd, request)
}

// The old kernel commands, which the running kernel supports too, return the
// same attributes.
func TestGuestOldKernel(t *testing.T) {
	d := Device{Name: "rxe0", Path: "/dev/infiniband/uverbs0"}
	now, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	then, err := d.open(old{new(linux)})
	if err != nil {
		t.Fatal(err)
	}
	defer then.Close()
	if then.eventFD < 0 || then.CompVectors() != now.CompVectors() {
		t.Errorf("got events file %d, %d vectors, want a file, %d", then.eventFD, then.CompVectors(), now.CompVectors())
	}
	want, err := now.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	want.ODP, want.TimestampMask, want.CoreClock, want.CapsEx, want.RSS = nil, nil, nil, nil, nil
	want.MaxWQTypeRQ, want.RawPacket, want.TagMatching, want.CQModeration = nil, nil, nil, nil
	want.MaxDMSize, want.XRCODP = nil, nil
	got, err := then.QueryDevice()
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	wantPort, err := now.QueryPort(1)
	if err != nil {
		t.Fatal(err)
	}
	port, err := then.QueryPort(1)
	if d := cmp.Diff(wantPort, port); d != "" || err != nil {
		t.Error(d, err)
	}
	events, err := then.Events()
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{"down", "up"} {
		if out, err := exec.Command("ip", "link", "set", "dummy0", state).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, want := range []EventType{EventPortErr, EventPortActive} {
		if e, err := events.Next(t.Context()); err != nil || e.Type != want || e.Element != 1 {
			t.Errorf("got %v, error %v, want %v", e, err, want)
		}
	}
	if _, err := then.GID(1, 1<<20); !errors.Is(err, unix.EINVAL) {
		t.Errorf("got error %v, want %v", err, unix.EINVAL)
	}
}
