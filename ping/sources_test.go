package ping

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// The source count is bounded, and the total counts all pings.
func TestServer_ManySources(t *testing.T) {
	p := &umadtest.Port{}
	const senders = 3 * maxSources
	for i := range senders {
		m := pingFrom(0, uint64(i))
		m.Addr.GRH = &umad.GRH{DGID: ib.GID{0xfe, 0x80, 15: 1, 14: byte(i), 13: byte(i >> 8)}}
		p.Deliver(0, m)
		if i%1000 == 0 {
			p.Deliver(0, pingFrom(7, uint64(i))) // stays a recent source
		}
	}
	c := serveAll(t, ServeOptions{OUI: OUI}, p).Counts()
	if len(c.Sources) != maxSources || c.Forgotten != senders+1-maxSources {
		t.Errorf("got %d sources and %d forgotten, want %d and %d", len(c.Sources), c.Forgotten, maxSources, senders+1-maxSources)
	}
	if n := uint64(senders + senders/1000 + 1); c.Total.Received != n || c.Total.Answered+c.Total.Dropped != n {
		t.Errorf("total: got %+v, want %d received", c.Total, n)
	}
	if s := c.Sources[0]; s.From.LID != 7 || s.Received != senders/1000+1 {
		t.Errorf("recurring source: got %+v, want %d received", s, senders/1000+1)
	}
}

// A million pings from as many senders take no more memory than the first few
// thousand, and no allocation.
func TestServer_Memory(t *testing.T) {
	p := NewServer(ServeOptions{OUI: OUI, Rate: 1000}).portServer(umad.PortAttr{})
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
			p.accept()
		}
		if err := p.reply(port); err != nil {
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
		t.Errorf("got %v allocations per 64 pings and %d bytes more, want none and at most 1 MiB", allocs, grown)
	}
	if port.sent != n {
		t.Errorf("got %d replies, want %d", port.sent, n)
	}
}

// countingPort counts the messages sent.
type countingPort struct {
	umadtest.Port
	grh  umad.GRH
	sent int
}

func (p *countingPort) Send(*umad.Message) error {
	p.sent++
	return nil
}

// Tokens are added at the rate, up to one second's tokens.
func TestSource_Allow(t *testing.T) {
	tests := []struct {
		rate  float64
		times []time.Duration
		want  int
	}{
		{0, []time.Duration{0, 0, 0}, 3},
		{1, []time.Duration{0, 0, time.Second, time.Hour, time.Hour}, 3},
		{0.5, []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, 2},
		{2, []time.Duration{0, 0, 0, 499 * time.Millisecond, 500 * time.Millisecond}, 3},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.rate), func(t *testing.T) {
			all := sources{bySource: map[Source]*source{}}
			got := 0
			for _, now := range tt.times {
				if all.get(Source{LID: 1}, now, tt.rate).allow(now, tt.rate) {
					got++
				}
			}
			if got != tt.want {
				t.Errorf("allowed: got %d, want %d", got, tt.want)
			}
		})
	}
}
