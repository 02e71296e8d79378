package exporter

import (
	"strconv"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// writeOwn writes the metrics that other exporters do not have.
func writeOwn(e *encoder, s *fabricSweep) {
	writeSpeed(e, s)
	writeLinkFindings(e, s)
	writeCounterFindings(e, s)
	writeFEC(e, s)
	e.gauge("ibkit_port_lost_bandwidth_ratio", "Part of the data rate that was lost since the sweep before by waiting for credits of the peer.",
		func(emit func(labels, float64)) {
			s.allPorts(nil, func(p *port) {
				d := p.Delta()
				if d == nil {
					return
				}
				if v, ok := p.LostBandwidth(d); ok {
					emit(ownLabels(p), v)
				}
			})
		})
	s.writeFailures(e)
	writeMissing(e, s)
	s.verdict.write(e)
	e.value("ibkit_fabric_conflicts", "Contradictions between nodes, such as duplicate GUIDs.", float64(len(s.result.Fabric.Conflicts)))
}

func ownLabels(p *port, more ...string) labels {
	return newLabels(append([]string{"guid", p.device.guid, "node", p.device.name, "port", p.number}, more...)...)
}

// peerLabels returns a finding's labels, with the port's peer.
func peerLabels(p *port, more ...string) labels {
	peerPort := ""
	if p.peer != nil {
		peerPort = strconv.Itoa(int(p.peer.Number))
	}
	return ownLabels(p, append([]string{"peer", p.peerName, "peer_port", peerPort}, more...)...)
}

// writeSpeed writes link rates compared with the rates that both ends allow, by default for
// the links that are slower.
func writeSpeed(e *encoder, s *fabricSweep) {
	e.gauge("ibkit_port_rate_ratio", "Signalling rate of a slow link divided by the best that both ends support and have enabled.",
		func(emit func(labels, float64)) {
			s.allPorts(nil, func(p *port) {
				best := rate(p.end.BestWidth, p.end.BestSpeed)
				if now := rate(p.end.Width, p.end.Speed); now > 0 && best > 0 && (now < best || s.all) {
					emit(ownLabels(p), now/best)
				}
			})
		})
}

func rate(w ib.LinkWidth, s ib.Speed) float64 { return s.LaneGbps() * float64(w.Lanes()) }

// writeLinkFindings writes link findings: a series for each, and their numbers.
func writeLinkFindings(e *encoder, s *fabricSweep) {
	count := map[report.Kind]int{}
	e.gauge("ibkit_link_finding", "1 for each finding of ibkit linkinfo that is a problem.", func(emit func(labels, float64)) {
		s.allPorts(nil, func(p *port) {
			seen := map[report.Kind]bool{}
			for _, f := range p.end.Findings {
				if f.Severity.IsProblem() && !seen[f.Kind] {
					seen[f.Kind] = true
					count[f.Kind]++
					emit(peerLabels(p, "kind", string(f.Kind)), 1)
				}
			}
		})
	})
	e.gauge("ibkit_link_findings", "Ports with a finding of ibkit linkinfo that is a problem, by kind.", func(emit func(labels, float64)) {
		for _, k := range linkinfo.Kinds {
			if k.Info().Severity.IsProblem() {
				emit(newLabels("kind", string(k)), float64(count[k]))
			}
		}
	})
}

// writeCounterFindings writes counter findings since the sweep before.
func writeCounterFindings(e *encoder, s *fabricSweep) {
	type key struct {
		kind    report.Kind
		counter counters.Counter
	}
	count := map[counters.Class]int{}
	e.gauge("ibkit_error_finding", "1 for each finding of ibkit counters since the sweep before.", func(emit func(labels, float64)) {
		s.allPorts(nil, func(p *port) {
			seen := map[key]bool{}
			for _, f := range p.findings {
				k := key{f.Kind, f.Counter}
				if seen[k] {
					continue
				}
				seen[k] = true
				more := []string{"kind", string(f.Kind), "counter", "", "class", ""}
				if f.Class != 0 {
					count[f.Class]++
					more[3], more[5] = f.Counter.String(), f.Class.String()
				}
				emit(peerLabels(p, more...), 1)
			}
		})
	})
	e.gauge("ibkit_error_findings", "Findings of ibkit counters since the sweep before, by class.", func(emit func(labels, float64)) {
		for _, c := range counters.Classes {
			emit(newLabels("class", c.String()), float64(count[c]))
		}
	})
}

// fec are the forward error correction counters.
var fec = []struct {
	counter    counters.Counter
	name, help string
}{
	{counters.FECUncorrectable, "fec_uncorrectable_blocks", "Blocks with errors that forward error correction did not correct."},
	{counters.FECCorrectable, "fec_correctable_blocks", "Blocks with errors that forward error correction corrected."},
	{counters.FECSymbols, "fec_corrected_symbols", "Symbols that forward error correction corrected."},
}

// writeFEC writes the errors that forward error correction did not correct, and the
// corrected errors only with all metrics: with lanes at 50 Gb/s and more, they are normal.
func writeFEC(e *encoder, s *fabricSweep) {
	if !s.exports(counters.FECUncorrectable) {
		return
	}
	for _, c := range fec {
		if c.counter != counters.FECUncorrectable && !s.all {
			continue
		}
		e.counter("ibkit_port_"+c.name+"_total", c.help, func(emit func(labels, float64)) {
			s.allPorts(nil, func(p *port) {
				if v, ok := p.value(c.counter); ok {
					emit(ownLabels(p), float64(v))
				}
			})
		})
	}
}

// writeFailures writes the failed request count for each node. The node in a request for an
// unknown node is the node before it.
func (s *fabricSweep) writeFailures(e *encoder) {
	type key struct{ guid, node string }
	count := map[key]int{}
	var order []key
	add := func(k key) {
		if count[k] == 0 {
			order = append(order, k)
		}
		count[k]++
	}
	for _, f := range s.result.Fabric.Failures {
		k := key{guid: f.NodeGUID.String()}
		if n := s.result.Fabric.NodeByGUID(f.NodeGUID); n != nil {
			k.node = s.names.Name(n)
		}
		add(k)
	}
	for _, n := range s.result.Nodes {
		for range n.Failures {
			add(key{n.GUID.String(), s.names.Name(n.Node)})
		}
	}
	e.gauge("ibkit_node_failed_requests", "Requests without a valid response in the last sweep. For nodes that cannot be reached, the requests to the node before them.",
		func(emit func(labels, float64)) {
			for _, k := range order {
				emit(newLabels("guid", k.guid, "node", k.node), float64(count[k]))
			}
		})
}
