package ping

import (
	"runtime"
	"testing"

	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// simTargets returns a port of a simulated fabric and so many targets in it,
// which all have ping servers.
func simTargets(tb testing.TB, via Via, n int) (umad.Port, []*Target) {
	tb.Helper()
	f, err := sim.Build("single-switch:radix=65,hosts=65")
	if err != nil {
		tb.Fatal(err)
	}
	port, err := f.Open("")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { port.Close() })
	var targets []*Target
	for _, node := range f.Nodes {
		if node.IsSwitch() || len(targets) == n {
			continue
		}
		node.PingServer = "host"
		targets = append(targets, &Target{Via: via, To: umad.Target{LID: node.Ports[1].Info.LID}})
	}
	return port, targets
}

// runSim sends so many probes in all, and fails where one is lost.
func runSim(tb testing.TB, port umad.Port, targets []*Target, probes int) {
	tb.Helper()
	seen := 0
	count := max(probes/len(targets), 1)
	r, err := Run(tb.Context(), port, targets, Options{
		OUI: OUI, Count: count, Payload: make([]byte, PayloadSize), Done: func(*Probe) { seen++ }, Idle: func() {},
	})
	if err != nil || r.Total.Received != count*len(targets) || seen != r.Total.Received {
		tb.Fatalf("%v, %+v, shown %d", err, r.Total.counts(), seen)
	}
}

// After the start a probe allocates nothing, to however many targets.
func TestNoAllocation(t *testing.T) {
	for _, via := range []Via{ViaVendor, ViaSMA, ViaPMA} {
		if raceEnabled && via != ViaVendor {
			continue // what mad.Decode has at hand gets lost then
		}
		for _, n := range []int{1, 64} {
			port, targets := simTargets(t, via, n)
			const few, many = 640, 6400
			base := testing.AllocsPerRun(2, func() { runSim(t, port, targets, few) })
			if all := testing.AllocsPerRun(2, func() { runSim(t, port, targets, many) }); all > base+10 {
				t.Errorf("%v, %d targets: %v allocations for %d probes, %v for %d", via, n, all, many, base, few)
			}
		}
	}
}

// A million probes need no more memory than a thousand: neither does anything
// stay, nor is anything made that is thrown away.
func TestConstantMemory(t *testing.T) {
	port, targets := simTargets(t, ViaVendor, 1)
	memory := func(probes int) (allocated, kept int64) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		runSim(t, port, targets, probes)
		runtime.GC()
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc), int64(after.HeapAlloc) - int64(before.HeapAlloc)
	}
	base, _ := memory(1000)
	const slack = 64 << 10
	probes := 1_000_000
	if raceEnabled {
		probes /= 10
	}
	if allocated, kept := memory(probes); allocated > base+slack || kept > base+slack {
		t.Errorf("%d bytes were allocated and %d are kept, %d were allocated for a thousand probes", allocated, kept, base)
	}
}

// BenchmarkRun pings a simulated fabric, which takes most of the time itself.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(map[int]string{1: "one target", 64: "64 targets"}[n], func(b *testing.B) {
			port, targets := simTargets(b, ViaVendor, n)
			b.ReportAllocs()
			b.ResetTimer()
			runSim(b, port, targets, b.N)
		})
	}
}
