package check

import (
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// roceKinds are the kinds of settings that do not fit.
var roceKinds = []report.Kind{
	report.RoCEClass, report.RoCEPriority, report.RoCETrust, report.RoCEVersion, report.RoCEECN, report.RoCEBuffer, report.RoCEQueue,
	report.RoCEPeer, report.RoCEBond, report.RoCEDCBX,
}

// trafficKinds are the kinds of traffic that is slow.
var trafficKinds = []report.Kind{
	report.RoCELoss, report.RoCEOutOfOrder, report.RoCEBlackHole, report.RoCENotReady, report.RoCEPauseStorm, report.RoCEIdlePauses,
	report.RoCEPauses, report.RoCENotices, report.RoCENoRoute, report.RoCERejected, report.FailedRequests, report.AdapterErrors,
	report.SRDUnresponsive, report.SRDImpaired, report.SRDTimeouts, report.SRDDrops,
}

// checkTraffic checks the counters of RoCE and EFA ports within the window.
func checkTraffic(r *nodeRun) error {
	if r.opts.Window <= 0 {
		r.skipped("requires a window")
		return nil
	}
	r.addItems("traffic", report.RoCELoss, nil)
	n := r.activePorts(roce.Judged)
	r.skippedIf(n == 0, "no active RoCE or EFA port")
	if n > 0 {
		r.comment("%s, within %v", count(n, "port"), r.opts.Window)
	}
	return nil
}

// activePorts returns the count of active ports that match.
func (r *nodeRun) activePorts(match func(*devinfo.Device, *devinfo.Port) bool) int {
	n := 0
	for d, p := range r.ports() {
		if match(d, p) && p.Active() {
			n++
		}
	}
	return n
}

// checkRoCE checks the settings that keep RoCE packets from being dropped.
func checkRoCE(r *nodeRun) error {
	n := r.activePorts(roce.IsRoCE)
	switch {
	case n == 0:
		r.skipped("no active RoCE port")
	case r.opts.Root != "/" && r.opts.RoCE.Bridging == nil:
		r.skipped("requires the running kernel of the host")
	default:
		r.addItems("lossless", report.Lossless, nil)
		r.comment("%s", count(n, "RoCE port"))
	}
	return nil
}
