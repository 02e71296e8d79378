package perf

import (
	"bytes"
	"errors"
	"image/png"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/chart"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
)

// portInfo returns the port of one side of testResult.
func portInfo(device, gid, why string) host.PortInfo {
	return host.PortInfo{
		Device: device, Driver: "rxe", Port: 1, Link: "Ethernet", GID: netip.MustParseAddr(gid), GIDType: "RoCE v2", GIDIndex: 1,
		Why: why, MTU: 1024,
	}
}

// testResult returns measurements of two hosts: latency with two sizes and bidirectional
// bandwidth with five, the last of which ended early.
func testResult() *perf.Result {
	r := &perf.Result{
		Client: host.Identity{Program: "ibkit 1", Host: "a", Kernel: "6.1", BootID: "1", CPUs: 2},
		Server: host.Identity{Program: "ibkit 1", Host: "b", Kernel: "6.1", BootID: "2", CPUs: 2}, ClockSource: "TSC", ClockCost: 20.5,
	}
	one := perf.Measurement{
		Client: portInfo("rxe0", "::ffff:10.0.0.1", "address of the control connection"), Server: portInfo("rxe1", "::ffff:10.0.0.2", ""), MTU: 1024,
	}
	for i, size := range []int{2, 4096} {
		m := one
		m.Test = perf.NewTest(perf.Send, perf.Latency, perf.RC, size)
		m.Latency = stats.NewSamples()
		for n := range 1000 {
			m.Latency.Add(int64(10000*(i+1) + 17*n + n*n/50))
		}
		m.ClientSide = perf.Side{Elapsed: time.Second, User: 900 * time.Millisecond, System: 80 * time.Millisecond, CPUs: []int{1}, Sent: []uint64{1000}}
		m.ServerSide = m.ClientSide
		m.ServerSide.Counters = host.Counters{"rcvd_rnr_err": 3, "sent_pkts": 1000}
		r.Measurements = append(r.Measurements, m)
	}
	for i, size := range []int{64, 1024, 4096, 65536, 1 << 20} {
		m := one
		m.Test = perf.NewTest(perf.Write, perf.Bandwidth, perf.RC, size)
		m.Test.Bidirectional = true
		rate := 1e8 * float64(i+1)
		m.Sent = &perf.Throughput{Messages: 1000, Bytes: uint64(1000 * size), Elapsed: time.Duration(float64(1000*size) / rate * 1e9), Peak: 1.2 * rate, Minimum: 0.7 * rate}
		m.Reverse = m.Sent
		for n := range 20 {
			part := m.Sent.Elapsed / 20
			m.Windows = append(m.Windows, perf.ThroughputPart{Begin: time.Duration(n) * part, Length: part, Rate: rate * (0.7 + 0.02*float64(n))})
		}
		m.ClientSide = perf.Side{Elapsed: time.Second, User: 100 * time.Millisecond, System: 880 * time.Millisecond, CPUs: []int{1}, Sent: []uint64{1000}}
		m.ServerSide = m.ClientSide
		r.Measurements = append(r.Measurements, m)
	}
	last := &r.Measurements[len(r.Measurements)-1]
	last.Partial, last.Err = true, errors.New("port 1 of rxe0 went down")
	return r
}

