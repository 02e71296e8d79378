package watch

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// windows are scenarios that read the counters in a fabric without errors each 30 s.
func windows(all []scenario) []scenario {
	for i := range all {
		s := &all[i]
		s.fabric = "fat-tree:radix=4,pods=2,spines=2"
		s.options.Duration = 130 * time.Second
		if s.options.Sources == nil {
			s.options.Sources = []Source{Counters}
		}
	}
	return all
}

func TestRun_Counters(t *testing.T) {
	const settled = "counter-settled leaf002[1] - host00003[1]: SymbolErrorCounter: below the threshold in the last window"
	checkAll(t, windows([]scenario{
		{name: "before the start", script: "0s counter leaf002[1] SymbolErrorCounter 1000\n"},
		{
			name: "one window", script: "35s counter leaf002[1] SymbolErrorCounter 1000\n",
			want: []string{"1m0s counter-raised leaf002[1] - host00003[1]: SymbolErrorCounter +1000: bit errors on the link", "1m30s " + settled},
		},
		{
			name: "two windows", script: "35s counter leaf002[1] SymbolErrorCounter 1000\n65s counter leaf002[1] SymbolErrorCounter 2000\n",
			want: []string{"1m0s counter-raised leaf002[1] - host00003[1]: SymbolErrorCounter +1000: bit errors on the link", "2m0s " + settled},
		},
		{
			name: "the maximum of 16 bits", script: "35s counter leaf002[1] SymbolErrorCounter 65535\n",
			want: []string{"1m0s counter-raised leaf002[1] - host00003[1]: SymbolErrorCounter +65535: bit errors on the link", "1m30s " + settled},
		},
		{
			name: "cleared", script: "5s counter leaf002[1] SymbolErrorCounter 1000\n35s clear leaf002[1]\n",
			want: []string{
				"30s counter-raised leaf002[1] - host00003[1]: SymbolErrorCounter +1000: bit errors on the link",
				"1m0s counters-cleared leaf002[1] - host00003[1]: cleared: counters were cleared between the samples",
				"1m0s " + settled,
			},
		},
		{
			name: "a flap", script: "35s flap leaf002[1] 1s 2\n",
			want: []string{
				"1m0s counter-raised leaf002[1] - host00003[1]: LinkDownedCounter +2: the link went down and came up again",
				"1m0s counter-raised host00003[1] - leaf002[1]: LinkDownedCounter +2: the link went down and came up again",
				"1m30s counter-settled leaf002[1] - host00003[1]: LinkDownedCounter: below the threshold in the last window",
				"1m30s counter-settled host00003[1] - leaf002[1]: LinkDownedCounter: below the threshold in the last window",
			},
		},
	}))
}

// A port without a reply is reported once, and its other findings do not end by that.
func TestRun_CountersSilent(t *testing.T) {
	const silent = "no reply: the port was read before, and did not respond again"
	checkAll(t, windows([]scenario{
		{
			name: "responds again", script: "35s pma host00003 silent\n65s pma host00003 ok\n",
			want: []string{
				"1m0s counter-raised host00003[1] - leaf002[1]: " + silent,
				"2m0s counter-settled host00003[1] - leaf002[1]: the port responds again",
			},
		},
		{
			name: "with another finding", script: "35s counter host00003[1] SymbolErrorCounter 1000\n65s pma host00003 silent\n",
			want: []string{
				"1m0s counter-raised host00003[1] - leaf002[1]: SymbolErrorCounter +1000: bit errors on the link",
				"1m30s counter-raised host00003[1] - leaf002[1]: " + silent,
			},
		},
	}))
}

