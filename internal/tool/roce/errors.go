package roce

import "github.com/ibkit/ibkit/report"

// faults are the quantities that are findings on their own, in any number.
var faults = []struct {
	q    quantity
	kind report.Kind
	text string
}{
	{unroutable, report.RoCENoRoute, "packets without a route or a neighbour were dropped"},
	{rejected, report.RoCERejected, "the adapter rejected packets that it received"},
	{failedRequests, report.FailedRequests, "requests failed"},
	{adapterErrors, report.AdapterErrors, "the adapter counts errors of its own"},
	{unresponsive, report.SRDUnresponsive, "a peer does not respond"},
	{impaired, report.SRDImpaired, "the adapter reduced the rate of connections"},
	{pathTimeouts, report.SRDTimeouts, "packets timed out and took another path"},
	{srdDropped, report.SRDDrops, "packets were received and dropped"},
}

// errors reports the faults.
func (t *traffic) errors(add func(report.Kind, string, ...any)) {
	for _, f := range faults {
		if t.count[f.q] > 0 {
			add(f.kind, "%s: %s", f.text, t.evidence(f.q))
		}
	}
}
