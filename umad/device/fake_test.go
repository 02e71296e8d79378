package device

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/nonblock"
	"github.com/ibkit/ibkit/umad"
)

// newTestPort returns a port over a socket, and the socket's other end.
func newTestPort(t *testing.T) (*Port, *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	here, there := os.NewFile(uintptr(fds[0]), "here"), os.NewFile(uintptr(fds[1]), "there")
	t.Cleanup(func() { here.Close(); there.Close() })
	conn, err := nonblock.New(here)
	if err != nil {
		t.Fatal(err)
	}
	return &Port{attr: umad.PortAttr{Device: "test0"}, name: "/dev/test", file: here, conn: conn}, there
}
