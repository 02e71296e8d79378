package route

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
)

// portGroup returns a port group with given destination counts, to each of which the given
// number of sources sends.
func portGroup(sources int, lids ...int) PortGroup {
	var b PortGroup
	for _, n := range lids {
		b.Ports = append(b.Ports, LinkLoad{LIDs: n, Paths: uint64(n * sources)})
	}
	b.measure()
	return b
}

func TestPortGroup_Uneven(t *testing.T) {
	zeros := func(n int, first ...int) []int { return append(first, make([]int, n-len(first))...) }
	for name, test := range map[string]struct {
		group          PortGroup
		judged, uneven bool
	}{
		"even":                      {portGroup(4, 6, 6), true, false},
		"no destinations":           {portGroup(4, 0, 0), false, false},
		"one destination more":      {portGroup(4, 0, 1), false, false},
		"all of 6 on one of 2":      {portGroup(4, 6, 0), false, false},
		"all of 7 on one of 2":      {portGroup(4, 7, 0), true, true},
		"all of 4 on one of 3":      {portGroup(4, 4, 0, 0), false, false},
		"all of 5 on one of 3":      {portGroup(4, 5, 0, 0), true, true},
		"all of 3 on one of 18":     {portGroup(18, zeros(18, 3)...), false, false},
		"all of 4 on one of 18":     {portGroup(18, zeros(18, 4)...), true, true},
		"1.2 times the mean":        {portGroup(9, 1200, 900, 900), true, false},
		"1.3 times the mean":        {portGroup(9, 1300, 850, 850), true, true},
		"chance":                    {portGroup(9, 19, 14, 14, 13), true, false},
		"a hot port":                {portGroup(9, 14, 5, 5, 4), true, true},
		"an idle port":              {portGroup(9, 20, 20, 20, 0), true, true},
		"two sources on two of 18":  {portGroup(2, zeros(18, 7, 7)...), true, false},
		"two sources on one of 18":  {portGroup(2, zeros(18, 14)...), true, true},
		"many sources on two of 18": {portGroup(18, zeros(18, 7, 7)...), true, true},
		"one source":                {portGroup(1, 40, 0), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if judged, got := test.group.Judged(), test.group.Uneven(); judged != test.judged || got != test.uneven {
				t.Errorf("got judged %v, uneven %v, want %v, %v", judged, got, test.judged, test.uneven)
			}
		})
	}
}

func TestBinomialTail(t *testing.T) {
	for _, test := range []struct {
		n, k int
		p    float64
		want float64
	}{
		{12, 12, 0.5, math.Pow(0.5, 12)},
		{12, 11, 0.5, 13 * math.Pow(0.5, 12)},
		{4, 3, 0.25, 4*math.Pow(0.25, 3)*0.75 + math.Pow(0.25, 4)},
		{12, 0, 0.25, 1},
		{7, 7, 1, 1},
		{10000, 5000, 0.5, 0.503989},
		{40000, 20300, 0.5, 0.001372},
	} {
		t.Run(fmt.Sprint(test.n, " ", test.k), func(t *testing.T) {
			if got := binomialTail(test.n, test.k, test.p); math.Abs(got-test.want) > 1e-3*test.want {
				t.Errorf("got %g, want %g", got, test.want)
			}
		})
	}
}

const threeLevels = "fat-tree:levels=3,radix=8,pods=4"

// correlate routes a three-level tree as opensm's engine minhop: a spine sends everything that
// is not below it to a single core.
func correlate(f *sim.Fabric) {
	for _, n := range f.Nodes {
		if !strings.Contains(n.ID, "spine") {
			continue
		}
		for lid, port := range n.LFT {
			if port < uint8(len(n.Ports)) && n.Ports[port].Peer != nil && strings.Contains(n.Ports[port].Peer.Node.ID, "core") {
				n.LFT[lid] = uint8(len(n.Ports) - 1)
			}
		}
	}
}

// heat moves a leaf up-link's destinations to another up-link.
func heat(f *sim.Fabric, leaf string) {
	n := f.Node(leaf)
	for lid, port := range n.LFT {
		if port == 5 {
			n.LFT[lid] = 6
		}
	}
}

