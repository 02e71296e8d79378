//go:build guest

package perf_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// A cell is a test with a single message size.
type cell struct {
	op, kind   string
	size       int
	iterations int
}

// cells returns the cells of the table in docs/benchmarks.md.
func cells() []cell {
	var all []cell
	for _, op := range []string{"send", "write", "read"} {
		for _, kind := range []string{"lat", "bw"} {
			for _, size := range []int{2, 64, 1 << 10, 4 << 10, 64 << 10, 1 << 20} {
				// The number that takes a fifth of a second in a guest.
				each := 25*time.Microsecond + time.Duration(size)*17*time.Nanosecond
				if kind == "lat" {
					each *= 2
				}
				n := int(200*time.Millisecond/each) / list * list
				all = append(all, cell{op, kind, size, max(list, n)})
			}
		}
	}
	return all
}

// rounds is the number of measurements for each cell, in turn. A shared host runs a guest
// at full speed for some tenths of a second and at two thirds speed for the next: many
// short rounds average this for both.
const rounds = 11

// list is the number of messages that are posted at a time if it is more than one.
const list = 16

// A figure is the result of a run, and the processor time that the programs at both ends used.
type figure struct {
	value     float64 // µs or MiB/s
	processor time.Duration
}

// BenchmarkPerftest measures the same with ibkit perf and with Debian's perftest in turn,
// in the kernel of each release and with its perftest, and prints a table of medians: median
// times for latency, averages for bandwidth. The ratio between the best results depends
// least on other load.
func BenchmarkPerftest(b *testing.B) {
	for _, r := range []*debian.Release{debian.Bookworm, debian.Sid} {
		b.Run(r.Name, func(b *testing.B) { benchPerftest(b, r) })
	}
}

func benchPerftest(b *testing.B, r *debian.Release) {
	g := guest.New(b, guest.Spec{
		Release:  r,
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    []string{"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw"},
		Programs: []guest.Program{guest.Ibkit},
		Timeout:  time.Hour,
	})
	mhz := processorMHz(b, g)
	table := "| test | bytes | ibkit | perftest | ratio | ratio of the best | 16 at a time | ratio | processor time |\n" +
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
	for _, c := range cells() {
		b.Run(fmt.Sprintf("%s_%s/%d", c.op, c.kind, c.size), func(b *testing.B) {
			for b.Loop() {
				row := c.row(c.measure(b, g, mhz))
				fmt.Fprintln(os.Stderr, row) // all take a while
				table += row + "\n"
			}
		})
	}
	b.Logf("ibkit against the perftest of Debian %s in Linux %s, medians of %d\n%s", r.Name, g.Release, rounds, table)
}

// measure returns the figures of ibkit and of perftest, and of both with 16 messages at a
// time where perftest can do this.
func (c cell) measure(b *testing.B, g *guest.Guest, mhz float64) (figures [4][]figure) {
	for range rounds {
		figures[0] = append(figures[0], c.ours(b, g, false))
		figures[1] = append(figures[1], c.theirs(b, g, mhz, false))
		if c.best() {
			figures[2] = append(figures[2], c.ours(b, g, true))
			figures[3] = append(figures[3], c.theirs(b, g, mhz, true))
		}
	}
	return figures
}

// processorMHz returns the processor frequency, which perftest needs. The benchmark needs
// it too: perftest prints cycles even if its own frequency measurement fails.
func processorMHz(b *testing.B, g *guest.Guest) float64 {
	mhz, err := strconv.ParseFloat(strings.TrimSpace(g.Must(b, "sh", "-c", "sed -n 's/^cpu MHz.*: //p' /proc/cpuinfo | head -1")), 64)
	if err != nil {
		b.Fatalf("read the frequency of the guest's processor: %v", err)
	}
	return mhz
}

// serveScript starts an ibkit perf server. The output from an earlier server must
// not end the wait.
const serveScript = `rm -f /root/server; ibkit perf --serve >/root/server 2>&1 & until grep -q serving /root/server; do kill -0 $! && usleep 10000 || exit; done; `

// pairScript returns a script that runs a perftest command line as server and as client.
// 0x4853 is the server's port. The client must be the first to connect to it.
func pairScript(line string) string {
	return line + ` >/root/server 2>&1 & until grep -qi ':4853 0*:0000 0A' /proc/net/tcp /proc/net/tcp6; do kill -0 $! && usleep 10000 || exit; done; ` + line +
		` 10.0.0.1; wait`
}

