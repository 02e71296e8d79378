package perf

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/perf"
	"github.com/ibkit/ibkit/perf/stats"
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
