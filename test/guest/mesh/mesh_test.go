//go:build guest

package mesh_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// The rates are low, so that the emulated processors do not limit the traffic.
const (
	rate = 8e6
	slow = 0.4  // of a slow cable
	loss = 0.02 // of a lossy cable
)

// A verdict is the part of the JSON of mesh serve that tests read.
type verdict struct {
	Partial  bool
	Flows    int
	Findings []struct {
		Kind, Subject, Detail string
		Data                  *struct {
			Retests []struct {
				Share *float64
				Signs []string
			}
		}
	}
}

// TestMesh measures between guests at a switch: all cables are equal, one is slow, one loses
// frames.
func TestMesh(t *testing.T) {
	t.Parallel()
	const guests = 4
	cables := slices.Repeat([]guest.Cable{{Rate: rate}}, guests)
	s := guest.NewSwitch(cables...)
	specs := slices.Repeat([]guest.Spec{{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Programs: []guest.Program{guest.Ibkit},
	}}, guests)
	all := guest.NewSwitched(t, s, specs...)
	for _, test := range []struct {
		name  string
		bad   int // guest from 1; 0: none
		cable guest.Cable
		sign  string
	}{
		{"healthy", 0, guest.Cable{}, ""},
		{"slow", 3, guest.Cable{Rate: slow * rate}, ""},
		{"lossy", 4, guest.Cable{Rate: rate, Loss: loss}, "requests out of sequence"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.bad > 0 {
				s.SetCable(test.bad-1, test.cable)
				defer s.SetCable(test.bad-1, guest.Cable{Rate: rate})
			}
			r := measure(t, all)
			for n := 0; n < 3 && stalled(t, all[0]); n++ {
				t.Log("a flow was faster than its cables: the clock of a guest stood still")
				r = measure(t, all)
			}
			var v verdict
			if err := json.Unmarshal([]byte(r.Stdout), &v); err != nil {
				t.Fatalf("got exit code %d, %v:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
			}
			t.Logf("%v: %s\n%s", r.Elapsed, r.Stderr, r.Stdout)
			if v.Flows != guests*(guests-1) || v.Partial && test.bad != 4 {
				t.Errorf("got %d flows, partial %v; want %d", v.Flows, v.Partial, guests*(guests-1))
			}
			v.check(t, test.bad, test.sign)
		})
	}
}

// check checks that a finding names a guest, and that none names another. A busy machine may
// slow a pair, or a guest for a while, which is good alone then.
func (v verdict) check(t *testing.T, bad int, sign string) {
	t.Helper()
	want, found := fmt.Sprintf("n%d", bad), false
	for _, f := range v.Findings {
		if f.Subject != want && f.Kind != "congested" && !strings.Contains(f.Subject, " to ") {
			t.Errorf("got %s %s: %s; want findings about %s only", f.Kind, f.Subject, f.Detail, want)
		}
		if f.Subject != want || !slices.Contains([]string{"slow-node", "unreachable", "hung"}, f.Kind) {
			continue
		}
		found = true
		if f.Data == nil || len(f.Data.Retests) != 2 {
			t.Errorf("got %+v, want two retests of %s", f.Data, f.Subject)
		}
		if !strings.Contains(f.Detail, sign) {
			t.Errorf("got %s, want %q", f.Detail, sign)
		}
	}
	if bad > 0 && !found {
		t.Errorf("got no finding that names %s", want)
	}
}

// results is the file of measured flows in the first guest.
const results = "/tmp/results.csv"

// stalled reports whether a flow was faster than its cables: on a busy machine, the clock of a
// guest stands still while its messages arrive.
func stalled(t *testing.T, g *guest.Guest) bool {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(g.Must(t, "cat", results))).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("read results: got %d rows, %v", len(rows), err)
	}
	column := slices.Index(rows[0], "bandwidth_gbps")
	return slices.ContainsFunc(rows[1:], func(row []string) bool {
		gbps, err := strconv.ParseFloat(row[column], 64)
		return err == nil && gbps*1e9 > rate
	})
}

// measure runs a cluster test of guests. The first coordinates.
func measure(t *testing.T, all []*guest.Guest) guest.Result {
	t.Helper()
	const token = "IBKIT_MESH_TOKEN=secret "
	serve := all[0].MustStart(t, "sh", "-c", fmt.Sprintf(token+"exec ibkit mesh serve --expect %d --bind 10.1.0.1:18600 --schedule shift --json"+
		" --metric bandwidth --message-size 1K --duration 1s --qp-timeout 18 --events --results %s", len(all), results))
	if err := serve.AwaitOutput(t.Context(), "waiting for"); err != nil {
		t.Fatal(err)
	}
	for i, g := range all {
		g.MustStart(t, "sh", "-c", fmt.Sprintf(token+"exec ibkit mesh run --join 10.1.0.1:18600 --name n%d", i+1))
	}
	r, err := serve.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}
