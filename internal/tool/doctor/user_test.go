package doctor

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestNodes_PermissionDenied checks the commands that give a user access to device
// nodes.
func TestNodes_PermissionDenied(t *testing.T) {
	id := uint32(os.Getuid())
	files := change{
		// The user who runs the test owns the files, so another user is checked.
		"proc/self/status": strings.Replace(status, "1000\t1000\t1000\t1000\n", "1000\t4242\t1000\t1000\n", 1),
		"etc/passwd":       fmt.Sprintf("me:x:%d:0::/:\nalice:x:4242:1000::/:", id),
		"etc/group":        fmt.Sprintf("ours:x:%d:\nsudo:x:27:", os.Getgid()),
	}
	modes := map[string]os.FileMode{"uverbs0": 0o600, "umad0": 0o600, "issm0": 0o600, "rdma_cm": 0o600}
	want := `error /dev/infiniband/uverbs0: permission denied: owner me, group ours, mode 0600
$ chmod 0666 /dev/infiniband/uverbs0
# echo 'SUBSYSTEM=="infiniband_verbs", KERNEL=="uverbs*", MODE="0666"' >>/etc/udev/rules.d/90-rdma.rules
warning /dev/infiniband/umad0: permission denied: owner me, group ours, mode 0600
$ groupadd -r rdma
$ chgrp rdma /dev/infiniband/umad0
$ chmod 0660 /dev/infiniband/umad0
$ usermod -aG rdma alice
# echo 'SUBSYSTEM=="infiniband_mad", KERNEL=="umad*", GROUP="rdma", MODE="0660"' >>/etc/udev/rules.d/90-rdma.rules
warning /dev/infiniband/rdma_cm: permission denied: owner me, group ours, mode 0600
$ chmod 0666 /dev/infiniband/rdma_cm
# echo 'SUBSYSTEM=="misc", KERNEL=="rdma_cm", MODE="0666"' >>/etc/udev/rules.d/90-rdma.rules`
	root := healthyHost(t)
	setModes(t, root, modes)
	check := func(name string) string {
		var got string
		t.Run(name, func(t *testing.T) {
			apply(t, root, files)
			got = problems(t, root, "nodes")
		})
		return got
	}
	if got := check("no group"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	files["etc/group"] += "\nrdma:x:70:"
	if got := check("group"); strings.Contains(got, "groupadd") {
		t.Errorf("got groupadd for a group that exists:\n%s", got)
	}
	// A capability gives access, but not in a user namespace.
	files["proc/self/status"] = strings.Replace(files["proc/self/status"], "CapEff:\t0000000000000000", "CapEff:\t0000000000000002", 1)
	if got := check("capability"); got != "" {
		t.Errorf("got problems with CAP_DAC_OVERRIDE:\n%s", got)
	}
	files["proc/self/uid_map"] = "0 4242 1"
	if got := check("user namespace"); strings.Count(got, "permission denied") != 3 {
		t.Errorf("got\n%s\nwant permission denied for 3 nodes", got)
	}
}

func TestMayUse(t *testing.T) {
	for _, test := range []struct {
		name string
		user user
		file ownership
		want bool
	}{
		{"owner", user{uid: 1}, ownership{uid: 1, mode: 0o600}, true},
		{"owner, others only", user{uid: 1}, ownership{uid: 1, mode: 0o066}, false},
		{"group", user{uid: 1, groups: []uint32{5, 7}}, ownership{gid: 7, mode: 0o060}, true},
		{"group, others only", user{uid: 1, groups: []uint32{5, 7}}, ownership{gid: 7, mode: 0o606}, false},
		{"others read-only", user{uid: 1, groups: []uint32{5, 7}}, ownership{gid: 8, mode: 0o664}, false},
		{"others", user{uid: 1}, ownership{mode: 0o666}, true},
		{"CAP_DAC_OVERRIDE", user{uid: 1, caps: 1 << capDACOverride}, ownership{}, true},
		{"CAP_IPC_LOCK", user{uid: 1, caps: 1 << capIPCLock}, ownership{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.user.mayUse(test.file); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
