package exporter

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/report"
)

// forgetAfter is the time after which a missing node counts as removed.
const forgetAfter = 24 * time.Hour

// A missingNode is a node that an earlier sweep found, and the last sweep did not.
type missingNode struct {
	guid  ib.GUID
	name  string
	class string           // switch, hca or router
	end   *report.NodePort // at which the path to it ends; nil: unknown
	since time.Time        // time of the first sweep without it
}

// findMissing compares a sweep with the sweep before. A blind sweep says nothing about the
// other nodes: nodes that were missing before remain so, and the next sweep is compared
// with the last sweep that was not blind.
func (s *fabricSweep) findMissing(before *fabricSweep, selected func(*fabric.Node) bool) {
	f := s.result.Fabric
	s.seen = f
	if before == nil {
		return
	}
	blind := f.Blind() != nil
	if blind {
		s.seen = before.seen
	}
	for _, m := range before.summary.missing {
		if blind || f.NodeByGUID(m.guid) == nil && s.began.Sub(m.since) < forgetAfter {
			s.summary.missing = append(s.summary.missing, m)
		}
	}
	for _, lack := range f.Lacks(before.seen) {
		if selected != nil && !selected(lack.Node) {
			continue
		}
		m := missingNode{guid: lack.Node.GUID, name: s.names.Name(lack.Node), class: roleOf(lack.Node).subsystem, since: s.began}
		if e := lack.End; e != nil {
			m.end = &report.NodePort{Name: s.names.Name(e.Node), NodeGUID: e.Node.GUID, Port: e.Number}
		}
		s.summary.missing = append(s.summary.missing, m)
	}
}

// writeMissing writes whether the sweep is blind, and the missing nodes.
func writeMissing(e *encoder, s *fabricSweep) {
	i := &s.summary
	e.value("ibkit_sweep_blind", "1 if the last sweep found no other node than its own, for example because the link of the local port is down, else 0.", number(i.blind != nil))
	e.value("ibkit_missing_nodes", "Nodes that an earlier sweep found within a day, and the last sweep did not.", float64(len(i.missing)))
	e.gauge("ibkit_missing_node", "1 for each missing node, with the port at which the path to it ends.", func(emit func(labels, float64)) {
		for _, m := range i.missing {
			peer, port := "", ""
			if m.end != nil {
				peer, port = m.end.Name, strconv.Itoa(int(m.end.Port))
			}
			emit(newLabels("guid", m.guid.String(), "node", m.name, "type", m.class, "peer", peer, "peer_port", port), 1)
		}
	})
}

// logChanges logs changes to blindness and to the missing nodes between two sweeps.
func (e *Exporter) logChanges(before, now sweepInfo) {
	switch {
	case now.blind != nil && before.blind == nil:
		e.opts.Log.Error("sweep is blind", "err", now.blind)
	case now.blind == nil && before.blind != nil:
		e.opts.Log.Warn("sweep is not blind any more", "nodes", now.nodes)
	}
	if gone := without(now.missing, before.missing); len(gone) > 0 {
		e.opts.Log.Warn("nodes are missing", "count", len(gone), "nodes", nameList(gone))
	}
	if back := without(before.missing, now.missing); len(back) > 0 {
		e.opts.Log.Warn("nodes are not missing any more", "count", len(back), "nodes", nameList(back))
	}
}

// without returns the nodes that are not among others.
func without(nodes, others []missingNode) []missingNode {
	known := make(map[ib.GUID]bool, len(others))
	for _, m := range others {
		known[m.guid] = true
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(m missingNode) bool { return known[m.guid] })
}

// nameList returns node names and where the paths to the nodes end, with an upper limit.
func nameList(nodes []missingNode) string {
	const most = 10
	var names []string
	for _, m := range nodes[:min(most, len(nodes))] {
		name := m.name
		if m.end != nil {
			name += " behind " + fabric.PortName(m.end.Name, int(m.end.Port))
		}
		names = append(names, name)
	}
	if more := len(nodes) - most; more > 0 {
		names = append(names, plural.Count(more, "more node", "more nodes"))
	}
	return strings.Join(names, ", ")
}