// If the local port's link is down, the source is lost, and no port is reported for it.
func TestRun_CountersLocalLink(t *testing.T) {
	checkAll(t, windows([]scenario{
		{
			name: "down", script: "35s unlink host00001[1]\n65s link host00001[1]\n",
			want: []string{
				"1m0s source-lost counters: read counters: no port of another node was read",
				"1m0s counter-raised host00001[1] - leaf001[1]: LinkDownedCounter +1: the link went down",
				"1m30s source-up counters",
				"1m30s counter-settled host00001[1] - leaf001[1]: LinkDownedCounter: below the threshold in the last window",
			},
		},
		{
			name: "down at the start", script: "0s unlink host00001[1]\n65s link host00001[1]\n",
			want: []string{
				"0s source-lost counters: the link of the local port is down (Polling): no other node was found",
				"1m30s source-up counters",
			},
		},
		{
			name: "down, with a finding", script: "25s counter leaf002[1] SymbolErrorCounter 7\n35s unlink host00001[1]\n65s link host00001[1]\n95s counter leaf002[1] SymbolErrorCounter 14\n",
			want: []string{
				"30s counter-raised leaf002[1] - host00003[1]: SymbolErrorCounter +7: bit errors on the link",
				"1m0s source-lost counters: read counters: no port of another node was read",
				"1m0s counter-raised host00001[1] - leaf001[1]: LinkDownedCounter +1: the link went down",
				"1m30s source-up counters",
				"1m30s counter-settled host00001[1] - leaf001[1]: LinkDownedCounter: below the threshold in the last window",
			},
		},
		{
			name: "down, found by a check", script: "35s unlink host00001[1]\n65s link host00001[1]\n", options: Options{Sources: []Source{Links, Counters}},
			want: []string{
				"40s link-down host00001[1] - leaf001[1]: was 4X HDR Active",
				"40s source-lost links: the link of the local port is down (Polling): no other node was found",
				"1m0s source-lost counters: the link of the local port is down (Polling): no other node was found",
				"1m10s source-up links: 8 nodes, 8 links",
				"1m10s link-up host00001[1] - leaf001[1]: 4X HDR Active",
				"1m30s source-up counters",
			},
		},
	}))
}

// A counter event has its window's numbers.
func TestRun_CounterData(t *testing.T) {
	s := windows([]scenario{{script: "25s counter leaf002[1] SymbolErrorCounter 500\n45s counter leaf002[1] SymbolErrorCounter 800\n"}})[0]
	for _, e := range s.watch(t).events {
		c, p := e.Data.Counter, e.Data.Place
		if e.Kind != report.CounterRaised {
			continue
		}
		if c.Kind != report.Increased || *c.Name != "SymbolErrorCounter" || *c.Class != "cable" || *c.Value != 500 || *c.Increase != 500 || *c.Window != 30 || *c.Rate*30 < 499 || *c.Rate*30 > 501 {
			t.Errorf("got %+v", c)
		}
		if *e.NodeGUID == 0 || *p.Type != "Switch" || *p.LID == 0 || *e.Port != 1 || e.Severity != report.Error {
			t.Errorf("got %+v of %+v", e, p)
		}
		return
	}
	t.Error("got no event")
}

// Counters are read at their times, also while notices cause scans that take longer than the time
// between them.
func TestRun_Storm(t *testing.T) {
	s := scenario{
		script: "0s model delay=30ms\n40s flap leaf2[4] 250ms 100\n50s counter leaf3[1] SymbolErrorCounter 1000\n",
		options: Options{
			Sources: []Source{Links, Traps, Counters}, Interval: 5 * time.Second, Window: 10 * time.Second,
			Fabric: fabric.Source{Client: umad.ClientOptions{Timeout: time.Second}}, Duration: 2 * time.Minute,
		},
	}
	r := s.watch(t)
	for _, e := range r.events {
		if e.Kind == report.CounterRaised && e.Subject == "leaf3[1]" {
			if after := e.Time.Sub(r.start); after > 70*time.Second {
				t.Errorf("got the event after %v, want it within 20 s after the change at 50 s", after)
			}
			return
		}
	}
	t.Errorf("got no event of leaf3[1] in %q", r.lines())
}
