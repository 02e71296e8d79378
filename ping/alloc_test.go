package ping

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// simTargets returns a port in a simulated fabric and n targets, all with ping servers.
func simTargets(tb testing.TB, agent Agent, n int) (umad.Port, []*Target) {
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
		targets = append(targets, &Target{Agent: agent, To: umad.Target{LID: node.Ports[1].Info.LID}})
	}
	return port, targets
}

// runSim sends a number of probes in total, and fails on any loss.
func runSim(tb testing.TB, port umad.Port, targets []*Target, probes int) {
	tb.Helper()
	seen := 0
	count := max(probes/len(targets), 1)
	r, err := Run(tb.Context(), port, targets, Options{
		OUI: OUI, Count: count, Payload: make([]byte, PayloadSize), Done: func(*Probe) { seen++ }, Idle: func() {},
	})
	if err != nil || r.Total.Received != count*len(targets) || seen != r.Total.Received {
		tb.Fatalf("got error %v, statistics %+v, %d calls of Done, want a reply to each probe", err, r.Total.counts(), seen)
	}
}

// After a run has started, a probe needs no allocation, for any target count.
func TestRun_NoAllocation(t *testing.T) {
	for _, agent := range []Agent{AgentServer, AgentSMA, AgentPMA} {
		if raceEnabled && agent != AgentServer {
			continue // mad.Decode uses a sync.Pool
		}
		for _, n := range []int{1, 64} {
			t.Run(fmt.Sprintf("%v/%d targets", agent, n), func(t *testing.T) {
				port, targets := simTargets(t, agent, n)
				const few, many = 640, 6400
				base := testing.AllocsPerRun(2, func() { runSim(t, port, targets, few) })
				if all := testing.AllocsPerRun(2, func() { runSim(t, port, targets, many) }); all > base+10 {
					t.Errorf("got %v allocations for %d probes and %v for %d, want no more than 10 additional ones", all, many, base, few)
				}
			})
		}
	}
}

// A million probes need no more memory than a thousand: the run neither keeps nor
// discards memory for a probe.
func TestRun_ConstantMemory(t *testing.T) {
	port, targets := simTargets(t, AgentServer, 1)
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
		t.Errorf("got %d bytes allocated and %d kept, want at most %d as for a thousand probes", allocated, kept, base+slack)
	}
}

// BenchmarkRun pings a simulated fabric, which uses most of the time.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(map[int]string{1: "one target", 64: "64 targets"}[n], func(b *testing.B) {
			port, targets := simTargets(b, AgentServer, n)
			b.ReportAllocs()
			b.ResetTimer()
			runSim(b, port, targets, b.N)
		})
	}
}
