package check

import (
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// roceKinds are the kinds of settings that do not fit.
var roceKinds = []report.Kind{
	report.RoCEClass, report.RoCEPriority, report.RoCETrust, report.RoCEVersion, report.RoCEECN, report.RoCEBuffer, report.RoCEQueue,
	report.RoCEPeer, report.RoCEBond,
}

// checkRoCE checks the settings that keep RoCE packets from being dropped.
func checkRoCE(r *nodeRun) error {
	n := 0
	for d, p := range r.ports() {
		if roce.IsRoCE(d, p) && p.Active() {
			n++
		}
	}
	switch {
	case n == 0:
		r.skipped("no active RoCE port")
	case r.opts.Root != "/" && r.opts.Bridging == nil:
		r.skipped("requires the running kernel of the host")
	default:
		r.addItems("lossless", report.Lossless, nil)
		r.comment("%s", count(n, "RoCE port"))
	}
	return nil
}