// Uneven links with the same cause are a single finding with advice, others have their
// own.
func TestFindings_Unbalanced(t *testing.T) {
	const advice = "; opensm's routing engine ftree balances fat trees"
	engine := func(most int, mean float64) string {
		return fmt.Sprintf("16 of 16 switches at level 1: 0 to %d destinations on each of their up-links, %.1f on average, worst at ", most, mean) +
			"pod01-spine001 (0 to 12), pod01-spine002 (0 to 12), pod01-spine003 (0 to 12)" + advice
	}
	hot := func(leaf string) string {
		return leaf + ": 0 to 30 destinations on each of its 4 up-links, 15.0 on average"
	}
	for name, test := range map[string]struct {
		change func(*sim.Fabric)
		want   []string
	}{
		"balanced":  {func(*sim.Fabric) {}, nil},
		"engine":    {correlate, []string{engine(12, 3)}},
		"hot port":  {func(f *sim.Fabric) { heat(f, "pod01-leaf001") }, []string{hot("pod01-leaf001")}},
		"both":      {func(f *sim.Fabric) { correlate(f); heat(f, "pod02-leaf003") }, []string{engine(24, 3.25), hot("pod02-leaf003")}},
		"two ports": {func(f *sim.Fabric) { heat(f, "pod01-leaf001"); heat(f, "pod04-leaf004") }, []string{hot("pod01-leaf001"), hot("pod04-leaf004")}},
		"four ports": {func(f *sim.Fabric) {
			for _, leaf := range []string{"pod01-leaf001", "pod02-leaf001", "pod03-leaf001", "pod04-leaf001"} {
				heat(f, leaf)
			}
		}, []string{"4 of 16 switches at level 0: 0 to 30 destinations on each of their up-links, 15.0 on average, worst at pod01-leaf001 (0 to 30), pod02-leaf001 (0 to 30), pod03-leaf001 (0 to 30)"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, threeLevels)
				test.change(f)
				var got []string
				for _, x := range mustAnalyze(t, mustRead(t, f), AnalyzeOptions{}).Findings(nil) {
					got = append(got, x.Text())
					groups := len(x.Data.(*FindingData).Balance)
					if x.Kind != report.Unbalanced || groups == 0 || (x.NodeGUID == nil) != (groups > 1) {
						t.Errorf("got %s with node %v and %d groups, want unbalanced with its groups", x.Kind, x.NodeGUID, groups)
					}
				}
				if slices.Sort(got); !slices.Equal(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
}

// Parallel links have their own findings, without advice.
func TestFindings_ParallelLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "chassis:model=ISR9096,hosts=8")
		for _, n := range f.Nodes {
			if !strings.Contains(n.ID, "spine") {
				continue
			}
			for lid, port := range n.LFT {
				if p := int(port); p > 0 && p < len(n.Ports) {
					n.LFT[lid] = uint8((p-1)/3*3 + 1) // first among three links to a chip
				}
			}
		}
		findings := mustAnalyze(t, mustRead(t, f), AnalyzeOptions{}).Findings(nil)
		const want = "2 of 2 switches at level 1: 0 to 6 destinations on each of their parallel links, 2.0 on average, worst at " +
			"system1-spine03-1 to system1-line02-2 (0 to 6), system1-spine03-1 to system1-line04-1 (0 to 6), system1-spine04-1 to system1-line02-1 (0 to 6)"
		if len(findings) != 1 || findings[0].Text() != want {
			t.Errorf("got %+v, want one finding %q", findings, want)
		}
	})
}

// In a tree with full bandwidth, a shift has a single flow on each link.
func TestAnalyze_Shift(t *testing.T) {
	for _, fabric := range []string{threeLevels, "fat-tree:levels=3,radix=12,pods=12", "fat-tree:radix=16,pods=16"} {
		t.Run(fabric, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := mustAnalyze(t, mustRead(t, build(t, fabric)), AnalyzeOptions{Patterns: []Pattern{Shift}})
				if c := a.Congestion[0]; c.Worst != 1 {
					t.Errorf("got %d flows on %v, want 1", c.Worst, c.Link)
				}
			})
		})
	}
}
