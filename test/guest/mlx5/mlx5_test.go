//go:build guest

package mlx5_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/selftest"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// programs are Debian programs that use libmlx5.
var programs = []string{
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw", "ib_atomic_lat", "ib_atomic_bw",
	"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ibv_xsrq_pingpong", "ibv_devinfo",
}

// spec describes a guest with a single adapter.
func spec(t testing.TB) guest.Spec {
	t.Helper()
	return specOf(t, debian.Bookworm)
}

// specOf is spec with the kernel and the programs of a release.
func specOf(t testing.TB, r *debian.Release) guest.Spec {
	t.Helper()
	return guest.Spec{
		Release:  r,
		Modules:  []string{"ib_uverbs", "vgem"}, // vgem exports dma-bufs
		Insert:   []string{guest.Module(t, r, "../../kmod/verbstest")},
		Programs: []guest.Program{guest.Ibkit},
		Tools:    programs,
	}
}

// Messages take milliseconds on the module: its thread and two programs that poll share
// two processors.
const count = "20"

var options = peers.Options{Address: "127.0.0.1", Count: count}

// TestPeers runs ibkit perf with programs on libmlx5, each as client and as server. The
// module accepts a doorbell only if it was written to the register.
func TestPeers(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec(t))
	peers.Run(t, g, options, testenv.Cases([]peers.Test{
		{"ib_send_lat -F -c UD -s 64", "--peer perftest --test send-lat --transport ud -s 64"},
		{"ib_send_bw -F -c UC -s 4096", "--peer perftest --test send-bw --transport uc -s 4K"},
		{"ib_write_bw -F -b -q 3 -s 512", "--peer perftest --test write-bw -b --qps 3 -s 512"},
		{"ib_read_lat -F -s 2048", "--peer perftest --test read-lat -s 2K"},
		{"ib_atomic_bw -F -A CMP_AND_SWAP", "--peer perftest --test compare-swap-bw"},
		{"ib_send_bw -F -c XRC -b -q 2 -s 4096", "--peer perftest --test send-bw --transport xrc -b --qps 2 -s 4K"},
		{"ib_write_lat -F -c XRC", "--peer perftest --test write-lat --transport xrc -s 2"},
		{"ibv_rc_pingpong -c -s 4096", "--peer pingpong --verify"},
		{"ibv_srq_pingpong -q 3 -s 256", "--peer pingpong --srq 3 -s 256"},
	}, []peers.Test{
		{"ib_send_lat -F -s 64", "--peer perftest --test send-lat -s 64"},
		{"ib_write_lat -F -s 2", "--peer perftest --test write-lat -s 2"},
		{"ib_write_bw -F -s 65536", "--peer perftest --test write-bw -s 64K"},
		{"ib_read_bw -F -s 65536", "--peer perftest --test read-bw -s 64K"},
		{"ib_atomic_lat -F", "--peer perftest --test fetch-add-lat"},
		{"ib_write_bw -F -c XRC -s 4096", "--peer perftest --test write-bw --transport xrc -s 4K"},
		{"ib_read_bw -F -c XRC -s 512", "--peer perftest --test read-bw --transport xrc -s 512"},
		{"ib_atomic_lat -F -c XRC", "--peer perftest --test fetch-add-lat --transport xrc"},
		{"ibv_rc_pingpong -e -s 64", "--peer pingpong --events -s 64"},
		{"ibv_uc_pingpong -s 1024", "--peer pingpong --transport uc -s 1K"},
		{"ibv_ud_pingpong -s 1024", "--peer pingpong --transport ud -s 1K"},
	}...))
	verbstest.CheckKernel(t, g)
}