// TestPlot checks that each form shows latency by percentile and by size, and bandwidth
// by size and over time.
func TestPlot(t *testing.T) {
	r := testResult()
	const charts = 4
	for _, form := range []string{".svg", ".html", ".png"} {
		name := filepath.Join(t.TempDir(), "plot"+form)
		// The former content is longer than the new one.
		if err := os.WriteFile(name, bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := openPlot(name)
		if err != nil {
			t.Fatal(err)
		}
		v := view{unit: "gbit"}
		if err := p.write(v.charts(r)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if form == ".png" {
			image, err := png.Decode(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			size := image.Bounds().Size()
			if size.X != 2*860 || size.Y != charts*2*420 {
				t.Errorf("got size %v, want 1720 × %d", size, charts*840)
			}
			for chart := range charts { // each has coloured lines
				coloured := 0
				for y := chart * size.Y / charts; y < (chart+1)*size.Y/charts; y++ {
					for x := range size.X {
						if r, g, b, _ := image.At(x, y).RGBA(); r != g || g != b {
							coloured++
						}
					}
				}
				if coloured < 1000 {
					t.Errorf("chart %d: got %d coloured dots, want at least 1000", chart, coloured)
				}
			}
			continue
		}
		for _, want := range []string{"Latency", "99.9 %", "Latency by size", "send rc P99", "Bandwidth by size", "Gb/s", "write rc, both directions", "64K", "Bandwidth over time", "write rc 1048576 B (partial)"} {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s: got no %q", form, want)
			}
		}
		if strings.Contains(string(b), "NaN") || !strings.HasPrefix(string(b), "<") || !strings.HasSuffix(string(b), ">\n") {
			t.Errorf("%s: got invalid document:\n%s", form, b)
		}
	}
}

// TestPlot_file checks that an invalid path is an error before the measurement, and that
// no file is left without measurements.
func TestPlot_file(t *testing.T) {
	dir := t.TempDir()
	code, _, stderr := program.Run(t, nil, "perf", "127.0.0.1:1", "--plot", filepath.Join(dir, "none", "plot.png"))
	if code != cmdutil.ExitFailed || !strings.Contains(stderr, "no such file or directory") || strings.Contains(stderr, "refused") {
		t.Errorf("no directory: exit code %d: %s", code, stderr)
	}
	name := filepath.Join(dir, "plot.png")
	if code, _, stderr := program.Run(t, nil, "perf", "127.0.0.1:1", "--plot", name); code != cmdutil.ExitFailed || !strings.Contains(stderr, "refused") {
		t.Errorf("no server: exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("a file was left")
	}
	if code, _, stderr := program.Run(t, nil, "perf", "127.0.0.1:1", "--plot", "plot.pdf"); code != cmdutil.ExitUsage || !strings.Contains(stderr, ".png") {
		t.Errorf("form: exit code %d: %s", code, stderr)
	}
}

// TestCharts checks degenerate measurements: a single sample, no throughput, and more
// sizes than colours.
func TestCharts(t *testing.T) {
	latency := func(size, samples int) perf.Measurement {
		m := perf.Measurement{Test: perf.NewTest(perf.Send, perf.Latency, perf.RC, size), Latency: stats.NewSamples()}
		for range samples {
			m.Latency.Add(20000)
		}
		return m
	}
	empty := perf.Measurement{
		Test: perf.NewTest(perf.Write, perf.Bandwidth, perf.RC, 64), Sent: &perf.Throughput{Messages: 1, Elapsed: time.Second},
		Windows: []perf.ThroughputPart{{Length: time.Second}, {Begin: time.Second, Length: time.Second}},
	}
	var sweep []perf.Measurement
	for size := 2; size <= 8<<20; size *= 2 {
		sweep = append(sweep, latency(size, 100))
	}
	for _, c := range []struct {
		name   string
		all    []perf.Measurement
		titles []string
	}{
		{"one sample", []perf.Measurement{latency(2, 1)}, []string{"Latency"}},
		{"empty windows", []perf.Measurement{empty}, []string{"Bandwidth by size", "Bandwidth over time"}},
		{"sweep", sweep, []string{"Latency by size"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view{unit: "gbit"}
			all := v.charts(&perf.Result{Measurements: c.all})
			var titles []string
			for _, one := range all {
				titles = append(titles, one.Title)
				if len(one.Series) > chart.MaxSeries {
					t.Errorf("%s: got %d lines, want at most %d", one.Title, len(one.Series), chart.MaxSeries)
				}
			}
			if d := cmp.Diff(c.titles, titles); d != "" {
				t.Error(d)
			}
			text := chart.SVG(all)
			if found := regexp.MustCompile(`>-[0-9.]+( %)?<`).FindString(text); found != "" {
				t.Errorf("got negative label %q, want none", found)
			}
		})
	}
}
