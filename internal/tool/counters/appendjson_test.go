package counters_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
)

// TestAppendNodeJSON compares the form with encoding/json's.
func TestAppendNodeJSON(t *testing.T) {
	chosen := []counters.Counter{counters.XmitWait, counters.SymbolErrors, counters.FECCorrectable, counters.XmitWait}
	for name, change := range map[string]func(*counters.Options, *counters.ReportOptions){
		"data":    func(*counters.Options, *counters.ReportOptions) {},
		"window":  func(o *counters.Options, _ *counters.ReportOptions) { o.Window = time.Minute },
		"details": func(o *counters.Options, _ *counters.ReportOptions) { o.Details, o.Lanes = true, true },
		"chosen": func(o *counters.Options, p *counters.ReportOptions) {
			o.Window, p.Counters = time.Minute, chosen
		},
		"default": func(o *counters.Options, _ *counters.ReportOptions) { o.Data = false },
	} {
		for _, description := range []string{"faults", "mixed", "single-switch:hosts=2"} {
			t.Run(name+" "+description, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := build(t, description)
					f.Nodes[1].Desc = mad.NewNodeDescription("<h\u00f6st> \"1\"\\\x1b\u2028")
					o, report := options(f), counters.ReportOptions{}
					o.Source.Client.Timeout, o.Data = 100*time.Millisecond, true
					change(&o, &report)
					r, err := counters.Run(t.Context(), o)
					if err != nil {
						t.Fatal(err)
					}
					for _, n := range r.Nodes {
						want, err := json.Marshal(r.ReportNode(n, n.Ports, report))
						if err != nil {
							t.Fatal(err)
						}
						if got := string(r.AppendNodeJSON([]byte("x"), n, n.Ports, report)); got != "x"+string(want) {
							t.Errorf("node %v differs from encoding/json (-want +got):\n%s", n.GUID, cmp.Diff(string(want), got[1:]))
						}
					}
				})
			})
		}
	}
}
