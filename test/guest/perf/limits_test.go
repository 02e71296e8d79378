//go:build guest

package perf_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// limits tests limits on memory, locked memory, and objects.
func limits(t *testing.T, g *guest.Guest) {
	run := func(user bool, script string) *guest.Process {
		return g.MustStartCommand(t, guest.Command{Args: []string{"sh", "-c", script}, User: user})
	}
	const few = "ulimit -l 64; exec ibkit perf "
	ends(t, run(false, "exec ibkit perf 10.0.0.1 --test write-bw --size 1G --qps 64 -n 1"), 1, "server: ", "cannot allocate memory")
	ends(t, run(true, few+"10.0.0.1 --test write-bw --size 1M -n 10"), 1, "locked memory", "ulimit -l", "--ulimit memlock=-1")

	const other = "10.0.0.1:18600"
	server := run(true, few+"--serve --bind "+other)
	if err := server.AwaitOutput(t.Context(), "serving tests at"); err != nil {
		t.Fatal(err)
	}
	ends(t, run(false, "exec ibkit perf "+other+" --test write-bw --size 1M -n 10"), 1, "server: ", "locked memory", "ulimit -l", "--ulimit memlock=-1")
	g.Must(t, "ibkit", "perf", other, "-n", "20", "--test", "write-lat")
	finishServer(t, server)

	g.Must(t, "sh", "-exc", `
		mount -t cgroup2 none /sys/fs/cgroup
		echo +rdma >/sys/fs/cgroup/cgroup.subtree_control
		mkdir /sys/fs/cgroup/few
		echo rxe0 hca_handle=4 hca_object=6 >/sys/fs/cgroup/few/rdma.max`)
	const group = "echo $$ >/sys/fs/cgroup/few/cgroup.procs; exec ibkit perf "
	ends(t, run(false, group+"10.0.0.1 --test write-bw --qps 8 -n 10"), 1, "limit of QPs reached", "rdma.max")
	server = run(false, group+"--serve --bind "+other)
	if err := server.AwaitOutput(t.Context(), "serving tests at"); err != nil {
		t.Fatal(err)
	}
	ends(t, run(false, "exec ibkit perf "+other+" --test write-bw --qps 8 -n 10"), 1, "server: ", "limit of QPs reached", "rdma.max")
	g.Must(t, "ibkit", "perf", other, "-n", "20", "--test", "write-lat")
	finishServer(t, server)
	// In Linux 6.1, a removed control group that has device limits leaves a dangling
	// pointer, which causes an oops when the device is removed.
	g.Must(t, "sh", "-exc", `
		echo rxe0 hca_handle=max hca_object=max >/sys/fs/cgroup/few/rdma.max
		rmdir /sys/fs/cgroup/few
		umount /sys/fs/cgroup`)
}
