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

	"github.com/ibkit/ibkit/test/guest"
)

// An item is one of doctor's JSON.
type item struct {
	Check, Subject, Verdict, Found string
	Mend                           []string
}

// A patient is a host that is broken and mended.
type patient struct {
	*guest.Guest
	user bool // looks as an ordinary user
}

// look runs a check. It returns what it found of a subject, and the exit code.
func (p patient) look(t *testing.T, check, subject string) (item, int) {
	t.Helper()
	r, err := p.Run(t.Context(), guest.Command{Args: []string{"ibkit", "doctor", "--json", "--only", check}, User: p.user})
	if err != nil {
		t.Fatal(err)
	}
	var found struct{ Items []item }
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	i := slices.IndexFunc(found.Items, func(i item) bool { return i.Subject == subject })
	if i < 0 {
		return item{}, r.Code
	}
	return found.Items[i], r.Code
}

// TestDoctor breaks one thing after the other, sees it named, and mends it by the
// commands that are printed.
func TestDoctor(t *testing.T) {
	s := spec
	s.Timeout = 5 * time.Minute
	s.Tools = slices.Concat(s.Tools, []string{"prlimit", "setpriv"})
	g := guest.New(t, s)
	port, netdev := g.Ports[0].Device+"/1", g.Ports[0].Netdev
	g.Must(t, "sh", "-exc", "mkdir -p /cgroup; mount -t cgroup2 none /sys/fs/cgroup; echo +rdma >/sys/fs/cgroup/cgroup.subtree_control")

	for _, test := range []struct {
		name           string
		check, subject string
		wreck          string // breaks it
		verdict, found string
		user           bool
		replace        []string // words in capitals
		code           int
	}{
		{
			name: "module", check: "modules", subject: "ib_umad", wreck: "rmmod ib_umad",
			verdict: "error", found: "not loaded", code: 3,
		},
		{
			name: "module of connections", check: "modules", subject: "rdma_ucm", wreck: "rmmod rdma_ucm",
			verdict: "warning", found: "not loaded", code: 3,
		},
		{
			name: "node is closed", check: "nodes", subject: "/dev/infiniband/uverbs0", wreck: "chmod 0666 /dev/infiniband/umad*; chmod 0600 /dev/infiniband/uverbs0",
			verdict: "error", found: "closed to you: owner root, group root, mode 0600", user: true, code: 3,
		},
		{
			name: "node is missing", check: "nodes", subject: "/dev/infiniband/uverbs1", wreck: "rm /dev/infiniband/uverbs1",
			verdict: "error", found: "missing", code: 3,
		},
		{
			name: "node is of another device", check: "nodes", subject: "/dev/infiniband/umad0", wreck: "rm /dev/infiniband/umad0; mknod /dev/infiniband/umad0 c 1 3",
			verdict: "error", found: "is device 1:3, and the kernel has 231:0", code: 3,
		},
		{
			name: "address", check: "gids", subject: port, wreck: "ip address delete " + g.Ports[0].Addr.String() + "/24 dev " + netdev,
			verdict: "warning", found: "no GID of RoCE v2 over IPv4", replace: []string{"ADDRESS/PREFIX", g.Ports[0].Addr.String() + "/24"}, code: 3,
		},
		{
			name: "link", check: "ports", subject: port, wreck: "ip link set " + netdev + " down",
			verdict: "error", found: "Down/Disabled, " + netdev + " is down", code: 3,
		},
		{
			name: "route", check: "routes", subject: port, wreck: "ip route delete 10.0.0.0/24 dev " + netdev,
			verdict: "warning", found: "no route by " + netdev + " to the network of 10.0.0.1", code: 3,
		},
		{
			name: "MTU", check: "mtu", subject: port, wreck: "ip link set " + netdev + " mtu 1500",
			verdict: "note", found: "1024 bytes, " + netdev + " has 1500; the device can do 4096",
		},
		{
			name: "cgroup", check: "cgroup", subject: "rxe0",
			wreck: "mkdir /sys/fs/cgroup/job; echo 'rxe0 hca_handle=3' >/sys/fs/cgroup/job/rdma.max; " +
				"for p in $(cat /sys/fs/cgroup/cgroup.procs); do echo $p >/sys/fs/cgroup/job/cgroup.procs 2>/dev/null || true; done",
			verdict: "note", found: "hca_handle is limited to 3",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			p := patient{g, test.user}
			g.Must(t, "sh", "-ec", test.wreck)
			// Tables of GIDs change some time after addresses do.
			want := fmt.Sprintf("{%s %s %s %s}", test.check, test.subject, test.verdict, test.found)
			var i item
			var code int
			for i.Verdict != test.verdict && ctx.Err() == nil {
				i, code = p.look(t, test.check, test.subject)
			}
			got := fmt.Sprintf("{%s %s %s %s}", i.Check, i.Subject, i.Verdict, i.Found)
			if !strings.HasPrefix(got, strings.TrimSuffix(want, "}")) || code != test.code {
				t.Errorf("got %s, exit code %d, want %s, %d", got, code, want, test.code)
			}
			mend := strings.Join(i.Mend, "\n")
			if test.replace != nil {
				mend = strings.NewReplacer(test.replace...).Replace(mend)
			}
			g.Must(t, "sh", "-exc", mend)
			for i.Verdict != "ok" && i.Verdict != "" && ctx.Err() == nil {
				i, code = p.look(t, test.check, test.subject)
			}
			if code != 0 {
				t.Errorf("after %s: %+v, exit code %d", mend, i, code)
			}
			t.Logf("%s: %s\n%s", test.verdict, got, mend)
		})
	}

	// A limit is one of a shell and of what it starts.
	for _, test := range []struct{ check, lower, before string }{
		{"memlock", "ulimit -l 64", "error: memlock: 64 KiB of memory may be locked"},
		{"nofile", "ulimit -n 256", "warning: nofile: 256 files may be open"},
	} {
		look := "ibkit doctor --only " + test.check + "; echo exit code $?\n"
		shell := func(mend string) string {
			// Root locks what it likes, unless it is one of a container.
			return g.Must(t, "setpriv", "--bounding-set", "-ipc_lock", "sh", "-c", test.lower+"\n"+look+mend+"\n"+look)
		}
		out := shell("")
		_, mend, _ := strings.Cut(out, "  mend: ")
		mend, _, _ = strings.Cut(mend, "\n")
		if !strings.HasPrefix(out, test.before) || !strings.Contains(out, "exit code 3") {
			t.Errorf("%s:\n%s", test.check, out)
		}
		if out := shell(mend); strings.Count(out, test.before) != 1 || !strings.HasSuffix(out, "All is well.\nexit code 0\n") {
			t.Errorf("%s, after %s:\n%s", test.check, mend, out)
		}
	}

	// In another network namespace the devices are seen, and what RoCE sends by is
	// not.
	g.Must(t, "ip", "netns", "add", "other")
	r := g.MustRun(t, "ip", "netns", "exec", "other", "ibkit", "doctor", "--only", "netns")
	if want := "error: netns rxe0/1: " + netdev + " is in another network namespace"; r.Code != 3 || !strings.Contains(r.Stdout, want) {
		t.Errorf("in another network namespace: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	g.Must(t, "ip", "netns", "delete", "other")

	// What is left is well, or only noted. The clock is that of QEMU.
	if r := g.MustRun(t, "ibkit", "doctor", "--quiet", "--skip", "clock"); r.Code != 0 || r.Stdout+r.Stderr != "" {
		t.Errorf("at the end: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
