package route

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// Each preset with a fault in package sim has the finding, and no other finding.
func TestAnalyze_Faults(t *testing.T) {
	for _, test := range []struct {
		preset string
		kinds  []report.Kind
		want   []string // detail parts
	}{
		{"forwarding-loop", []report.Kind{report.ForwardingLoop, report.CreditLoop}, []string{"leaf001[5] → spine001[1] → leaf001: ", "to host00016 (LID "}},
		{"dead-end", []report.Kind{report.Unreachable}, []string{"spine001[8]: dead end: ", "to host00005 (LID "}},
		{"unbalanced-leaf", []report.Kind{report.Unbalanced}, []string{"leaf001: 0 to 12 destinations on each of its 2 up-links, 6.0 on average"}},
		{"credit-loop", []report.Kind{report.CreditLoop}, []string{"switch-0-0-0[2] → switch-1-0-0[4] → switch-1-1-0[3] → switch-0-1-0[2] → switch-0-0-0"}},
		{"broken-multicast", []report.Kind{report.Multicast}, []string{
			"LID 0xc010: packets of other members do not reach 1 of 3 members, for example host00009", "LID 0xc011: a loop through ",
		}},
	} {
		t.Run(test.preset, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				findings := mustAnalyze(t, mustRead(t, build(t, test.preset)), AnalyzeOptions{}).Findings(nil)
				var all strings.Builder
				for _, f := range findings {
					if !slices.Contains(test.kinds, f.Kind) {
						t.Errorf("got finding %s: %s, want only %s", f.Kind, f.Text(), test.kinds)
					}
					all.WriteString(f.Text() + "\n")
				}
				for _, want := range test.want {
					if !strings.Contains(all.String(), want) {
						t.Errorf("got findings\n%swant %q", &all, want)
					}
				}
			})
		})
	}
}

func TestAnalyze_SeveralLIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := mustRead(t, build(t, "fat-tree:radix=4,pods=2,spines=2"))
		for _, n := range r.Nodes {
			if n.IsSwitch() {
				// Each host LID gets a second LID that is routed in the same way.
				lft := make([]uint8, 2*len(n.Tables.LFT))
				for lid := range lft {
					lft[lid] = n.Tables.LFT[lid/2]
				}
				n.Tables.LFT, n.Tables.Top = lft, 2*n.Tables.Top+1
				n.Ports[0].LID *= 2
				continue
			}
			n.Ports[1].LID *= 2
			n.Ports[1].LMC = 1
		}
		a := mustAnalyze(t, r, AnalyzeOptions{})
		if a.Destinations != 8 || a.Reached != 4*3*2 {
			t.Errorf("got %d destinations, %d paths, want 8, 24", a.Destinations, a.Reached)
		}
		if d := a.Disjoint; d == nil || d.Groups != 4 || d.Same != 4 {
			t.Errorf("got %+v, want 4 pairs with one path", d)
		}
	})
}

func TestAnalyze_Sizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := mustRead(t, build(t, "fat-tree:radix=4,pods=2,spines=2"))
		n := r.Switches()[0]
		n.Tables.LFT[1], n.Tables.Cap = 200, 4
		n.SetMulticast(0xc000, [32]uint8{0: 0x80}) // port 255
		r.Nodes[0].Ports[1].LID = r.Nodes[1].Ports[0].LID
		var details []string
		for _, f := range mustAnalyze(t, r, AnalyzeOptions{}).Findings(nil) {
			if f.Kind == report.BeyondSwitch || f.Kind == report.DuplicateLID {
				details = append(details, f.Text())
			}
		}
		for _, want := range []string{"the table has only 4 entries", "entries with a port above 4: 1, for example that of LID 1 with port 200", "multicast entries with a port above 4: 1", "LID "} {
			if !strings.Contains(strings.Join(details, "\n"), want) {
				t.Errorf("got findings %q, want one with %q", details, want)
			}
		}
	})
}

// Packets that enter a forwarding loop at any switch wait for each other, on each of their
// service levels.
func TestAnalyze_LoopLanes(t *testing.T) {
	for sl := range uint8(2) {
		for entry := range 3 {
			r := &Routing{PathSLs: &PathSLs{}}
			var ring [3]*Node
			for i := range ring {
				ring[i] = r.Add(ib.GUID(i+1), mad.NodeTypeSwitch, 3)
				ring[i].Tables = &Tables{LFT: slices.Repeat([]uint8{NoRoute}, lftBlock), Top: lftBlock - 1}
			}
			for i := range ring {
				Connect(&ring[i].Ports[1], &ring[(i+1)%3].Ports[2])
			}
			host := func(lid ib.LID, at int) *Port {
				n := r.Add(ib.GUID(0x100+int(lid)), mad.NodeTypeCA, 1)
				n.Ports[1].LID = lid
				Connect(&n.Ports[1], &ring[at].Ports[3])
				return &n.Ports[1]
			}
			from, to := host(1, entry), host(2, (entry+1)%3)
			for _, n := range ring {
				n.Tables.LFT[to.LID] = 1
			}
			r.PathSLs.Set(from, to.LID, sl)
			a := mustAnalyze(t, r, AnalyzeOptions{})
			if len(a.CreditLoops) != 1 || len(a.CreditLoops[0].Hops) != 3 || a.CreditLoops[0].Hops[0].VL != sl {
				t.Errorf("entry at switch %d, service level %d: got %+v, want one credit loop of 3 ports", entry, sl, a.CreditLoops)
			}
		}
	}
}
