package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/roce"
)

// checkLossless checks the features that keep RoCE packets from being dropped, from the traffic
// class of a packet to its buffer: priority flow control (PFC) and congestion marking (ECN).
func checkLossless(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.roce() {
		if p.Netdev == nil {
			items = append(items, Item{Subject: portName(d, p), Verdict: Skipped, Found: "the kernel does not report the network device"})
			continue
		}
		s, problems := h.queries.Port(d, p)
		for _, err := range problems {
			items = append(items, unreadable(portName(d, p), err))
		}
		items = append(items, portItems(s, notifications(p))...)
	}
	if items == nil {
		return h.noActivePort("RoCE port", roce.IsRoCE)
	}
	return items
}

// portItems returns the items for a port's network devices, then for the whole port. extra is
// part of the settings in text.
func portItems(s *roce.PortSettings, extra string) []Item {
	var items []Item
	mismatches := s.Mismatches()
	for _, l := range append(s.Links, nil) {
		before := len(items)
		for _, m := range mismatches {
			if m.Link == l {
				items = append(items, Item{
					Kind: m.Kind, Subject: s.Name(), Verdict: verdictOf(m.Severity), Found: m.Found + extra, Why: m.Why, Fix: m.Fix, Hint: m.Hint,
				})
			}
		}
		if l != nil && before == len(items) {
			i := linkSettings(l)
			i.Subject, i.Found = s.Name(), i.Found+extra
			items = append(items, i)
		}
	}
	return items
}

// linkSettings returns the item for a network device without a mismatch.
func linkSettings(l *roce.NetdevSettings) Item {
	switch {
	case l.Unsupported:
		return good("", "%s: PFC not supported by the driver (no DCB)", l.Netdev)
	case l.Problem != nil:
		return unreadable("", l.Problem)
	case l.Error != nil:
		return Item{Verdict: Unknown, Found: "flow control of " + l.Netdev + ": " + notLive, Hint: hintOnHost}
	}
	return good("", "%v", l)
}

// notifications describes the counters of congestion marks and notifications (ECN).
func notifications(p *devinfo.Port) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.HWCounts)) {
		if n := p.HWCounts[name]; n > 0 && roce.Notifies(name) {
			fmt.Fprintf(&text, "; %d %s", n, roce.Meaning(name))
		}
	}
	return text.String()
}
