//go:build oracle

package oracle

import (
	"testing"
)

// TestByGUID starts scans at a port by its GUID, which a running opensm resolves.
//
// The C tool in release 44 routes such a scan by LID first, which ibsim does not support:
// the scan ends only if no node is behind the port. The ibkit output for a GUID is
// therefore compared with the C tool's output for the directed route to the same node.
func TestByGUID(t *testing.T) {
	b := newRig(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port", false)
	b.NewSM(t, "Hca1")
	for _, c := range []struct{ ours, theirs string }{
		{"-S 0x200000", "-D 0,1"},
		{"-G 0x200000", "-D 0,1"},
		{"--switch 0x200000 -l", "-D 0,1 -l"},
		{"--port-guid 0x200001 -d", "-D 0,1,3 -d"},
		{"-S 0x200001 -n 5 -a", "-D 0,1,3 -n 5 -a"},
		{"-S 0xdead", "-S 0xdead"},
		{"-S 0x200001 --load-cache {dir}/cache", "-S 0x200001 --load-cache {dir}/cache"},
		{"-S 0x200001 --cas-only --load-cache {dir}/cache", "-S 0x200001 --cas-only --load-cache {dir}/cache"},
		{"-G 0x100001 --load-cache {dir}/cache", "-G 0x100001 --load-cache {dir}/cache"},
	} {
		t.Run(c.ours, func(t *testing.T) {
			want := b.MustRunC(t, b.host, "iblinkinfo", b.args(c.theirs)...)
			got := b.ours(t, c.ours)
			if d := diff(want, got); d != "" {
				t.Errorf("C tool %s (-), ibkit %s (+)\n%s", c.theirs, c.ours, d)
			}
		})
	}
}