// TestVerified runs all ibkit perf tests with verified payloads, and checks their system
// calls.
func TestVerified(t *testing.T) {
	t.Parallel()
	s := spec(t)
	s.Tools = append(slices.Clone(s.Tools), "strace")
	g := guest.New(t, s)
	g.Must(t, "sh", "-c", "echo 2 > /sys/module/verbstest/parameters/strict")
	peers.Verified(t, g, options, testenv.Cases([]string{
		"--test all -s 64 --events", "--test send-bw,write-bw,read-bw -s 64-64K", "--test send-lat,send-bw --transport uc -s 1K",
		"--test send-lat,send-bw --transport ud -s 512", "--test write-lat,send-lat --inline -s 200",
		"--test send-bw,write-bw -b --qps 4 --threads 2 -s 64-4K --transport xrc",
	},
		"--test all -s 64", "--test write-bw -b --qps 4 -s 4K", "--test all -s 64 --transport xrc",
		"--test send-lat --inline --events -s 200 --transport xrc",
	))
	systemCalls(t, g)
	verbstest.CheckKernel(t, g)
}

// systemCalls checks that ibkit perf uses the adapter through uverbs only, with requests
// before and after the messages, and loads no library.
func systemCalls(t *testing.T, g *guest.Guest) {
	t.Helper()
	count := func(options, n string) (ioctls, maps int) {
		r := g.MustRun(t, slices.Concat([]string{"strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=open,openat,ioctl,mmap,write,writev,pwrite64",
			"ibkit", "perf", "127.0.0.1", "-n", n, "--warmup", "0"}, strings.Fields(options))...)
		if r.Code != 0 || strings.Contains(r.Stderr, ".so") {
			t.Errorf("%s: got exit code %d, or a library:\n%s%s", options, r.Code, r.Stdout, r.Stderr)
		}
		for line := range strings.Lines(r.Stderr) {
			switch opens := strings.Contains(line, "open"); {
			case !strings.Contains(line, "/dev/infiniband") && !strings.Contains(line, "/dev/mem") && !strings.Contains(line, "/resource"):
			case opens && strings.Contains(line, `"/dev/infiniband/uverbs0"`):
			case strings.Contains(line, "ioctl(") && strings.Contains(line, "uverbs0>, RDMA_VERBS_IOCTL"):
				ioctls++
			case strings.Contains(line, "mmap(") && strings.Contains(line, "uverbs0>"):
				maps++
			default:
				t.Errorf("%s: got another use of a device: %s", options, line)
			}
		}
		return ioctls, maps
	}
	for _, options := range []string{"--test write-bw -s 64", "--test send-lat --transport ud -s 64", "--test send-bw --events --transport xrc"} {
		few, maps := count(options, "5")
		if many, _ := count(options, "50"); many != few || few < 10 || maps < 2 {
			t.Errorf("%s: got %d requests for 5 messages and %d for 50, %d mappings, want as many requests and at least 2 mappings", options, few, many, maps)
		}
	}
}

// TestSelfTest runs the self-test on the module: with the defaults, and with the variables
// that libmlx5 users set.
func TestSelfTest(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec(t))
	g.Must(t, "sh", "-c", "echo 4 >/proc/sys/vm/nr_hugepages; echo 2 >/sys/module/verbstest/parameters/strict")
	for _, env := range [][]string{nil, {"MLX5_CQE_SIZE=128", "MLX5_SHUT_UP_BF=1"}} {
		t.Run(strings.Join(env, " "), func(t *testing.T) {
			selftest.Run(t, g, "mlx5_0", selftest.Expected{}, env...)
		})
	}
	verbstest.CheckKernel(t, g)
}

// TestDevinfo compares attributes with Debian's ibv_devinfo, including attributes that
// libmlx5 adds: segmentation, receive hashing and packet pacing.
func TestDevinfo(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec(t))
	want := g.Must(t, "ibv_devinfo", "-v")
	// Release 65 has a name for the queue pairs that packet pacing supports.
	want = strings.Replace(want, "Unknown flags: 0x4\n", "SUPPORT_RC\n", 1)
	if got := g.Must(t, "ibkit", "ibv_devinfo", "-v"); got != want {
		t.Errorf("got another output than Debian's ibv_devinfo -v:\n%s\nwant\n%s", got, want)
	}
	for _, part := range []string{"max_tso:\t\t\t262144", "SUPPORT_RAW_PACKET", "rx_hash_function:\t\t\t\t0x1", "qp_rate_limit_max:\t100000000kbps"} {
		if !strings.Contains(want, part) {
			t.Errorf("got no %q of libmlx5 in\n%s", part, want)
		}
	}
}
