package doctor

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/umad"
)

// linkCounters are the error counters at both ends of a link, for ends with agents that
// respond.
type linkCounters struct {
	limits counters.Limits
	ends   []*counters.Port
}

// discover scans the nodes at both ends of a link and reads the ends' counters.
func (l *linkCounters) discover(ctx context.Context, c *umad.Client, o fabric.DiscoverOptions) (*fabric.Fabric, error) {
	f, err := fabric.Discover(ctx, c, o)
	if err != nil {
		return f, err
	}
	near := f.Start.PortAt(f.StartPort)
	if near == nil || near.Info == nil || near.Info.State != ib.PortActive {
		return f, nil // the link does not carry requests for counters
	}
	l.limits = counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: counters.DefaultWait}
	options := l.limits.CollectOptions()
	options.Suspicious = nil
	options.Ports = func(p *fabric.Port) bool { return p == near || p == near.Peer }
	collector := counters.NewCollector(c, options)
	if collector.Read(ctx, f) == nil {
		for _, n := range collector.Nodes() {
			l.ends = append(l.ends, n.Ports...)
		}
	}
	return f, nil
}

// add adds an end's worst counter above its threshold.
func (l *linkCounters) add(i Item) Item {
	var names *fabric.NameMap
	for _, p := range l.ends {
		for _, f := range l.limits.Findings(p) {
			if !f.IsProblem() {
				continue
			}
			i.Found += fmt.Sprintf("; %s: %s, %s", names.PortName(p.Port), f.Text(), f.Meaning)
			if i.Verdict == OK || i.Verdict == Note {
				i.Verdict = Warning
				i.Why = "errors on a link delay all traffic that crosses it"
				i.Hint = "ibkit counters --window 10s shows whether the errors continue, and their cause"
			}
			break
		}
	}
	return i
}
