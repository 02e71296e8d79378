package roce

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/report"
)

// Limits of healthy traffic. Notifications are part of it, pauses are rare.
const (
	pausesPerSecond = 10     // pauses in a direction
	stormPerSecond  = 10_000 // pauses in a direction, if their time is not known
	stormShare      = 0.1    // part of the window in which a direction is paused
	floodPerSecond  = 1_000  // congestion notifications
	floodShare      = 0.05   // notifications per packet
	reorderedShare  = 0.5    // duplicates per gap: the missing packet arrived later
	microseconds    = 1e6    // in a second
)

// traffic are the increases of a port's counters within a window.
type traffic struct {
	seconds float64
	count   map[quantity]uint64 // the largest family's: families may count the same packets
	names   map[quantity][]string
	known   map[quantity]bool
	counts  map[string]uint64 // by name
}

func newTraffic(increase map[string]uint64, seconds float64) *traffic {
	t := &traffic{seconds: seconds, count: map[quantity]uint64{}, names: map[quantity][]string{}, known: map[quantity]bool{}, counts: increase}
	type key struct {
		q      quantity
		family string
	}
	families := map[key]uint64{}
	for _, name := range slices.Sorted(maps.Keys(increase)) {
		q, family, known := meaning(name)
		if !known {
			continue
		}
		n := increase[name]
		families[key{q, family}] += n
		t.count[q], t.known[q] = max(t.count[q], families[key{q, family}]), true
		if n > 0 {
			t.names[q] = append(t.names[q], name)
		}
	}
	return t
}

// rate returns a quantity per second.
func (t *traffic) rate(q quantity) float64 { return float64(t.count[q]) / t.seconds }

// share returns the part of the window for which a direction was paused.
func (t *traffic) share(q quantity) float64 { return t.rate(q) / microseconds }

// evidence lists the counters of quantities.
func (t *traffic) evidence(quantities ...quantity) string {
	var parts []string
	for _, q := range quantities {
		for _, name := range t.names[q] {
			parts = append(parts, fmt.Sprintf("%s +%d", name, t.counts[name]))
		}
	}
	return strings.Join(parts, ", ")
}

// Verdicts judges a port that is [Judged] by the increases of its counters within a window in seconds,
// by their names in sysfs or with [StatisticPrefix]. Healthy traffic has no finding.
func Verdicts(port *PortSettings, increase map[string]uint64, seconds float64) []report.Finding {
	if seconds <= 0 {
		return nil
	}
	t := newTraffic(increase, seconds)
	var all []report.Finding
	add := func(kind report.Kind, format string, args ...any) {
		f := report.New(kind, port.Name(), fmt.Sprintf(format, args...))
		f.Port = &port.Number
		all = append(all, f.WithHint(kind.Info().Hint))
	}
	t.losses(add)
	t.pauses(add)
	t.notifications(add)
	t.errors(add)
	return all
}

// losses judges retransmissions.
func (t *traffic) losses(add func(report.Kind, string, ...any)) {
	lost := t.count[naks] + t.count[discards]
	reordered := lost == 0 && t.count[gaps] > 0 && float64(t.count[duplicates]) >= reorderedShare*float64(t.count[gaps])
	switch {
	case reordered:
		add(report.RoCEOutOfOrder, "packets arrived out of order, and again: %s", t.evidence(gaps, duplicates))
	case lost+t.count[gaps] > 0:
		where := "in the network"
		if t.count[discards]+t.count[dropped] > 0 {
			where = "in this adapter, too"
		}
		add(report.RoCELoss, "packets were lost %s: %s", where, t.evidence(naks, gaps, discards, dropped, timeouts, retries))
	case t.count[timeouts] > 0:
		add(report.RoCEBlackHole, "requests without a reply, and no sign of single losses: %s", t.evidence(timeouts, retries))
	}
	if t.count[notReady] > 0 {
		add(report.RoCENotReady, "no receive buffer was posted: %s", t.evidence(notReady))
	}
}

// pauses judges flow control.
func (t *traffic) pauses(add func(report.Kind, string, ...any)) {
	if t.count[storms] > 0 {
		add(report.RoCEPauseStorm, "the adapter ended pauses that were too long: %s", t.evidence(storms))
	}
	paused := false
	for _, d := range []struct {
		text                            string
		pauses, time, packets, anyKinds quantity
	}{
		{"the peer paused this port", pausesReceived, pausedLocal, sent, wireSent},
		{"this port paused its peer", pausesSent, pausedPeer, received, wireReceived},
	} {
		traffic := max(t.count[d.packets], t.count[d.anyKinds])
		switch {
		case t.share(d.time) >= stormShare:
			add(report.RoCEPauseStorm, "%s for %.3g%% of the time: %s", d.text, 100*t.share(d.time), t.evidence(d.pauses, d.time))
		case !t.known[d.time] && t.rate(d.pauses) >= stormPerSecond:
			add(report.RoCEPauseStorm, "%s %.3g times a second: %s", d.text, t.rate(d.pauses), t.evidence(d.pauses))
		case t.rate(d.pauses) < pausesPerSecond:
		case (t.known[d.packets] || t.known[d.anyKinds]) && traffic < t.count[d.pauses]:
			add(report.RoCEIdlePauses, "%s, with %d packets in this direction: %s", d.text, traffic, t.evidence(d.pauses))
		default:
			paused = true
		}
	}
	if notifications := t.known[cnpsSent] || t.known[cnpsReceived]; paused && notifications && t.count[cnpsSent]+t.count[cnpsReceived] == 0 {
		add(report.RoCEPauses, "pauses, and no congestion notification: %s", t.evidence(pausesReceived, pausesSent))
	}
}

// notifications judges congestion control.
func (t *traffic) notifications(add func(report.Kind, string, ...any)) {
	for _, d := range []struct {
		text             string
		notices, packets quantity
	}{
		{"received, which slow this port down", cnpsReceived, sent}, {"sent", cnpsSent, received},
	} {
		if t.rate(d.notices) >= floodPerSecond && t.known[d.packets] && float64(t.count[d.notices]) > floodShare*float64(t.count[d.packets]) {
			add(report.RoCENotices, "%.3g%% as many congestion notifications %s as packets: %s", 100*float64(t.count[d.notices])/float64(max(t.count[d.packets], 1)),
				d.text, t.evidence(d.notices, d.packets, marked))
		}
	}
}
