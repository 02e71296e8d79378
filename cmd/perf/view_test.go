package perf

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
)

func TestMicro(t *testing.T) {
	for _, test := range []struct {
		ns   float64
		want string
	}{
		{0, "0.00"}, {999, "1.00"}, {999_994, "999.99"}, {999_996, "1000.0"}, {9_999_940, "9999.9"}, {9_999_960, "10000"}, {999_999_000, "999999"},
	} {
		t.Run(test.want, func(t *testing.T) {
			if got := micro(test.ns); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestView_Width checks that a table of the latency of many sizes fits into 100 columns.
func TestView_Width(t *testing.T) {
	var out bytes.Buffer
	v := &view{env: &cmdutil.Env{Out: &out, ErrOut: &out}, unit: "gbit"}
	for size := 2; size <= 8<<20; size *= 2 {
		side := perf.Side{Elapsed: time.Second, User: time.Second, Sent: []uint64{1}}
		m := &perf.Measurement{Test: perf.NewTest(perf.Send, perf.Latency, perf.RC, size), Latency: stats.NewSamples(), ClientSide: side, ServerSide: side}
		for i := range int64(1000) {
			m.Latency.Add(1000 + i*i*1990)
		}
		m.Latency.Count = 9_999_999
		v.pending = append(v.pending, m)
	}
	v.flush()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2+23 || v.err != nil {
		t.Fatalf("got %d lines, error %v, want 25:\n%s", len(lines), v.err, &out)
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("got %d columns, want at most 100: %s", n, line)
		}
	}
}

func TestPrintNotes(t *testing.T) {
	test := perf.NewTest(perf.Send, perf.Latency, perf.RC, 64)
	events, paced := test, test
	events.Events, paced.Rate = true, 1000
	side := func(used time.Duration, cpus ...int) perf.Side {
		return perf.Side{Elapsed: time.Second, User: used / 2, System: used / 2, CPUs: cpus, Sent: []uint64{1}}
	}
	busy, half := side(950*time.Millisecond, 1), side(500*time.Millisecond, 3)
	lossy := busy
	lossy.Counters = host.Counters{"packet_seq_err": 7, "np_cnp_sent": 5}
	for _, c := range []struct {
		name string
		m    perf.Measurement
		want string
	}{
		{"own processors", perf.Measurement{Test: test, ClientSide: busy, ServerSide: busy}, ""},
		{"shared processor", perf.Measurement{Test: test, ClientSide: busy, ServerSide: half}, "64 B, server: other threads used 50% of CPU 3: --cpu selects the processors of the loops\n"},
		{"two loops", perf.Measurement{Test: test, ClientSide: side(time.Second, 2, 4), ServerSide: busy}, "64 B, client: other threads used 50% of CPU 2,4: --cpu selects the processors of the loops\n"},
		{"passive server", perf.Measurement{Test: test, ClientSide: busy, ServerSide: perf.Side{Elapsed: time.Second, CPUs: []int{1}}}, ""},
		{"not bound", perf.Measurement{Test: test, ClientSide: side(time.Millisecond), ServerSide: busy}, ""},
		{"events", perf.Measurement{Test: events, ClientSide: half, ServerSide: half}, ""},
		{"rate-limit", perf.Measurement{Test: paced, ClientSide: half, ServerSide: half}, ""},
		{"RoCE loses packets", perf.Measurement{Test: test, Client: host.PortInfo{Link: "Ethernet"}, ClientSide: lossy, ServerSide: busy},
			"64 B, client: roce-loss: packets were lost in the network: packet_seq_err +7\n64 B, client: CNP sent: 5 (np_cnp_sent)\n"},
		{"InfiniBand", perf.Measurement{Test: test, Client: host.PortInfo{Link: "InfiniBand"}, ClientSide: lossy, ServerSide: busy},
			"64 B, client: CNP sent: 5 (np_cnp_sent)\n64 B, client: NAK for a gap received: 7 (packet_seq_err)\n"},
		{"lost and partial", perf.Measurement{Test: test, Lost: 2, Partial: true}, "64 B: 2 round trips were lost\n64 B: partial: the test ended early\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			o := render.NewOutput(&out)
			printNotes(o, &c.m)
			if err := o.Flush(); err != nil || out.String() != c.want {
				t.Errorf("got %q and error %v, want %q", &out, err, c.want)
			}
		})
	}
}
