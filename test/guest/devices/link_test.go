//go:build guest

package devices_test

import (
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// rdmaLinks returns the devices and their network devices, as rdma link prints them.
func rdmaLinks(t *testing.T, g *guest.Guest) string {
	t.Helper()
	var links []struct{ Ifname, Netdev, State string }
	if err := json.Unmarshal([]byte(g.Must(t, "rdma", "-j", "link")), &links); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range links {
		all = append(all, l.Ifname+" "+l.Netdev+" "+l.State)
	}
	return strings.Join(all, ", ")
}

// TestLink adds and deletes devices with ibkit and with rdma from iproute2.
func TestLink(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}}, Tools: []string{"rdma", "ip", "ibv_srq_pingpong"}, Programs: []guest.Program{guest.Ibkit},
	})
	g.Must(t, "ip", "link", "add", "dummy7", "type", "dummy")
	g.Must(t, "ip", "link", "set", "dummy7", "up")
	const first = "rxe0 dummy0 ACTIVE"
	user := func(line string) guest.Result {
		t.Helper()
		r, err := g.Run(t.Context(), guest.Command{Args: strings.Fields(line), User: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	step := func(line string, code int, want, links string) {
		t.Helper()
		var r guest.Result
		if rest, ok := strings.CutPrefix(line, "user "); ok {
			r = user(rest)
		} else {
			r = g.MustRun(t, strings.Fields(line)...)
		}
		if out := r.Stdout + r.Stderr; r.Code != code || !strings.Contains(out, want) {
			t.Errorf("%s: got exit code %d, want %d and %q\n%s", line, r.Code, code, want, out)
		}
		if got := rdmaLinks(t, g); got != links {
			t.Errorf("%s: got links %s, want %s", line, got, links)
		}
	}
	const add = "ibkit link add rxe7 --type rxe --netdev dummy7 "
	step(add+"--dry-run", 0, "add rxe7: rxe on dummy7", first)
	step(add, 2, "not confirmed: standard input is not a terminal", first)
	step("user "+add+"--yes --log -", 1, "run as root", first)
	step(add+"--yes --log -", 0, "rxe7 was added: port 1 is active, GID ", first+", rxe7 dummy7 ACTIVE")
	step(add+"--yes", 0, "rxe7 exists already", first+", rxe7 dummy7 ACTIVE")
	step("ibkit link add rxe8 --type rxe --netdev dummy7 --yes", 1, "dummy7 has the rxe device rxe7", first+", rxe7 dummy7 ACTIVE")
	step("rdma link delete rxe7", 0, "", first) // rdma deletes ibkit's device, and vice versa
	step("rdma link add rxe7 type rxe netdev dummy7", 0, "", first+", rxe7 dummy7 ACTIVE")
	step("user ibkit link delete rxe7 --yes --log -", 1, "run as root", first+", rxe7 dummy7 ACTIVE")
	step("ibkit link delete rxe7 --yes --log /root/changes", 0, "rxe7 was deleted", first)
	if log := g.Must(t, "cat", "/root/changes"); !strings.Contains(log, "msg=begin") || !strings.Contains(log, "result=changed") || !strings.Contains(log, "device=rxe7") {
		t.Errorf("got log\n%s", log)
	}
	step("ibkit link delete rxe7 --yes", 1, "no such device", first)

	// The port on a network device that is down, and a type without a module.
	g.Must(t, "ip", "link", "set", "dummy7", "down")
	step(add+"--yes --log -", 3, "its port is not active: ip link set dummy7 up", first+", rxe7 dummy7 DOWN")
	step("ibkit link delete rxe7 --yes --log - --json", 0, `"outcome": "changed"`, first)
	step("ibkit link add siw0 --type siw --netdev dummy0 --yes --log -", 1, "hint: load the module to see the reason: modprobe siw", first)

	// A device in use.
	p := g.MustStart(t, "ibv_srq_pingpong", "-d", "rxe0", "-g", "0")
	if err := g.Await(t.Context(), "sh", "-c", "rdma resource show srq | grep srqn"); err != nil {
		t.Fatal(err)
	}
	step("ibkit link delete rxe0 --yes", 1, "in use by ibv_srq_pingpon", first)
	forced := g.MustStart(t, "ibkit", "link", "delete", "rxe0", "--yes", "--force", "in-use", "--log", "-")
	if err := forced.AwaitOutput(t.Context(), "in use by"); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r, err := forced.Wait(t.Context()); err != nil || r.Code != 0 || !strings.Contains(r.Stdout, "rxe0 was deleted") {
		t.Errorf("got %v, exit code %d\n%s%s", err, r.Code, r.Stdout, r.Stderr)
	}
	if got := rdmaLinks(t, g); got != "" {
		t.Errorf("got links %s, want none", got)
	}
}
