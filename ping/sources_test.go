package ping

import (
	"runtime"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// Who sends from more addresses than are kept apart gets no more memory, and
// nothing that was counted is lost.
func TestSourcesAreBounded(t *testing.T) {
	f := &servedFake{}
	const senders = 3 * MaxSources
	for i := range senders {
		m := pingFrom(0, uint64(i))
		m.Addr.GRH = &umad.GRH{DGID: [16]byte{0xfe, 0x80, 15: 1, 14: byte(i), 13: byte(i >> 8)}}
		f.arrivals = append(f.arrivals, m)
		if i%1000 == 0 {
			f.arrivals = append(f.arrivals, pingFrom(7, uint64(i))) // not forgotten
		}
	}
	c := serveFake(t, ServeOptions{OUI: OUI}, f).Counts()
	if len(c.Sources) != MaxSources || c.Forgotten != senders+1-MaxSources {
		t.Errorf("%d sources and %d forgotten", len(c.Sources), c.Forgotten)
	}
	if n := uint64(senders + senders/1000 + 1); c.Total.Received != n || c.Total.Answered+c.Total.Dropped != n {
		t.Errorf("counted %+v of %d", c.Total, n)
	}
	if s := c.Sources[0]; s.From.LID != 7 || s.Received != senders/1000+1 {
		t.Errorf("the one that came again: %+v", s)
	}
}

// A million pings from as many senders take no more memory than the first few
// thousand did, and none of them takes an allocation.
func TestServeMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	p := NewServer(ServeOptions{OUI: OUI, Rate: 1000}).at(umad.PortAttr{})
	port := &countingPort{}
	n := 0
	round := func() {
		for range 64 {
			n++
			p.in = pingFrom(ib.LID(n), uint64(n))
			port.grh.DGID[8], port.grh.DGID[9], port.grh.DGID[10] = byte(n>>16), byte(n>>8), byte(n)
			if n%2 == 0 {
				p.in.Addr.GRH = &port.grh
			}
			p.take()
		}
		if err := p.answer(port); err != nil {
			t.Fatal(err)
		}
	}
	for range 10000 {
		round()
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	allocs := testing.AllocsPerRun(15000, round)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); allocs >= 1 || grown > 1<<20 {
		t.Errorf("%v allocations in 64 pings, %d bytes more", allocs, grown)
	}
	if port.sent != n {
		t.Errorf("%d of %d answered", port.sent, n)
	}
}

// countingPort takes all that is sent.
type countingPort struct {
	servedFake
	grh  umad.GRH
	sent int
}

func (p *countingPort) Send(*umad.Message) error {
	p.sent++
	return nil
}

// Tokens come in at the rate, to no more than a second's.
func TestAllow(t *testing.T) {
	for _, test := range []struct {
		rate    float64
		after   []time.Duration
		allowed int
	}{
		{0, []time.Duration{0, 0, 0}, 3},
		{1, []time.Duration{0, 0, time.Second, time.Hour, time.Hour}, 3},
		{0.5, []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, 2},
		{2, []time.Duration{0, 0, 0, 499 * time.Millisecond, 500 * time.Millisecond}, 3},
	} {
		var all sources
		all.bySource = map[Source]*source{}
		allowed := 0
		for _, now := range test.after {
			if all.of(Source{LID: 1}, now, test.rate).allow(now, test.rate) {
				allowed++
			}
		}
		if allowed != test.allowed {
			t.Errorf("rate %v: %d allowed, want %d", test.rate, allowed, test.allowed)
		}
	}
}
