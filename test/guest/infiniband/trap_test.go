//go:build guest

package infiniband_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestTrap subscribes through the kernel with opensm, which receives the traps from
// simulated switches and from ibkit, and forwards them.
func TestTrap(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, "opensm", "saquery"))
	ibports.PlugIn(t, g, "demo", "node02", "node07", "-sm", "off")
	g.Must(t, "mkdir", "-p", "/var/cache/opensm", "/var/log")
	sm := g.MustStart(t, "opensm", "-f", "stdout", "-g", "0x"+guid(t, g, "ibtest0"))
	await := func(p *guest.Process, text string) {
		t.Helper()
		if err := p.AwaitOutput(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	await(sm, "SUBNET UP")
	d := g.MustStart(t, "ibkit", "trap", "-C", "ibtest1", "--json")
	await(d, `"kind":"source-up"`)
	if n := strings.Count(g.Must(t, "saquery", "IIR"), "InformInfoRecord dump"); n != 2 {
		t.Errorf("got %d subscriptions, want 2", n)
	}
	// Two programs cannot receive reports on the same port.
	if r := g.MustRun(t, "ibkit", "trap", "-C", "ibtest1"); r.Code != 1 || !strings.Contains(r.Stderr, "taken by another program") {
		t.Errorf("second subscriber: got exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	port := func(code int, args ...string) {
		t.Helper()
		if r := g.MustRun(t, append([]string{"ibkit", "port", "-C", "ibtest0", "--yes", "--log", "-", "--wait", "1s"}, args...)...); r.Code != code {
			t.Fatalf("port %q: got exit code %d, want %d\n%s%s", args, r.Code, code, r.Stdout, r.Stderr)
		}
	}
	// The switch at the other end of the link sends the trap, and opensm sweeps.
	port(4, "--force", "own-link,last-link", "node05", "disable") // it does not reply any more
	await(sm, "num:128")
	await(d, `"name":"link-state"`)
	await(d, `"kind":"notice","severity":"error","subject":"node05"`)
	// No trap reports a change on the switch itself. A signal makes opensm sweep.
	for _, step := range []struct{ change, notice string }{
		{"disable", `"kind":"notice","severity":"error","subject":"node06"`}, {"enable", `"kind":"notice","severity":"recovery","subject":"node06"`},
	} {
		port(0, "--force", "last-link", "leaf2", "4", step.change)
		if err := sm.Signal(unix.SIGHUP); err != nil {
			t.Fatal(err)
		}
		await(d, step.notice)
	}
	for name, text := range map[string]string{"capabilities": "num:144", "link-integrity": "num:129", "m-key": "num:256"} {
		if out := g.Must(t, "ibkit", "trap", "send", "-C", "ibtest1", name); !strings.Contains(out, "repressed after") {
			t.Errorf("%s: got %s", name, out)
		}
		await(sm, text)
	}
	await(d, `"name":"capabilities"`)
	await(d, `"name":"m-key"`)
	if err := d.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Wait(t.Context()); err != nil || r.Code != 0 {
		t.Errorf("got exit code %d, %v\n%s", r.Code, err, r.Stderr)
	}
	if n := strings.Count(g.Must(t, "saquery", "IIR"), "InformInfoRecord dump"); n != 0 {
		t.Errorf("after the end: got %d subscriptions, want 0", n)
	}
	list := "printf '0x%s\n' " + guid(t, g, "ibtest0") + " " + guid(t, g, "ibtest1") + " >/tmp/guids"
	g.Must(t, "sh", "-c", list)
	r := g.MustRun(t, "ibkit", "mcm_rereg_test", "/tmp/guids")
	if r.Code != 0 || !strings.Contains(r.Stderr, "got 4 responses") || !strings.Contains(r.Stderr, "2 queried") {
		t.Errorf("mcm_rereg_test: got exit code %d\n%s", r.Code, r.Stderr)
	}
}
