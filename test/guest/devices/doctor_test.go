//go:build guest

package devices_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/doctor"
	"github.com/ibkit/ibkit/test/guest"
)

// runCheck runs a check, as an unprivileged user if user is set. It returns the item for
// the subject, and the exit code.
func runCheck(t *testing.T, g *guest.Guest, user bool, check, subject string) (doctor.Item, int) {
	t.Helper()
	r, err := g.Run(t.Context(), guest.Command{Args: []string{"ibkit", "doctor", "--json", "--only", check}, User: user})
	if err != nil {
		t.Fatal(err)
	}
	var found doctor.Result
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	i := slices.IndexFunc(found.Items, func(i doctor.Item) bool { return i.Subject == subject })
	if i < 0 {
		return doctor.Item{}, r.Code
	}
	return found.Items[i], r.Code
}

// TestDoctor causes a single problem at a time, expects doctor to report it, and runs the
// printed commands, which must fix it.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := spec
	s.Tools = slices.Concat(s.Tools, []string{"prlimit", "setpriv"})
	g := guest.New(t, s)
	port, netdev := g.Ports[0].Device+"/1", g.Ports[0].Netdev
	g.Must(t, "sh", "-exc", "mkdir -p /cgroup; mount -t cgroup2 none /sys/fs/cgroup; echo +rdma >/sys/fs/cgroup/cgroup.subtree_control")

	for _, test := range []struct {
		name           string
		check, subject string
		cause          string // command that causes the problem
		verdict, found string
		user           bool
		replace        []string // placeholders
		code           int
	}{
		{
			name: "module", check: "modules", subject: "ib_umad", cause: "rmmod ib_umad",
			verdict: "error", found: "not loaded", code: 3,
		},
		{
			name: "connection manager module", check: "modules", subject: "rdma_ucm", cause: "rmmod rdma_ucm",
			verdict: "warning", found: "not loaded", code: 3,
		},
		{
			name: "node without permission", check: "nodes", subject: "/dev/infiniband/uverbs0", cause: "chmod 0666 /dev/infiniband/umad*; chmod 0600 /dev/infiniband/uverbs0",
			verdict: "error", found: "permission denied: owner root, group root, mode 0600", user: true, code: 3,
		},
		{
			name: "missing node", check: "nodes", subject: "/dev/infiniband/uverbs1", cause: "rm /dev/infiniband/uverbs1",
			verdict: "error", found: "missing", code: 3,
		},
		{
			name: "node with a wrong number", check: "nodes", subject: "/dev/infiniband/umad0", cause: "rm /dev/infiniband/umad0; mknod /dev/infiniband/umad0 c 1 3",
			verdict: "error", found: "wrong device number 1:3, the kernel uses 231:0", code: 3,
		},
		{
			name: "address", check: "gids", subject: port, cause: "ip address delete " + g.Ports[0].Addr.String() + "/24 dev " + netdev,
			verdict: "warning", found: "no RoCE v2 GID over IPv4", replace: []string{"ADDRESS/PREFIX", g.Ports[0].Addr.String() + "/24"}, code: 3,
		},
		{
			name: "link", check: "ports", subject: port, cause: "ip link set " + netdev + " down",
			verdict: "error", found: "Down/Disabled, " + netdev + " is down", code: 3,
		},
		{
			name: "route", check: "routes", subject: port, cause: "ip route delete 10.0.0.0/24 dev " + netdev,
			verdict: "warning", found: "no route through " + netdev + " to the subnet of 10.0.0.1", code: 3,
		},
		{
			name: "MTU", check: "mtu", subject: port, cause: "ip link set " + netdev + " mtu 1500",
			verdict: "note", found: "1024 bytes, " + netdev + " has 1500; the device supports 4096",
		},
		{
			name: "cgroup", check: "cgroup", subject: "rxe0",
			cause: "mkdir /sys/fs/cgroup/job; echo 'rxe0 hca_handle=3' >/sys/fs/cgroup/job/rdma.max; " +
				"for p in $(cat /sys/fs/cgroup/cgroup.procs); do echo $p >/sys/fs/cgroup/job/cgroup.procs 2>/dev/null || true; done",
			verdict: "note", found: "hca_handle is limited to 3",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			g.Must(t, "sh", "-ec", test.cause)
			// GID tables change some time after addresses do.
			want := fmt.Sprintf("{%s %s %s %s}", test.check, test.subject, test.verdict, test.found)
			var i doctor.Item
			var code int
			for string(i.Verdict) != test.verdict && ctx.Err() == nil {
				i, code = runCheck(t, g, test.user, test.check, test.subject)
			}
			got := fmt.Sprintf("{%s %s %s %s}", i.Check, i.Subject, i.Verdict, i.Found)
			if !strings.HasPrefix(got, strings.TrimSuffix(want, "}")) || code != test.code {
				t.Errorf("got %s, exit code %d, want %s, exit code %d", got, code, want, test.code)
			}
			fix := strings.Join(i.Fix, "\n")
			if test.replace != nil {
				fix = strings.NewReplacer(test.replace...).Replace(fix)
			}
			g.Must(t, "sh", "-exc", fix)
			for i.Verdict != doctor.OK && i.Verdict != "" && ctx.Err() == nil {
				i, code = runCheck(t, g, test.user, test.check, test.subject)
			}
			if code != 0 {
				t.Errorf("after %s: got %+v, exit code %d, want verdict ok, exit code 0", fix, i, code)
			}
			t.Logf("%s: %s\n%s", test.verdict, got, fix)
		})
	}

	// Resource limits apply to a shell and its children.
	for _, test := range []struct{ check, lower, before string }{
		{"memlock", "ulimit -l 64", "error: memlock: locked memory is limited to 64 KiB"},
		{"nofile", "ulimit -n 256", "warning: nofile: open files are limited to 256"},
	} {
		t.Run(test.check, func(t *testing.T) {
			run := "ibkit doctor --only " + test.check + "; echo exit code $?\n"
			shell := func(fix string) string {
				// Without CAP_IPC_LOCK, as in a container, the limit applies to root.
				return g.Must(t, "setpriv", "--bounding-set", "-ipc_lock", "sh", "-c", test.lower+"\n"+run+fix+"\n"+run)
			}
			out := shell("")
			_, fix, _ := strings.Cut(out, "  fix:     ")
			fix, _, _ = strings.Cut(fix, "\n")
			if !strings.HasPrefix(out, test.before) || !strings.Contains(out, "exit code 3") {
				t.Errorf("%s: got\n%s\nwant %q and exit code 3", test.check, out, test.before)
			}
			if out := shell(fix); strings.Count(out, test.before) != 1 || !strings.HasSuffix(out, "no problems found\nexit code 0\n") {
				t.Errorf("%s: got after %s:\n%s", test.check, fix, out)
			}
		})
	}

	// Another network namespace shares the devices, but not the network devices that
	// RoCE uses.
	g.Must(t, "ip", "netns", "add", "other")
	r := g.MustRun(t, "ip", "netns", "exec", "other", "ibkit", "doctor", "--only", "netns")
	if want := "error: netns rxe0/1: " + netdev + " is in another network namespace"; r.Code != 3 || !strings.Contains(r.Stdout, want) {
		t.Errorf("got exit code %d, want 3 and %q\n%s%s", r.Code, want, r.Stdout, r.Stderr)
	}
	g.Must(t, "ip", "netns", "delete", "other")

	// Only problems with QEMU's clock are left.
	if r := g.MustRun(t, "ibkit", "doctor", "--quiet", "--skip", "clock"); r.Code != 0 || r.Stdout+r.Stderr != "" {
		t.Errorf("got exit code %d, want 0 and no output\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
