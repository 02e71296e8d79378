package watch

import (
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
)

// TestDiffer compares sweeps of a simulated fabric.
func TestDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := sim.Build("single-switch:hosts=3")
		if err != nil {
			t.Fatal(err)
		}
		o := counters.Options{
			Source: fabric.Source{OpenPort: f.Opener("host001")}, Data: true,
			Limits: counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: counters.DefaultWait},
		}
		var d Differ
		last := uint64(0)
		for _, step := range []struct {
			command string
			want    []report.EventKind
		}{
			{"describe host002 host002", nil},
			{"describe host002 other", []report.EventKind{report.NodeChanged}},
			{"rate switch1[2] SymbolErrorCounter 10", []report.EventKind{report.CounterRaised}},
			{"rate switch1[2] SymbolErrorCounter 0", []report.EventKind{report.CounterSettled}},
			{"unlink host003[1]", []report.EventKind{report.LinkDown, report.NodeRemoved}},
			{"unlink host001[1]", nil}, // blind
			{"link host001[1]", nil},
			{"link host003[1]", []report.EventKind{report.LinkUp, report.NodeAdded}},
		} {
			c, err := f.ParseCommand("test", 1, step.command)
			if err == nil {
				err = f.Do(c, io.Discard)
			}
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			r, err := counters.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			o.Before = r
			var got []report.EventKind
			for _, e := range d.Compare(r, nil) {
				if e.Data.Source == Links || step.command[0] == 'r' {
					got = append(got, e.Kind)
				}
				if last++; e.Sequence != last || e.Schema != Schema {
					t.Errorf("got event %d of %s, want %d", e.Sequence, e.Schema, last)
				}
			}
			if !slices.Equal(got, step.want) {
				t.Errorf("%s: got %v, want %v", step.command, got, step.want)
			}
		}
	})
}
