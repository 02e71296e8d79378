package verbs

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// The kernel's answer to the registration of a missing file shows the device's ability.
func TestCheckDMABuf(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer unix.Errno
		want   error
	}{
		{"able", unix.EBADF, nil},
		{"Linux before 5.12", unix.EPROTONOSUPPORT, ErrUnknownMethod},
		{"driver without dma-bufs", unix.EOPNOTSUPP, ErrUnsupported},
		{"removed device", unix.EIO, ErrDeviceRemoved},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, _, m := openMaker(t)
			m.refuse[uapi.ObjectMR] = test.answer
			if err := c.CheckDMABuf(); !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			last := m.calls[len(m.calls)-2]
			if file := last.Number(uapi.AttrRegDMABufMRFD); !last.Is(uapi.ObjectMR, uapi.MethodRegDMABufMR) || uint32(file) != ^uint32(0) {
				t.Errorf("got request of object %d with file %#x, want the registration of file -1", last.Header.Object, file)
			}
			if want := []uint16{uapi.ObjectPD}; !slices.Equal(m.closed, want) {
				t.Errorf("got %v destroyed, want %v", m.closed, want)
			}
		})
	}
}
