package perf

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/perf"
)

// TestPerfJSON: the document is what the schema says, whatever there is, and has what
// failed, what missed its limit, and what was not done.
func TestPerfJSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../schema/perf.json")
	if err != nil {
		t.Fatal(err)
	}
	r := perfResult()
	last := &r.Measurements[len(r.Measurements)-1]
	last.Err = errors.New("the other side hung up")
	r.NotBegun = []perf.Test{perf.NewTest(perf.Read, perf.Latency, perf.RC, 2)}
	failed := perf.Measurement{Test: perf.NewTest(perf.Read, perf.Bandwidth, perf.RC, 64), Partial: true, Err: errors.New("no")}
	r.Measurements = append(r.Measurements, failed)
	for name, result := range map[string]*perf.Result{"all": r, "nothing": {ClockSource: "TSC"}, "one that failed": {ClockSource: "TSC", Measurements: []perf.Measurement{failed}}} {
		var out bytes.Buffer
		v := &view{env: &cmdutil.Env{Out: &out, ErrOut: &bytes.Buffer{}}, unit: "gbit", minBW: 2, maxP99: 10 * time.Microsecond}
		if err := v.document(result); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		if name != "all" {
			continue
		}
		var got struct {
			Results []struct {
				Missed []string
				Error  *string
			}
			NotBegun []struct{ Op string } `json:"not_begun"`
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, m := range got.Results {
			one := strings.Join(m.Missed, " ")
			if m.Error != nil {
				one += ": " + *m.Error
			}
			said = append(said, one)
		}
		// One way of 10 µs and more; 0.8 Gb/s and so much more each time.
		want := []string{"max-p99", "max-p99", "min-bw", "min-bw", "", "", ": the other side hung up", ": no"}
		if d := cmp.Diff(want, said); d != "" || len(got.NotBegun) != 1 || got.NotBegun[0].Op != "read" {
			t.Errorf("not begun: %v\n%s", got.NotBegun, d)
		}
	}
}
