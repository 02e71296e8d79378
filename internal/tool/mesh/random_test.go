package mesh

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// A size is a simulated fabric for random cases.
type size struct{ name, description string }

var (
	smallSizes = []size{
		{"fat tree 64", "fat-tree:radix=16,pods=8"},
		{"torus 64", "torus:x=4,y=4,hosts=4"},
		{"dragonfly 64", "dragonfly:groups=4,switches=4,hosts=4"},
	}
	largeSizes = []size{
		{"fat tree 256", "fat-tree:radix=32,pods=16"},
		{"torus 256", "torus:x=4,y=4,z=4,hosts=4"},
		{"dragonfly 256", "dragonfly:groups=8,switches=8,hosts=4"},
		{"fat tree 1024", "fat-tree:radix=64,pods=32"},
		{"torus 1024", "torus:x=8,y=8,z=4,hosts=4"},
		{"dragonfly 1024", "dragonfly:groups=16,switches=8,hosts=8"},
	}
)

// roundsOfToyModel is the schedule for which the design states rates: one fault is always
// named exactly, of four faults 95 %, of ten 83 %.
const roundsOfToyModel = "quick:32"

// row returns the line of docs/mesh.md about faults at the same time.
func (c tally) row(faults int) string {
	count := func(n int) string {
		if n >= 1000 {
			return fmt.Sprintf("%d,%03d", n/1000, n%1000)
		}
		return fmt.Sprint(n)
	}
	exact := strings.TrimSuffix(fmt.Sprintf("%.1f", 100*float64(c.exact)/float64(c.planted)), ".0")
	return fmt.Sprintf("| %d | %s of %s | %s %% | %d |", faults, count(c.found), count(c.planted), exact, c.wrong)
}

// leastExact is the share of faults that must be named exactly, by the fault count.
var leastExact = map[int]float64{1: 1, 4: 0.95, 10: 0.83}

// A tally counts planted faults.
type tally struct {
	planted, found, exact int
	wrong                 int // findings about something else
}

func (c *tally) add(o tally) {
	c.planted, c.found, c.exact, c.wrong = c.planted+o.planted, c.found+o.found, c.exact+o.exact, c.wrong+o.wrong
}

func (c tally) String() string {
	return fmt.Sprintf("%4d faults, found %5.1f %%, named exactly %5.1f %%, %d wrong findings",
		c.planted, 100*float64(c.found)/float64(c.planted), 100*float64(c.exact)/float64(c.planted), c.wrong)
}

// Random faults at 30 to 85 % of the speed, with noise of 1.5 %, in rounds without shared
// links, are named. ALL_CASES runs 540 cases and compares the rates with docs/mesh.md.
func TestAnalyze_RandomFaults(t *testing.T) {
	published, err := os.ReadFile("../../../docs/mesh.md")
	if err != nil {
		t.Fatal(err)
	}
	total := map[int]*tally{1: {}, 4: {}, 10: {}}
	for _, size := range testenv.Cases(smallSizes, largeSizes...) {
		t.Run(size.name, func(t *testing.T) {
			take, rounds := roundsOf(t, wire(t, size.description), roundsOfToyModel)
			for _, faults := range []int{1, 4, 10} {
				var sum tally
				for seed := range testenv.Rounds(4, 20) {
					sum.add(randomCase(t, take, rounds, faults, uint64(seed)))
				}
				t.Logf("%2d at the same time: %v", faults, sum)
				total[faults].add(sum)
			}
		})
	}
	for faults, sum := range total {
		t.Logf("all fabrics, %2d at the same time: %v", faults, *sum)
		if exact := float64(sum.exact) / float64(sum.planted); exact < leastExact[faults] {
			t.Errorf("%d faults: got %.1f %% named exactly, want at least %.0f %%", faults, 100*exact, 100*leastExact[faults])
		}
		if row := sum.row(faults); testenv.AllCases() && !strings.Contains(string(published), row) {
			t.Errorf("docs/mesh.md lacks the row %s", row)
		}
		if sum.wrong*100 > sum.planted {
			t.Errorf("%d faults: got %d wrong findings of %d faults, want at most 1 %%", faults, sum.wrong, sum.planted)
		}
	}
}

// randomCase plants faults and counts the named ones.
func randomCase(t *testing.T, take *members, rounds [][]pair, count int, seed uint64) (sum tally) {
	t.Helper()
	w := take.wiring
	faults := w.Plant(count, seed)
	results, err := simulateRounds(t.Context(), take, slices.Values(rounds), SimulateOptions{Faults: faults, Noise: 0.015, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	r := Analyze(results, w, Options{})
	named := map[string]int{} // places by the direction that a fault names
	for _, f := range r.Findings {
		data, ok := f.Data.(*FindingData)
		if !ok {
			sum.wrong++
			continue
		}
		right := false
		for _, fault := range faults {
			if fault.isIn(data) && (f.Kind != report.SlowLink || f.Subject == fault.Subject || len(data.Evidence) > 1) {
				named[fault.Subject] = max(named[fault.Subject], 1)
				right = true
				if fault.isExactly(data) {
					named[fault.Subject] = 2
				}
			}
		}
		if !right {
			sum.wrong++
		}
	}
	sum.planted = len(faults)
	for _, precision := range named {
		sum.found++
		if precision == 2 {
			sum.exact++
		}
	}
	return sum
}

// cablePrefix begins the names of cables.
const cablePrefix = "cable "

// isIn reports whether a finding has the fault's cable among its candidates.
func (f Fault) isIn(data *FindingData) bool {
	return slices.ContainsFunc(data.Candidates, func(c string) bool {
		ends, ok := strings.CutPrefix(c, cablePrefix)
		a, b, _ := strings.Cut(ends, " - ")
		return ok && (a == f.Subject || b == f.Subject)
	})
}

// isExactly reports whether a finding has no other candidates than the fault: a cable, and
// for a host also the host, which no flow distinguishes from its cable.
func (f Fault) isExactly(data *FindingData) bool {
	cables := 0
	for _, c := range data.Candidates {
		if strings.HasPrefix(c, cablePrefix) {
			cables++
		}
	}
	return cables == 1 && len(data.Candidates)-cables <= 1
}

// A healthy fabric has no findings. ALL_CASES judges 1,000 runs.
func TestAnalyze_Healthy(t *testing.T) {
	for _, size := range smallSizes {
		take, rounds := roundsOf(t, wire(t, size.description), roundsOfToyModel)
		t.Run(size.name, func(t *testing.T) {
			for seed := range testenv.Rounds(20, 334) {
				results, err := simulateRounds(t.Context(), take, slices.Values(rounds), SimulateOptions{Noise: 0.015, Seed: uint64(seed)})
				if err != nil {
					t.Fatal(err)
				}
				if r := Analyze(results, take.wiring, Options{}); len(r.Findings) > 0 || r.Partial {
					t.Fatalf("seed %d: got %v, want no findings", seed, r.Findings)
				}
			}
		})
	}
}