// row returns a cell's row.
func (c cell) row(figures [4][]figure) string {
	unit, best := "MiB/s", rounds-1
	if c.kind == "lat" {
		unit, best = "µs", 0 // the least time
	}
	var processor [4]time.Duration
	for i, all := range figures {
		slices.SortFunc(all, func(a, b figure) int { return cmp.Compare(a.value, b.value) })
		for _, f := range all {
			processor[i] += f.processor
		}
	}
	median := func(i int) float64 { return figures[i][rounds/2].value }
	text := fmt.Sprintf("| %s %s | %d | %.2f %s | %.2f %s | %.2f | %.2f |",
		c.op, c.kind, c.size, median(0), unit, median(1), unit, median(0)/median(1), figures[0][best].value/figures[1][best].value)
	if c.best() {
		text += fmt.Sprintf(" %.2f, %.2f %s | %.2f |", median(2), median(3), unit, median(2)/median(3))
	} else {
		text += " | |"
	}
	return text + fmt.Sprintf(" %.2f |", float64(processor[0])/float64(processor[1]))
}

// best reports whether perftest has options that make this test faster: several work
// requests at a time. It does not use inline data on an unknown device.
func (c cell) best() bool { return c.op != "read" && c.kind == "bw" }

// ours measures a cell with ibkit.
func (c cell) ours(b *testing.B, g *guest.Guest, best bool) figure {
	line := fmt.Sprintf("ibkit perf 10.0.0.1 --json --test %s-%s -s %d -n %d", c.op, c.kind, c.size, c.iterations)
	if best {
		line += fmt.Sprintf(" --post-list %d", list)
	}
	out := g.Must(b, "sh", "-c", serveScript+line+`; kill $!; wait; times`)
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
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&document); err != nil || len(document.Results) != 1 {
		b.Fatalf("%v\n%s", err, out)
	}
	f := figure{processor: processor(b, out)}
	if r := document.Results[0]; c.kind == "lat" {
		f.value = r.Latency.Median / 1e3
	} else {
		f.value = r.Bandwidth.Rate / (1 << 20)
	}
	return f
}

// The second line in the shell's times: processor time that its children used.
var childTimes = regexp.MustCompile(`(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$`)

// processor returns the processor time at both ends, from the end of a script's output.
func processor(b *testing.B, out string) time.Duration {
	m := childTimes.FindStringSubmatch(out)
	if m == nil {
		b.Fatalf("no processor times in\n%s", out)
	}
	var sum float64
	for i, weight := range []float64{60, 1, 60, 1} {
		v, err := strconv.ParseFloat(m[i+1], 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += v * weight
	}
	return time.Duration(sum * float64(time.Second))
}

// A perftest row: size, iterations and figures.
var perftestRow = regexp.MustCompile(`(?m)^ (\d+)[ \t]+(\d+)[ \t]+([\d.]+)[ \t]+([\d.]+)[ \t]+([\d.]+)`)

// theirs measures a cell with perftest, and repeats a run without figures.
func (c cell) theirs(b *testing.B, g *guest.Guest, mhz float64, best bool) figure {
	line := fmt.Sprintf("ib_%s_%s -F -d rxe0 -x 1 -s %d -n %d", c.op, c.kind, c.size, c.iterations)
	if best {
		line += fmt.Sprintf(" -l %d", list)
	}
	if c.kind == "lat" {
		line += " -C" // in cycles
	}
	script := pairScript(line) + "; times"
	for range 20 {
		r := g.MustRun(b, "sh", "-c", script)
		m := perftestRow.FindStringSubmatch(r.Stdout)
		if m == nil {
			continue
		}
		f := figure{processor: processor(b, r.Stdout)}
		if c.kind == "lat" { // the typical time is the median
			if v, err := strconv.ParseFloat(m[5], 64); err == nil && v > 0 {
				f.value = v / mhz
				return f
			}
			continue
		}
		// It reports it if the emulated clock is too irregular.
		if v, err := strconv.ParseFloat(m[5], 64); err == nil && v > 0 && !strings.Contains(r.Stdout+r.Stderr, "Correlation") {
			f.value = v * 1e6 * float64(c.size) / (1 << 20)
			return f
		}
	}
	b.Fatalf("%s has no figures", line)
	return figure{}
}
