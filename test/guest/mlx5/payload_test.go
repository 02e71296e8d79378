//go:build guest

package mlx5_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// vgem is the device that exports dma-bufs.
const vgem = "/dev/dri/card0"

// TestPayload runs each operation on each transport with libmlx5 and compares all bytes, in
// memory of the process and in dma-bufs: the module is right about data before it is used to
// check another provider.
func TestPayload(t *testing.T) {
	t.Parallel()
	g := guest.New(t, withLibrary(t, spec(t), "payload"))
	var want strings.Builder
	for _, transport := range []string{"RC", "RC with SRQ", "UC", "UD", "UD with SRQ", "XRC"} {
		rc, ud := strings.HasPrefix(transport, "RC"), strings.HasPrefix(transport, "UD")
		for _, op := range []struct {
			name     string
			messages int // all sizes and forms
			defined  bool
		}{
			{"send", 16, true}, {"send with immediate", 16, true}, {"send with invalidate", 16, rc},
			{"write", 16, !ud}, {"write with immediate", 16, !ud},
			{"read", 12, rc || transport == "XRC"}, {"compare and swap", 4, rc || transport == "XRC"}, {"fetch and add", 4, rc || transport == "XRC"},
		} {
			if ud {
				op.messages -= 2 // the longest size
			}
			if op.defined {
				fmt.Fprintf(&want, "%s %s: %d\n", transport, op.name, op.messages)
			}
		}
	}
	for _, program := range [][]string{{"payload"}, {"payload", vgem}} {
		t.Run(strings.Join(program, " "), func(t *testing.T) {
			if got := g.Must(t, program...); got != want.String() {
				t.Errorf("got messages\n%s\nwant\n%s", got, want.String())
			}
		})
	}
	verbstest.CheckKernel(t, g)
}
