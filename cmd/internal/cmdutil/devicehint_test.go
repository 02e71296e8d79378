package cmdutil

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// The packages of the library do not know flags: the commands name them.
func TestHint_Device(t *testing.T) {
	roce := device.LocalPort{Attr: umad.PortAttr{Device: "rxe0", Number: 1, LinkLayer: "Ethernet"}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{&device.NoPortError{}, "modprobe mlx5_ib"},
		{&device.NoPortError{Err: os.ErrNotExist}, "modprobe ib_umad. Without hardware, use a simulated fabric: --sim demo"},
		{&device.NoPortError{Existing: []device.LocalPort{roce}}, "only an InfiniBand port"},
		{&device.AmbiguousError{To: netip.MustParseAddr("fe80::9")}, "-C and -P, or name the network, as in fe80::9%eth0"},
	} {
		t.Run(test.want, func(t *testing.T) {
			if got := Hint(fmt.Errorf("open port: %w", test.err)); !strings.Contains(got, test.want) {
				t.Errorf("got hint %q, want %q in it", got, test.want)
			}
		})
	}
}
