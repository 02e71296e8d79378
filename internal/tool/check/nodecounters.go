package check

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/report"
)

// errorCounters are PortCounters' counters by their names in sysfs
// (drivers/infiniband/core/sysfs.c).
var errorCounters = map[string]counters.Counter{
	"symbol_error":                    counters.SymbolErrors,
	"link_error_recovery":             counters.LinkErrorRecovery,
	"link_downed":                     counters.LinkDowned,
	"port_rcv_errors":                 counters.RcvErrors,
	"port_rcv_remote_physical_errors": counters.RcvRemotePhysErrors,
	"port_rcv_switch_relay_errors":    counters.RcvSwitchRelayErrors,
	"port_xmit_discards":              counters.XmitDiscards,
	"port_xmit_constraint_errors":     counters.XmitConstraintErrors,
	"port_rcv_constraint_errors":      counters.RcvConstraintErrors,
	"local_link_integrity_errors":     counters.LocalLinkIntegrity,
	"excessive_buffer_overrun_errors": counters.ExcessiveBufferOverrun,
	"VL15_dropped":                    counters.VL15Dropped,
}

// The counters for links that went down, on InfiniBand ports and on network devices.
const (
	linkDowned  = "link_downed"
	carrierDown = "carrier_down_count"
)

// updateState compares the counters with the state, and stores them.
func (r *nodeRun) updateState() {
	r.updates = map[string]portUpdate{}
	if r.opts.State == nil {
		return
	}
	window := r.limits.FlapWindow
	for d, p := range r.ports() {
		key := d.Name
		if d.NodeGUID != nil && *d.NodeGUID != 0 {
			key = d.NodeGUID.String() // a name may change
		}
		all := map[string]uint64{}
		for name := range errorCounters {
			if v, ok := p.Counters[name]; ok {
				all[name] = v
			}
		}
		for name := range r.limits.HWCounters {
			if v, ok := p.HWCounts[name]; ok {
				all[name] = v
			}
		}
		if p.Netdev != nil && p.Ethernet() { // IPoIB follows the link, which link_downed counts
			var unreadable []error // a network device without the counter is not counted
			if v := sysfs.FS(filepath.Join(r.opts.Root, "sys")).Dir(&unreadable, "class/net", *p.Netdev).Uint(carrierDown, 64); v != nil {
				all[carrierDown] = *v
			}
		}
		increases, downs := r.opts.State.update(portSubject(key, p.Number), d.Name, r.now, all, []string{linkDowned, carrierDown}, window)
		r.updates[portSubject(d.Name, p.Number)] = portUpdate{increases, downs}
	}
	r.opts.State.expire(r.now, window)
	r.opts.State.Time = r.now
}

// Next steps for counter findings.
const (
	hintLocal = "ibkit counters --local --window 10s"
	hintCable = hintLocal + "; reseat or replace the cable"
)

// checkNodeCounters compares error counters with their limits: with a state, their
// increases since the last check.
func checkNodeCounters(r *nodeRun) error {
	compared, first := 0, 0
	for d, p := range r.ports() {
		subject := portSubject(d.Name, p.Number)
		u := r.updates[subject]
		if len(p.Counters) > 0 {
			compared++
		}
		if u.increases == nil {
			first++
		}
		for _, name := range slices.Sorted(maps.Keys(errorCounters)) {
			v, ok := p.Counters[name]
			c := errorCounters[name]
			limit := r.limits.Thresholds.Limit(c)
			switch n, increases := u.increases[name]; {
			case !ok || name == linkDowned && u.increases != nil: // a flap
			case u.increases == nil && v > limit:
				r.add(finding(report.Exceeded, subject, "%s %d, want at most %d", name, v, limit).WithHint(hintLocal))
			case increases && n > limit:
				r.add(finding(report.Increased, subject, "%s +%d since the last check, want at most %d", name, n, limit).WithHint(hintCable))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.limits.HWCounters)) {
			if n, limit := u.increases[name], r.limits.HWCounters[name]; n > limit {
				f := finding(report.Increased, subject, "%s +%d since the last check, want at most %d", name, n, limit).WithHint(hintCable)
				f.Severity = report.Warning
				r.add(f)
			}
		}
	}
	switch {
	case r.opts.State == nil:
		r.comment("%s, since counters were cleared", count(compared, "port"))
	case first > 0:
		r.comment("%s, %d without an earlier check", count(compared, "port"), first)
	default:
		r.comment("%s, since the last check", count(compared, "port"))
	}
	return nil
}

// checkFlaps reports ports with a link that went down several times within the window. The
// finding remains until the downs are older than the window.
func checkFlaps(r *nodeRun) error {
	if r.opts.State == nil {
		r.skipped("requires a state file")
		return nil
	}
	if r.limits.FlapCount == 0 {
		r.skipped("disabled by the thresholds")
		return nil
	}
	var total uint64
	for d, p := range r.ports() {
		subject := portSubject(d.Name, p.Number)
		n := r.updates[subject].downs
		total += n
		if n >= r.limits.FlapCount {
			r.add(finding(report.Flapping, subject, "the link went down %s within %v, want fewer than %d", timesText(n), r.limits.FlapWindow, r.limits.FlapCount))
		}
	}
	r.value("flaps", float64(total), "")
	r.comment("%d in %v", total, r.limits.FlapWindow)
	return nil
}

// timesText returns a count as text.
func timesText(n uint64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
