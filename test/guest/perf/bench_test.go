//go:build guest

package perf_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/guest"
)

// A cell is one test with one size.
type cell struct {
	op, kind   string
	size       int
	iterations int
}

// cells are those of the table in docs/benchmarks.md.
func cells() []cell {
	var all []cell
	for _, op := range []string{"send", "write", "read"} {
		for _, kind := range []string{"lat", "bw"} {
			for _, size := range []int{2, 64, 1 << 10, 4 << 10, 64 << 10, 1 << 20} {
				// As many as take a fraction of a second in a guest.
				n := max(50, min(2000, 64<<20/size/4))
				if kind == "lat" {
					n = max(30, n/2)
				}
				all = append(all, cell{op, kind, size, n})
			}
		}
	}
	return all
}

// rounds is how often each is measured, in turn.
const rounds = 5

// BenchmarkPerftest has ibkit perf and Debian's perftest measure the same in turn,
// and prints medians as a table: of latency the median times, of bandwidth the
// averages. The ratio of the best of either suffers least from what else the
// machine does.
func BenchmarkPerftest(b *testing.B) {
	g := guest.New(b, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    []string{"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw"},
		Programs: []guest.Program{guest.Ibkit},
		Timeout:  time.Hour,
	})
	// perftest wants the frequency of its processor, and so do we: its cycles are
	// what it shows even where its own measurement of it fails.
	mhz, err := strconv.ParseFloat(strings.TrimSpace(g.Must(b, "sh", "-c", "sed -n 's/^cpu MHz.*: //p' /proc/cpuinfo | head -1")), 64)
	if err != nil {
		b.Fatalf("the guest does not say its processor's frequency: %v", err)
	}
	server := g.MustStart(b, "ibkit", "perf", "--serve")
	if err := server.AwaitOutput(b.Context(), "serving tests at"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var table strings.Builder
		table.WriteString("| test | bytes | ibkit | perftest | ratio | ratio of the best |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
		for _, c := range cells() {
			var figures [2][]float64
			for range rounds {
				figures[0] = append(figures[0], c.ours(b, g))
				figures[1] = append(figures[1], c.theirs(b, g, mhz))
			}
			unit := "MiB/s"
			if c.kind == "lat" {
				unit = "µs"
			}
			for i := range figures {
				slices.Sort(figures[i])
			}
			ours, theirs := figures[0][rounds/2], figures[1][rounds/2]
			best := 0 // the least time
			if c.kind == "bw" {
				best = rounds - 1
			}
			row := fmt.Sprintf("| %s %s | %d | %.2f %s | %.2f %s | %.2f | %.2f |",
				c.op, c.kind, c.size, ours, unit, theirs, unit, ours/theirs, figures[0][best]/figures[1][best])
			b.Log(row) // it takes a while
			table.WriteString(row + "\n")
		}
		b.Logf("ibkit against perftest, medians of %d\n%s", rounds, &table)
	}
}

// ours measures a cell with ibkit.
func (c cell) ours(b *testing.B, g *guest.Guest) float64 {
	out := g.Must(b, "ibkit", "perf", "10.0.0.1", "--json", "--test", c.op+"-"+c.kind, "-s", strconv.Itoa(c.size), "-n", strconv.Itoa(c.iterations))
	var document struct {
		Results []struct {
			Latency *struct {
				Median float64 `json:"median_ns"`
			}
			Bandwidth *struct {
				Rate float64 `json:"bytes_per_second"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil || len(document.Results) != 1 {
		b.Fatalf("%v\n%s", err, out)
	}
	r := document.Results[0]
	if c.kind == "lat" {
		return r.Latency.Median / 1e3
	}
	return r.Bandwidth.Rate / (1 << 20)
}

// A row of perftest's: size, iterations and figures.
var perftestRow = regexp.MustCompile(`(?m)^ (\d+) +(\d+) +([\d.]+) +([\d.]+) *\t? *([\d.]+)`)

// theirs measures a cell with perftest, again where it has no figures.
func (c cell) theirs(b *testing.B, g *guest.Guest, mhz float64) float64 {
	line := fmt.Sprintf("ib_%s_%s -F -d rxe0 -x 1 -s %d -n %d", c.op, c.kind, c.size, c.iterations)
	if c.kind == "lat" {
		line += " -C" // in cycles
	}
	// 0x4853 is its port; it must not be connected to before the client is.
	script := line + ` >/root/server 2>&1 & until grep -q ':4853 00000000:0000 0A' /proc/net/tcp; do usleep 10000; done; ` + line + ` 10.0.0.1; wait`
	for range 20 {
		r := g.MustRun(b, "sh", "-c", script)
		m := perftestRow.FindStringSubmatch(r.Stdout)
		if m == nil {
			continue
		}
		if c.kind == "lat" { // the typical time is the median
			if v, err := strconv.ParseFloat(m[5], 64); err == nil && v > 0 {
				return v / mhz
			}
			continue
		}
		// Where the emulated clock is too uneven for it, it says so.
		if v, err := strconv.ParseFloat(m[4], 64); err == nil && v > 0 && !strings.Contains(r.Stdout+r.Stderr, "Correlation") {
			return v
		}
	}
	b.Fatalf("%s has no figures", line)
	return 0
}
