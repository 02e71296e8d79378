package standing

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/ping"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A window has the median and the losses of each peer, the totals continue. Paths to the same
// port are a flow.
func TestRecorder(t *testing.T) {
	r := New(Options{Source: "a", Window: time.Minute, Rate: 3, Start: start, Peers: []mesh.ProbedPort{
		{Name: "b", Class: mesh.SameLeaf}, {Name: "c", Class: mesh.OtherLeaf}, {Name: "c", Class: mesh.OtherLeaf},
	}})
	for i, outcome := range []ping.Outcome{ping.Received, ping.Lost, ping.Received, ping.Late, ping.Received, ping.Unreachable} {
		if d := r.Add(i%3, outcome, time.Duration(i+1)*10*time.Microsecond, start.Add(time.Duration(i)*time.Second)); d != nil {
			t.Fatalf("got a document within the window: %+v", d)
		}
	}
	d := r.Add(0, ping.Received, 7*time.Microsecond, start.Add(time.Minute))
	if d == nil || len(d.Flows) != 2 || d.Seconds != 60 || !d.Began.Equal(start) {
		t.Fatalf("got %+v, want a window with two flows", d)
	}
	for i, want := range []struct {
		name       string
		sent, lost int
		micros     float32
	}{{"b", 1, 0, 10}, {"c", 4, 2, 50}} {
		if f := d.Flows[i]; f.Source != "a" || f.Destination != want.name || *f.Sent != want.sent || *f.Lost != want.lost || *f.Micros != want.micros {
			t.Errorf("got %+v, want %+v", f, want)
		}
	}
	if c := d.Classes[1]; c.Sent != 4 || c.Lost != 2 || c.Received != 2 || c.Peers != 2 || c.Buckets[3] != 2 || c.Buckets[2] != 0 {
		t.Errorf("got %+v, want two replies up to 50 µs of four", c)
	}
	// The next windows without probes are skipped: the host was suspended.
	d = r.Add(0, ping.Received, time.Second, start.Add(time.Hour))
	if len(d.Flows) != 1 || *d.Flows[0].Sent != 1 || d.Classes[0].Received != 2 {
		t.Errorf("got %+v, want the window after the first, with totals", d)
	}
	if d = r.Add(0, ping.Received, time.Second, start.Add(time.Hour+time.Minute)); d == nil || !d.Began.Equal(start.Add(time.Hour)) || d.Classes[0].Received != 3 {
		t.Errorf("got %+v, want the window of the last probe", d)
	}
}

// mesh analyze reads the documents of several hosts, one per line.
func TestDocument_Parse(t *testing.T) {
	var text bytes.Buffer
	var all []*Document
	for _, source := range []string{"a", "b"} {
		r := New(Options{Source: source, Window: time.Minute, Start: start, Peers: []mesh.ProbedPort{{Name: "c"}}})
		r.Add(0, ping.Received, time.Microsecond, start)
		r.Add(0, ping.Lost, 0, start)
		all = append(all, r.Add(0, ping.Lost, 0, start.Add(time.Minute)))
		if err := json.NewEncoder(&text).Encode(all[len(all)-1]); err != nil {
			t.Fatal(err)
		}
	}
	results, err := mesh.Parse(&text, "pings")
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Flows) != 2 || !results.Mutual || results.Damaged > 0 || results.Flows[1].Micros != 1 {
		t.Errorf("got %+v, want two flows with round trips", results)
	}
	for i, f := range Results(all).All() {
		if got, want := results.ReportFlow(i, results.Flows[i]), Results(all).ReportFlow(i, f); *got.Micros != *want.Micros || *got.Lost != *want.Lost || got.Source != want.Source {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}
