//go:build guest

package mlx5_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// libraries has the directory of libraries.
const libraries = "/usr/lib/x86_64-linux-gnu/"

// withCUDA returns a spec with the program ibkit-cuda, and a libcuda for tests.
func withCUDA(tb testing.TB, s guest.Spec) guest.Spec {
	tb.Helper()
	root, err := s.Release.Root(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	lib := filepath.Join(tb.TempDir(), "libcuda.so.1")
	out, err := exec.CommandContext(tb.Context(), "gcc", "-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o", lib, "testdata/libcuda.c").CombinedOutput()
	if err != nil {
		tb.Fatalf("compile testdata/libcuda.c: %v\n%s", err, out)
	}
	s.Programs = append(slices.Clone(s.Programs), guest.Program{Package: "github.com/ibkit/ibkit/ibkit-cuda"})
	s.Files = map[string]string{libraries + "libcuda.so.1": lib}
	for _, name := range []string{"libdl.so.2", "libpthread.so.0"} { // of purego
		s.Files[libraries+name] = filepath.Join(root, libraries, name)
	}
	return s
}

// signaled ends a client by a signal to its ibkit-cuda during a test. The server goes on.
func signaled(t *testing.T, g *guest.Guest, signal, want string) {
	r := g.MustRun(t, "sh", "-c", `ibkit perf 127.0.0.1 --memory cuda:0 --verify --test send-bw -D 60s &
until child=$(grep -sl "^PPid:.$!\$" /proc/[0-9]*/status); do sleep 0.1; done
sleep 2
child=${child#/proc/}
kill -`+signal+` ${child%/status}
wait $!`)
	for _, want := range []string{"on GPU 0 (Fake GPU): " + want, "ibkit-cuda: signal: killed"} {
		if r.Code != 1 || !strings.Contains(r.Stderr, want) {
			t.Errorf("got exit code %d and %q, want 1 and %q", r.Code, r.Stderr, want)
		}
	}
	measure(t, g, "cuda:0", "--test send-bw")
}

// TestCUDA runs tests with payloads in GPU memory, which only ibkit-cuda reads and writes.
func TestCUDA(t *testing.T) { eachExporter(t, testCUDA) }

func testCUDA(t *testing.T, r *debian.Release) {
	t.Parallel()
	g := guest.New(t, withCUDA(t, specOf(t, r)))
	g.Must(t, "sh", "-c", `echo 2 > /sys/module/verbstest/parameters/strict
limit=/sys/module/udmabuf/parameters/size_limit_mb # 64, and a test takes 64 MiB and a page
test ! -e $limit || echo 128 > $limit`)
	serve(t, g, "cuda:0")
	for _, args := range []string{
		"--test send-lat,send-bw,write-bw,read-lat,read-bw -s 4K", "--test fetch-add-lat,fetch-add-bw,compare-swap-bw",
		"--test send-bw --transport ud -s 512", "--test send-bw,write-bw,read-bw -s 64K --qps 2 -b --threads 2", "--test write-lat --imm -s 4K",
	} {
		t.Run(args, func(t *testing.T) { measure(t, g, "cuda:0", args) })
	}
	t.Run("names of perftest", func(t *testing.T) {
		peers.Run(t, g, options, []peers.Test{
			{"ib_write_bw -F -s 4096", "--peer perftest --test write-bw -s 4K --memory cuda:0000:3b:00.0"},
			{"ibkit ib_read_bw -s 4096 --use_cuda=0 --use_cuda_dmabuf", "--peer perftest --test read-bw -s 4K"},
			{"ibkit ib_send_lat -s 64 --use_cuda_bus_id 0000:3b:00.0", "--peer perftest --test send-lat -s 64"},
		})
	})
	t.Run("socket", func(t *testing.T) {
		program := g.MustStart(t, "ibkit-cuda", "-listen", "/root/gpu")
		if err := program.AwaitOutput(t.Context(), "serving memory of GPU 0 (Fake GPU)"); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first client's memory is released
			g.Must(t, "ibkit", "perf", "127.0.0.1", "--memory", "dmabuf:/root/gpu", "--verify", "-n", count, "--test", "send-bw,read-bw")
		}
	})
	t.Run("killed program", func(t *testing.T) { signaled(t, g, "KILL", "the program has ended") })
	if testenv.AllCases() {
		t.Run("stopped program", func(t *testing.T) { signaled(t, g, "STOP", "no reply within 1m0s") })
	}
	for _, test := range []struct{ name, command, want string }{
		{"write-lat", "ibkit perf 127.0.0.1 --memory cuda:0 --test write-lat", "the processor cannot address this memory"},
		{"write-lat at the server", "ibkit perf 127.0.0.1 --test write-lat", "the processor cannot address this memory"},
		{"no GPU", "ibkit perf 127.0.0.1 --memory cuda:7 --test send-lat", "find GPU 7: cuDeviceGet: invalid device ordinal (CUDA error 101)"},
		{"no dma-buf", "touch /root/no-dmabuf; ibkit perf 127.0.0.1 --memory cuda:0 --test send-lat", "GPU 0 (Fake GPU) exports no dma-bufs"},
		{"no driver", "rm " + libraries + "libcuda.so.1; ibkit perf 127.0.0.1 --memory cuda:0 --test send-lat", "load NVIDIA's driver library"},
		{"no program", "rm /usr/bin/ibkit-cuda; ibkit perf 127.0.0.1 --memory cuda:0 --test send-lat", "cannot start ibkit-cuda"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if r := g.MustRun(t, "sh", "-c", test.command); r.Code != 1 || !strings.Contains(r.Stderr, test.want) {
				t.Errorf("got exit code %d and %q, want 1 and %q", r.Code, r.Stderr, test.want)
			}
		})
	}
	verbstest.CheckKernel(t, g)
}
