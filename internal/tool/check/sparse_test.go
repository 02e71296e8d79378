package check

import (
	"os"
	"strings"
	"testing"
)

// A file with links only: data that it lacks is not judged, and a verdict omits it.
func TestFabric_SparseFile(t *testing.T) {
	data, err := os.ReadFile("../../../test/topologies/parallel-slow.topo")
	if err != nil {
		t.Fatal(err)
	}
	equal := strings.ReplaceAll(string(data), "4xDDR", "4xEDR")
	for name, test := range map[string]struct {
		text, stage       string
		status            Status
		judged, isPartial bool
		findings          int
	}{
		"a slower parallel link": {string(data), "speed", Warned, true, false, 1},
		"equal parallel links":   {equal, "speed", Skipped, false, true, 0},
		"no states":              {string(data), "links", Skipped, false, true, 0},
		"no counters":            {string(data), "counters", Skipped, false, true, 0},
		"no tables":              {string(data), "routing", Skipped, false, true, 0},
		"no rails":               {string(data), "rails", Skipped, true, true, 0},
		"LIDs":                   {string(data), "lids", Passed, true, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkStored(t, test.text, test.stage)
			s := stage(t, r, test.stage)
			if s.Status != test.status || s.NotJudged == test.judged || r.Partial != test.isPartial || len(r.Findings) != test.findings {
				t.Errorf("got stage %+v, partial %v, findings %v", s, r.Partial, r.Findings)
			}
		})
	}
}
