package mesh

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// planes returns a routing with a fat tree of 32 leaves and 32 spines for each rail of
// 1,024 hosts. A leaf sends packets for a LID to the spine with the LID's remainder.
func planes(rails int) *route.Routing {
	const leaves, spines, hostsPerLeaf = 32, 32, 32
	r := &route.Routing{}
	guid, lid := ib.GUID(0x100), ib.LID(1)
	add := func(kind mad.NodeType, ports uint8, name string) *route.Node {
		n := r.Add(guid, kind, ports)
		copy(n.Desc[:], name)
		guid++
		return n
	}
	connect := func(a, b *route.Port) {
		for _, p := range []*route.Port{a, b} {
			p.State, p.Width, p.Speed = ib.PortActive, ib.Width4X, ib.NDR
		}
		route.Connect(a, b)
	}
	for rail := range rails {
		var edge, top []*route.Node
		for i := range leaves {
			edge = append(edge, add(mad.NodeTypeSwitch, hostsPerLeaf+spines, fmt.Sprintf("rail%d-leaf%02d", rail, i+1)))
		}
		for i := range spines {
			top = append(top, add(mad.NodeTypeSwitch, leaves, fmt.Sprintf("rail%d-spine%02d", rail, i+1)))
		}
		first := lid
		for l, sw := range edge {
			for i := range hostsPerLeaf {
				h := add(mad.NodeTypeCA, 1, fmt.Sprintf("host%04d mlx5_%d", l*hostsPerLeaf+i+1, rail))
				h.Ports[1].LID = lid
				connect(&h.Ports[1], &sw.Ports[i+1])
				lid++
			}
			for s := range top {
				connect(&sw.Ports[hostsPerLeaf+s+1], &top[s].Ports[l+1])
			}
		}
		for l, sw := range edge {
			fill(sw, first, lid, func(i int) int {
				if i/hostsPerLeaf == l {
					return i%hostsPerLeaf + 1
				}
				return hostsPerLeaf + i%spines + 1
			})
		}
		for _, sw := range top {
			fill(sw, first, lid, func(i int) int { return i/hostsPerLeaf + 1 })
		}
	}
	return r
}

// fill sets the entries of the LIDs from first on.
func fill(sw *route.Node, first, end ib.LID, port func(int) int) {
	t := sw.AddTables()
	t.LFT, t.Top = make([]uint8, end), end-1
	for i := range t.LFT {
		t.LFT[i] = route.NoRoute
		if ib.LID(i) >= first {
			t.LFT[i] = uint8(port(i - int(first)))
		}
	}
}

// BenchmarkAnalyze reads and judges 1,024 × 1,024 × 8 flows with ten faults.
func BenchmarkAnalyze(b *testing.B) {
	const rails = 8
	r := planes(rails)
	w := NewWiring(r, nil)
	faults := w.Plant(10, 1)
	results, err := Simulate(b.Context(), w, SimulateOptions{Schedule: Schedule{Name: "rail"}, Faults: faults, Noise: 0.015, Seed: 1, Alone: true})
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "results.csv")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriter(file)
	fmt.Fprintln(out, header())
	for _, f := range results.Flows {
		fmt.Fprintf(out, "%s,%s,%.5g,%.4g\n", results.Names[f.From], results.Names[f.To], f.Gbps, f.Micros)
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	results = nil
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime(b)
	for b.Loop() {
		read, err := Read(path)
		if err != nil {
			b.Fatal(err)
		}
		result := Analyze(read, NewWiring(r, nil), Options{})
		found := 0
		for _, f := range result.Findings {
			if f.Severity == report.Error {
				found++
			}
		}
		if result.Flows != 1024*1023*rails || found != len(faults) {
			b.Fatalf("got %d flows and %d findings, want %d faults: %v", result.Flows, found, len(faults), result.Findings)
		}
	}
	b.ReportMetric((cpuTime(b)-before).Seconds()/float64(b.N), "cpu-s/op") // also on a busy machine
	b.ReportMetric(float64(peakBytes(b))/1e6, "MB-peak")
	b.ReportMetric(float64(info.Size())/1e6, "MB-file")
}

// cpuTime returns the processor time of the process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakBytes returns the largest resident size of the process.
func peakBytes(b *testing.B) (n int64) {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	var kilobytes int64
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return 0
}
