//go:build guest

package infiniband_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestSysstat queries a host's name and 64 processors, through the kernel, which transfers
// long replies in segments. Both clients query both servers.
func TestSysstat(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, "ibsysstat"))
	ibports.PlugIn(t, g, "demo", "node02", "node07", "-model", "loss=0.01")
	g.Must(t, "sh", "-ec", `for i in $(seq 0 63); do
		printf 'processor\t: %d\nmodel name\t: A processor with a long name\ncpu MHz\t\t: 2600.000\n\n' $i
	done >/run/processors
	mount --bind /run/processors /proc/cpuinfo`)
	const lid = "11" // node07
	for server, ready := range map[string]string{
		"ibsysstat -S -C ibtest1 -ddd":     "umad_recv: fd",
		"ibkit ibsysstat -S -C ibtest1 -d": "starting to serve",
		"ibkit query --serve -C ibtest1":   "serving Ping",
	} {
		t.Run(server, func(t *testing.T) {
			p := g.MustStart(t, strings.Fields(server)...)
			if err := p.AwaitOutput(t.Context(), ready); err != nil {
				t.Fatal(err)
			}
			for operation, size := range map[string]int{"ping": 20, "host": 5, "cpu": 64 * 50} {
				var want string
				for _, client := range []string{"ibsysstat", "ibkit ibsysstat"} {
					r := unlost(t, g, client+" -C ibtest0 -t 5000 "+lid+" "+operation)
					if want == "" {
						want = r.Stdout
					}
					if r.Code != 0 || r.Stdout != want || len(want) < size {
						t.Errorf("%s %s: got exit code %d and\n%s%s\nwant\n%s", client, operation, r.Code, r.Stdout, r.Stderr, want)
					}
				}
			}
			if r := g.MustRun(t, "ibkit", "query", "-C", "ibtest0", "-t", "20000", "cpu", lid); r.Code != 0 || strings.Count(r.Stdout, "MHZ  2600.000\n") != 64 {
				t.Errorf("query: got exit code %d and\n%s%s\nwant 64 processors", r.Code, r.Stdout, r.Stderr)
			}
			if err := p.Signal(unix.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		for line, want := range map[string]struct {
			code           int
			stdout, stderr string
		}{
			// The C tool does not check the status.
			"ibsysstat -C ibtest0 -t 5000 ":        {0, "sysstat ping succeeded\n", ""},
			"ibkit ibsysstat -C ibtest0 -t 5000 ":  {0, "sysstat ping succeeded\n", "MAD completed with error status 0xc; dport (Lid 11)\n"},
			"ibkit query -C ibtest0 -t 5000 Ping ": {1, "", "hint: start ibkit query --serve"},
		} {
			r := unlost(t, g, line+lid)
			if r.Code != want.code || !strings.HasPrefix(r.Stdout, want.stdout) || !strings.Contains(r.Stderr, want.stderr) {
				t.Errorf("%s: got exit code %d and\n%s%s\nwant %d, %q and %q", line, r.Code, r.Stdout, r.Stderr, want.code, want.stdout, want.stderr)
			}
		}
	})
}

// unlost runs an ibsysstat client, up to four times if the query is lost: the client does
// not repeat it.
func unlost(t *testing.T, g *guest.Guest, line string) (r guest.Result) {
	t.Helper()
	for range 4 {
		if r = g.MustRun(t, strings.Fields(line)...); !strings.Contains(r.Stdout, "timed out") && !strings.Contains(r.Stderr, "timed out") {
			break
		}
	}
	return r
}

// TestLossyTables reads tables from opensm while every twentieth segment is lost. The kernel
// sends it again after two seconds.
func TestLossyTables(t *testing.T) {
	t.Parallel()
	g := guest.New(t, ibports.Spec(t, append(tools, "opensm")...))
	ibports.PlugIn(t, g, "fat-tree:radix=8,pods=4", "host00001", "host00010", "-sm", "off", "-lose-segments", "20")
	g.Must(t, "mkdir", "-p", "/var/cache/opensm", "/var/log")
	sm := g.MustStart(t, "opensm", "-f", "stdout", "-g", "0x"+guid(t, g, "ibtest0"))
	if err := sm.AwaitOutput(t.Context(), "SUBNET UP"); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int{"NodeRecord": 24, "PortInfoRecord": 0, "LinearForwardingTableRecord": 8, "LinkRecord": 64} {
		t.Run(kind, func(t *testing.T) {
			for range testenv.Rounds(1, 3) {
				start := time.Now()
				r := g.MustRun(t, "ibkit", "sa", "-C", ibports.Devices[1], "-t", "10000", "--hex", kind)
				records := strings.Count(r.Stdout, "\n")
				if want == 0 {
					want = records
				}
				if r.Code != 0 || records != want {
					t.Errorf("got exit code %d and %d records, want %d\n%s", r.Code, records, want, r.Stderr)
				}
				t.Logf("%d records in %v", records, time.Since(start).Round(time.Millisecond))
			}
		})
	}
}

// BenchmarkTables compares how long an opensm table takes: ibkit and Debian's saquery, in
// turn, on fabrics with 990 and 10,090 nodes. opensm and the kernel, which transfers the
// segments, take most of the elapsed time; the tools use the processor time. Both wait for
// long replies: saquery's default is a second.
func BenchmarkTables(b *testing.B) {
	for name, fabric := range map[string]string{
		"990 nodes":    "fat-tree:levels=2,radix=64,pods=30,hosts=32,spines=30",
		"10,090 nodes": "fat-tree:levels=2,radix=250,pods=80,hosts=125,spines=10",
	} {
		b.Run(name, func(b *testing.B) { benchmarkTable(b, fabric) })
	}
}

func benchmarkTable(b *testing.B, fabric string) {
	spec := ibports.Spec(b, "opensm", "saquery")
	spec.Timeout, spec.Log = time.Hour, io.Discard
	g := guest.New(b, spec)
	ibports.PlugIn(b, g, fabric, "host00001", "host00100", "-sm", "off")
	g.Must(b, "mkdir", "-p", "/var/cache/opensm", "/var/log")
	sm := g.MustStart(b, "opensm", "-f", "stdout")
	if err := sm.AwaitOutput(b.Context(), "SUBNET UP"); err != nil {
		b.Fatal(err)
	}
	const rounds = 5
	lines := []string{"saquery NR", "ibkit saquery NR", "ibkit sa NR", "ibkit sa NR --hex", "ibkit sa NR --json", "saquery NR 1", "ibkit sa NR lid=1"}
	elapsed, cpu := make([][]time.Duration, len(lines)), make([][]time.Duration, len(lines))
	for b.Loop() {
		for range rounds {
			for i, line := range lines {
				r := g.MustRun(b, "sh", "-c", "exec "+line+" -t 20000 -C "+ibports.Devices[1]+" >/run/out")
				if r.Code != 0 {
					b.Fatalf("%s: got exit code %d\n%s", line, r.Code, r.Stderr)
				}
				elapsed[i], cpu[i] = append(elapsed[i], r.Elapsed), append(cpu[i], r.CPU)
			}
		}
	}
	for i, line := range lines {
		e, c := median(elapsed[i]), median(cpu[i])
		b.Logf("%-24s %7.1f ms  %5.2f  processors %7.1f ms  %5.2f", line, milliseconds(e), float64(e)/float64(median(elapsed[0])),
			milliseconds(c), float64(c)/float64(median(cpu[0])))
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }
