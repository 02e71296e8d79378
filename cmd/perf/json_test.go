package perf

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// TestJSON checks that documents match the schema, and that they contain failures, missed
// limits and tests that were not started.
func TestJSON(t *testing.T) {
	r := testResult()
	last := &r.Measurements[len(r.Measurements)-1]
	last.Err = errors.New("connection closed")
	r.NotBegun = []perf.Test{perf.NewTest(perf.Read, perf.Latency, perf.RC, 2)}
	failed := perf.Measurement{Test: perf.NewTest(perf.Read, perf.Bandwidth, perf.RC, 64), Partial: true, Err: errors.New("no")}
	r.Measurements = append(r.Measurements, failed)
	refused := &perf.Result{ClockSource: "TSC", NotBegun: r.NotBegun}
	for name, result := range map[string]*perf.Result{"all": r, "no connection": refused, "failed": {ClockSource: "TSC", Measurements: []perf.Measurement{failed}}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			v := &view{env: &cmdutil.Env{Out: &out, ErrOut: &bytes.Buffer{}}, unit: "gbit", minBW: 2, maxP99: 10 * time.Microsecond}
			if err := v.document(result, errors.New("no")); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			cmdtest.CheckDocument(t, "../../schema/perf.json", text, new(perf.Report))
			if name != "all" {
				return
			}
			// A Go program reads the document with the exported types.
			var got perf.Report
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, m := range got.Results {
				line := strings.Join(m.Missed, " ")
				if m.Error != nil {
					line += ": " + *m.Error
				}
				lines = append(lines, line)
			}
			// One-way latencies start at 10 µs, bandwidths at 0.8 Gb/s.
			want := []string{"max-p99", "max-p99", "min-bw", "min-bw", "", "", ": connection closed", ": no"}
			if d := cmp.Diff(want, lines); d != "" || len(got.NotBegun) != 1 || got.NotBegun[0].Op != "read" || len(got.Failures) == 0 || got.Failures[len(got.Failures)-1].Error != "no" {
				t.Errorf("got not begun %v, failures %v and difference\n%s", got.NotBegun, got.Failures, d)
			}
			again, err := json.MarshalIndent(got, "", "  ")
			if d := cmp.Diff(text, string(again)+"\n"); err != nil || d != "" {
				t.Errorf("decoded and encoded: got error %v and difference\n%s", err, d)
			}
		})
	}
}

// TestJSON_noServer checks that a document is printed when the connection fails.
func TestJSON_noServer(t *testing.T) {
	code, out, stderr := program.Run(t, nil, "perf", "127.0.0.1:1", "--json")
	var got perf.Report
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("got %v, want a document:\n%s%s", err, out, stderr)
	}
	if code != cmdutil.ExitFailed || len(got.Results) != 0 || len(got.NotBegun) != 2 || len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error, "refused") {
		t.Errorf("got exit code %d and %+v, want %d and two tests that were not started", code, got, cmdutil.ExitFailed)
	}
}
