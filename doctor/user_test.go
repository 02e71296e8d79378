package doctor

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestClosed looks at nodes that are closed to a user, and what lets the user in.
func TestClosed(t *testing.T) {
	id := uint32(os.Getuid())
	files := change{
		// Files of this test are its user's, so the user looked at is another.
		"proc/self/status": strings.Replace(status, "1000\t1000\t1000\t1000\n", "1000\t4242\t1000\t1000\n", 1),
		"etc/passwd":       fmt.Sprintf("me:x:%d:0::/:\nalice:x:4242:1000::/:", id),
		"etc/group":        fmt.Sprintf("ours:x:%d:\nsudo:x:27:", os.Getgid()),
	}
	modes := map[string]os.FileMode{"uverbs0": 0o600, "umad0": 0o600, "issm0": 0o600, "rdma_cm": 0o600}
	want := `error /dev/infiniband/uverbs0: closed to you: owner me, group ours, mode 0600
$ chmod 0666 /dev/infiniband/uverbs0
# echo 'SUBSYSTEM=="infiniband_verbs", KERNEL=="uverbs*", MODE="0666"' >>/etc/udev/rules.d/90-rdma.rules
warning /dev/infiniband/umad0: closed to you: owner me, group ours, mode 0600
$ groupadd -r rdma
$ chgrp rdma /dev/infiniband/umad0
$ chmod 0660 /dev/infiniband/umad0
$ usermod -aG rdma alice
# echo 'SUBSYSTEM=="infiniband_mad", KERNEL=="umad*", GROUP="rdma", MODE="0660"' >>/etc/udev/rules.d/90-rdma.rules
warning /dev/infiniband/rdma_cm: closed to you: owner me, group ours, mode 0600
$ chmod 0666 /dev/infiniband/rdma_cm
# echo 'SUBSYSTEM=="misc", KERNEL=="rdma_cm", MODE="0666"' >>/etc/udev/rules.d/90-rdma.rules
`
	root := patient(t)
	setModes(t, root, modes)
	look := func(name string) string {
		var got string
		t.Run(name, func(t *testing.T) {
			wreck(t, root, files)
			got = examine(t, root, "nodes")
		})
		return got
	}
	if got := look("closed"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	files["etc/group"] += "\nrdma:x:70:"
	if got := look("group"); strings.Contains(got, "groupadd") {
		t.Errorf("a second group of the name:\n%s", got)
	}
	// A capability counts, but not in a user namespace.
	files["proc/self/status"] = strings.Replace(files["proc/self/status"], "CapEff:\t0000000000000000", "CapEff:\t0000000000000002", 1)
	if got := look("capability"); got != "" {
		t.Errorf("with CAP_DAC_OVERRIDE:\n%s", got)
	}
	files["proc/self/uid_map"] = "0 4242 1"
	if got := look("namespace"); strings.Count(got, "closed") != 3 {
		t.Errorf("in a user namespace:\n%s", got)
	}
}

func TestMayUse(t *testing.T) {
	for _, test := range []struct {
		user user
		file ownership
		want bool
	}{
		{user{uid: 1}, ownership{uid: 1, mode: 0o600}, true},
		{user{uid: 1}, ownership{uid: 1, mode: 0o066}, false}, // the owner is not the world
		{user{uid: 1, groups: []uint32{5, 7}}, ownership{gid: 7, mode: 0o060}, true},
		{user{uid: 1, groups: []uint32{5, 7}}, ownership{gid: 7, mode: 0o606}, false},
		{user{uid: 1, groups: []uint32{5, 7}}, ownership{gid: 8, mode: 0o664}, false},
		{user{uid: 1}, ownership{mode: 0o666}, true},
		{user{uid: 1, caps: 1 << capDACOverride}, ownership{}, true},
		{user{uid: 1, caps: 1 << capIPCLock}, ownership{}, false},
	} {
		if got := test.user.mayUse(test.file); got != test.want {
			t.Errorf("%+v, %+v: %v", test.user, test.file, got)
		}
	}
}
