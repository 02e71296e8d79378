//go:build guest

package kernels_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// dmaBuf creates dma-bufs, which Soft-RoCE does not register: the error names the part that
// does not support it.
func dmaBuf(t *testing.T, g *guest.Guest, r *debian.Release) {
	if out := g.Must(t, "ibkit", "devinfo", "rxe0"); !strings.Contains(out, "no: it cannot register GPU memory this way") {
		t.Errorf("got no inability to register dma-bufs in\n%s", out)
	}
	want := "cannot register the memory: register 4096 bytes of a dma-buf of rxe0 (MR REG_DMABUF_MR): not supported by the driver"
	if r.Before(debian.Trixie) { // without udmabuf
		want = "create dma-buf of 4096 bytes with /dev/udmabuf: open /dev/udmabuf: no such file or directory"
	}
	server := g.MustStart(t, "ibkit", "perf", "--serve")
	if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
		t.Fatal(err)
	}
	out := g.MustRun(t, "ibkit", "perf", g.Ports[0].Addr.String(), "--memory", "dmabuf:/dev/udmabuf", "--test", "send-lat")
	if out.Code != 1 || !strings.Contains(out.Stderr, want) {
		t.Errorf("got exit code %d and %q, want 1 and %q", out.Code, out.Stderr, want)
	}
}
