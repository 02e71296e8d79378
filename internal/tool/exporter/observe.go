package exporter

import (
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/report"
)

// A FabricSweep is a fabric sweep for [Options.Observe]. It does not change.
type FabricSweep struct {
	Result  *counters.Result
	Names   *fabric.NameMap
	Took    time.Duration
	Missing []MissingNode // by the time since when
	PHY     *phy.Result   // registers of modules and devices, nil: not read

	// Probes are the findings about standing probes, without hosts that have none.
	Probes []report.Finding
}

// A MissingNode is a node that an earlier sweep found within a day, and the last sweep did
// not.
type MissingNode struct {
	GUID  ib.GUID          `json:"node_guid"`
	Name  string           `json:"name"`
	Peer  *report.NodePort `json:"peer"` // at which the path to it ends; nil: unknown
	Since time.Time        `json:"since"`
}

// observe passes a fabric sweep on.
func (e *Exporter) observe(s sweep) {
	f, ok := s.(*fabricSweep)
	if !ok || e.opts.Observe == nil {
		return
	}
	o := FabricSweep{Result: f.result, Names: f.names, Took: f.took, PHY: f.registers, Missing: []MissingNode{}}
	for _, m := range f.summary.missing {
		o.Missing = append(o.Missing, MissingNode{m.guid, m.name, m.end, m.since})
	}
	if v := f.verdict; v != nil && v.result != nil {
		o.Probes = slices.DeleteFunc(slices.Clone(v.result.Findings), func(f report.Finding) bool { return f.Kind == report.MissingHost })
	}
	e.opts.Observe(&o)
}
