package sim

import (
	"runtime"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
)

// scales are the largest fabrics, with the memory that they may use and the time to
// build them.
var scales = []struct {
	name, description string
	hosts             int
	heap              uint64 // maximum, in bytes
	time              time.Duration
}{
	{"10368", "fat-tree:levels=3,radix=36,pods=32", 10368, 300e6, time.Second},
	{"48000", "fat-tree:levels=3,radix=144,pods=6,leaves=64,hosts=125,spines=19,cores=10", 48000, 2e9, 0},
}

// liveHeap returns the size of live objects.
func liveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestScale(t *testing.T) {
	for _, s := range scales {
		t.Run(s.name, func(t *testing.T) {
			before := liveHeap()
			f := build(t, s.description)
			heap := liveHeap() - before
			hosts := 0
			guids := map[ib.GUID]bool{}
			for _, n := range f.Nodes {
				if guids[n.Info.NodeGUID] {
					t.Fatalf("got two nodes with GUID 0x%016x", n.Info.NodeGUID)
				}
				guids[n.Info.NodeGUID] = true
				if !n.IsSwitch() && n.Ports[1].Info.LID != 0 {
					hosts++
				}
			}
			if hosts != s.hosts || heap > s.heap {
				t.Errorf("got %d hosts, %d bytes, want %d, at most %d", hosts, heap, s.hosts, s.heap)
			}
			runtime.KeepAlive(f)
		})
	}
}

// BenchmarkBuild reports the time and the memory to build a fabric. The build must take
// less than a second for 10,368 end ports.
func BenchmarkBuild(b *testing.B) {
	for _, s := range scales {
		b.Run(s.name, func(b *testing.B) {
			before := liveHeap()
			var f *Fabric
			for b.Loop() {
				f = build(b, s.description)
			}
			b.ReportMetric(float64(len(f.Nodes)), "nodes")
			b.StopTimer()
			b.ReportMetric(float64(liveHeap()-before)/1e6, "MB-live")
			if mean := b.Elapsed() / time.Duration(b.N); s.time > 0 && mean > s.time {
				b.Errorf("got %v, want at most %v", mean, s.time)
			}
			runtime.KeepAlive(f)
		})
	}
}
