package device

import (
	"os"
	"testing"

	"github.com/ibkit/ibkit/internal/nonblock"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/umad"
)

// newTestPort returns a port over a socket, and the socket's other end.
func newTestPort(t *testing.T) (*Port, *os.File) {
	t.Helper()
	here, there := testenv.SocketPair(t)
	conn, err := nonblock.New(here)
	if err != nil {
		t.Fatal(err)
	}
	return &Port{attr: umad.PortAttr{Device: "test0"}, name: "/dev/test", file: here, conn: conn}, there
}
