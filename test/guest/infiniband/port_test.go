//go:build guest

package infiniband_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestPort changes ports through the kernel: by directed route and by LID, with Debian's
// tools as witness. An ordinary user is refused.
func TestPort(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, "ibportstate", "smpquery", "ibccquery"))
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	port := func(code int, want string, args ...string) {
		t.Helper()
		r := g.MustRun(t, append([]string{"ibkit", "port", "-C", "ibtest0", "--yes", "--log", "/tmp/port.log", "--wait", "1s"}, args...)...)
		if r.Code != code || !strings.Contains(r.Stdout+r.Stderr, want) {
			t.Errorf("port %q: got exit code %d, want %d with %q\n%s%s", args, r.Code, code, want, r.Stdout, r.Stderr)
		}
	}
	witness := func(want string, args ...string) {
		t.Helper()
		if r := g.MustRun(t, args...); r.Code != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("%q: got exit code %d\n%s%s\nwant %s", args, r.Code, r.Stdout, r.Stderr, want)
		}
	}
	port(0, "changed, now Down/Disabled", "leaf1", "1", "disable")
	witness("PhysLinkState:...................Disabled\n", "ibportstate", "-C", "ibtest0", "-D", "0,1", "1")
	witness("PhysLinkState:...................Polling\n", "smpquery", "-C", "ibtest0", "-D", "portinfo", "0,1,2,2,1", "1")
	port(0, "changed, now Active/LinkUp", "leaf1", "1", "enable")
	port(1, "mismatch", "node07", "mtu=2048")
	port(0, "mtu=2048", "node07", "mtu=2048", "--force", "mismatch")
	witness("NeighborMTU:.....................2048\n", "smpquery", "portinfo", "11", "1")
	port(1, "own-link", "leaf1", "4", "disable")
	both(t, g, "ibportstate -C ibtest0 -D 0,1 3")
	both(t, g, "ibportstate 11 1 mtu 5")
	if log := g.Must(t, "cat", "/tmp/port.log"); strings.Count(log, "msg=begin") != 3 || strings.Count(log, "msg=end user=root") != 3 {
		t.Errorf("log:\n%s", log)
	}
	// Without --log, the change goes to the system log, which does not run at first.
	if r := g.MustRun(t, "ibkit", "port", "--yes", "leaf2", "1", "disable"); r.Code != 1 || !strings.Contains(r.Stderr, "open system log") || !strings.Contains(r.Stderr, "--log FILE") {
		t.Errorf("without a system log: got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	g.Must(t, "busybox", "syslogd", "-O", "/tmp/messages")
	g.Must(t, "ibkit", "port", "--yes", "leaf2", "1", "disable")
	if err := g.Await(t.Context(), "grep", "-q", "daemon.notice ibkit.*msg=end .*name=leaf2 change=disable .*result=changed", "/tmp/messages"); err != nil {
		t.Error(err)
	}
	witness("PhysLinkState:...................Disabled\n", "ibportstate", "-C", "ibtest0", "-D", "0,1,2,2", "1")
	// Congestion control passes the kernel, too.
	g.Must(t, "sh", "-c", "printf '[switch]\\nnode = leaf1\\nthreshold = 9\\n' >/tmp/cc.conf")
	if out := g.Must(t, "ibkit", "cc", "-C", "ibtest0", "--yes", "--settings", "/tmp/cc.conf"); !strings.Contains(out, "leaf1: changed\n") {
		t.Errorf("cc: got\n%s", out)
	}
	witness("Threshold:.......................0x09\n", "ibccquery", "-C", "ibtest0", "SS", "3")
	r, err := g.Run(t.Context(), guest.Command{Args: []string{"ibkit", "port", "--yes", "--log", "-", "leaf2", "1", "disable"}, User: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != 1 || !strings.Contains(r.Stderr, "permission denied") {
		t.Errorf("as an ordinary user: got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
