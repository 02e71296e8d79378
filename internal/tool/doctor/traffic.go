package doctor

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// trafficWhy are the effects of findings about traffic.
var trafficWhy = map[report.Kind]string{
	report.RoCELoss:       "RoCE sends all packets after a lost packet again: throughput collapses",
	report.RoCEOutOfOrder: "the adapter reports a loss for each packet that another overtakes, and its peer sends again",
	report.RoCEBlackHole:  "connections to this peer fail after some seconds",
	report.RoCENotReady:   "senders wait and send again",
	report.RoCEPauseStorm: "no traffic passes meanwhile, and pauses spread to other hosts of the switch",
	report.RoCEIdlePauses: "another port, or a hung adapter, stops this one",
	report.RoCEPauses:     "senders do not slow down, and pauses spread to other hosts of the switch",
	report.RoCENotices:    "senders slow down more than the network requires, or too many send to a receiver",
	report.RoCENoRoute:    "connections to this peer fail",
	report.RoCERejected:   "peers send again, or their connections fail",
	report.FailedRequests: "each error ends a queue pair, and the job with it",
	report.AdapterErrors:  "queue pairs end with errors, or the adapter hangs",

	report.SRDUnresponsive: "sends to this peer complete with an error",
	report.SRDImpaired:     "flows to a peer are slow",
	report.SRDTimeouts:     "messages are late by the timeout",
	report.SRDDrops:        "peers send again, or datagrams are lost",
}

// checkTraffic judges the counters of RoCE and EFA ports within the window.
func checkTraffic(ctx context.Context, h *host) []Item {
	var items []Item
	if h.window <= 0 {
		return skipped("no --window")
	}
	var ports []*roce.PortSettings
	for d, p := range h.active(roce.Judged) {
		s, _ := h.queries.Port(d, p) // the check lossless reports the problems
		ports = append(ports, s)
	}
	if ports == nil {
		return h.noActivePort("RoCE or EFA port", roce.Judged)
	}
	before := make([]map[string]uint64, len(ports))
	for i, s := range ports {
		before[i], _ = h.queries.Counters(s)
	}
	began := time.Now()
	select {
	case <-ctx.Done():
		return []Item{{Verdict: Unknown, Found: ctx.Err().Error()}}
	case <-time.After(h.window):
	}
	for i, s := range ports {
		now, problems := h.queries.Counters(s)
		for _, err := range problems {
			items = append(items, unreadable(s.Name(), err))
		}
		items = append(items, trafficItems(s, roce.Increase(before[i], now), time.Since(began))...)
	}
	return items
}

// trafficItems returns the verdicts for a port.
func trafficItems(s *roce.PortSettings, increase map[string]uint64, window time.Duration) []Item {
	var items []Item
	for _, f := range roce.Verdicts(s, increase, window.Seconds()) {
		items = append(items, Item{
			Kind: f.Kind, Subject: f.Subject, Verdict: verdictOf(f.Severity), Found: f.Detail, Why: trafficWhy[f.Kind], Hint: f.Hint,
		})
	}
	if items == nil {
		items = []Item{good(s.Name(), "no loss and no harmful pause within %v", window.Round(100*time.Millisecond))}
	}
	return items
}
