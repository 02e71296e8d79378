package exporter

import (
	"strconv"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

// An exportedCounter is a counter with its names.
type exportedCounter struct {
	counter  counters.Counter
	names    []string // in treydock's exporter, and in SckyzO's if it differs
	unit     float64  // bytes, packets or events per count
	unitName string   // "": a number
	hcaExtra bool     // without [Options.AllMetrics], adapters do not have it
}

const wordBytes = 4

// exported are the counters in treydock's exporter. The published dashboards and rules use
// all switch counters, but not the extra adapter counters: sums over other counters, and
// errors that adapters rarely count. If they do, there is a finding.
var exported = []exportedCounter{
	{counters.XmitData, []string{"transmit_data_bytes"}, wordBytes, "bytes", false},
	{counters.RcvData, []string{"receive_data_bytes"}, wordBytes, "bytes", false},
	{counters.XmitPkts, []string{"transmit_packets"}, 1, "", true},
	{counters.RcvPkts, []string{"receive_packets"}, 1, "", true},
	{counters.UnicastXmitPkts, []string{"unicast_transmit_packets"}, 1, "", false},
	{counters.UnicastRcvPkts, []string{"unicast_receive_packets"}, 1, "", false},
	{counters.MulticastXmitPkts, []string{"multicast_transmit_packets"}, 1, "", false},
	{counters.MulticastRcvPkts, []string{"multicast_receive_packets"}, 1, "", true},
	{counters.SymbolErrors, []string{"symbol_error"}, 1, "", false},
	{counters.LinkErrorRecovery, []string{"link_error_recovery"}, 1, "", false},
	{counters.LinkDowned, []string{"link_downed"}, 1, "", false},
	{counters.RcvErrors, []string{"receive_errors"}, 1, "", false},
	{counters.RcvRemotePhysErrors, []string{"receive_remote_physical_errors"}, 1, "", true},
	{counters.RcvSwitchRelayErrors, []string{"receive_switch_relay_errors"}, 1, "", true},
	{counters.XmitDiscards, []string{"transmit_discards"}, 1, "", false},
	{counters.XmitConstraintErrors, []string{"transmit_constraint_errors"}, 1, "", true},
	{counters.RcvConstraintErrors, []string{"receive_constraint_errors"}, 1, "", true},
	{counters.LocalLinkIntegrity, []string{"local_link_integrity_errors"}, 1, "", true},
	{counters.ExcessiveBufferOverrun, []string{"excessive_buffer_overrun_errors"}, 1, "", true},
	{counters.VL15Dropped, []string{"vl15_dropped"}, 1, "", true},
	{counters.XmitWait, []string{"transmit_wait"}, 1, "", false},
	{counters.QP1Dropped, []string{"qp1_dropped"}, 1, "", true},
	{counters.LocalPhysicalErrors, []string{"local_physical_errors"}, 1, "", false},
	{counters.MalformedPktErrors, []string{"malformed_packet_errors"}, 1, "", false},
	{counters.BufferOverrunErrors, []string{"buffer_overrun_errors"}, 1, "", false},
	{counters.DLIDMappingErrors, []string{"dli_mapping_errors", "dlid_mapping_errors"}, 1, "", false},
	{counters.VLMappingErrors, []string{"vl_mapping_errors"}, 1, "", false},
	{counters.LoopingErrors, []string{"looping_errors"}, 1, "", false},
}

// writerOf has the functions that write a fabric's metrics.
var writerOf = map[Names]func(*encoder, *fabricSweep){
	Treydock:   writeTreydock,
	Guilbaults: writeGuilbaults,
}

// A treydockPort is a port with its labels.
type treydockPort struct {
	*port
	labels labels
}

// writeTreydock writes the metrics in treydock's exporter (collectors/switch.go and hca.go)
// with the labels that SckyzO's adds.
func writeTreydock(e *encoder, s *fabricSweep) {
	for i := range roles {
		writeRole(e, s, &roles[i])
	}
	collector := func(v func(failedNodes) float64) func(func(labels, float64)) {
		return func(emit func(labels, float64)) {
			for _, c := range allCollectors {
				emit(newLabels("collector", c), v(s.summary.failed[c]))
			}
		}
	}
	e.gauge("infiniband_exporter_collect_errors", "Nodes with a failed request other than a timeout in the last sweep.",
		collector(func(f failedNodes) float64 { return float64(f.errors) }))
	e.gauge("infiniband_exporter_collect_timeouts", "Nodes with a request without a reply in the last sweep.",
		collector(func(f failedNodes) float64 { return float64(f.timeouts) }))
	e.gauge("infiniband_exporter_collector_duration_seconds", "Duration of the last sweep, which reads all nodes at the same time.",
		collector(func(failedNodes) float64 { return s.took.Seconds() }))
	e.gauge("infiniband_exporter_last_execution", "Time of the last sweep in seconds since 1970.",
		collector(func(failedNodes) float64 { return float64(s.began.Add(s.took).Unix()) }))
}

// writeRole writes the metrics for devices with a role.
func writeRole(e *encoder, s *fabricSweep, r *role) {
	var ports []treydockPort
	s.allPorts(r, func(p *port) { ports = append(ports, treydockPort{p, treydockLabels(p)}) })
	prefix := "infiniband_" + r.subsystem + "_"
	about := " of a port of a " + r.subsystem
	for _, c := range exported {
		if !s.exports(c.counter) || c.hcaExtra && r.subsystem == "hca" && !s.all {
			continue
		}
		help := c.counter.String() + about
		if c.unitName != "" {
			help += ", in " + c.unitName
		}
		for _, name := range c.names {
			e.counter(prefix+"port_"+name+"_total", help+".", func(emit func(labels, float64)) {
				for _, p := range ports {
					if v, ok := p.value(c.counter); ok {
						emit(p.labels, float64(v)*c.unit)
					}
				}
			})
		}
	}
	writeTreydockLinks(e, s, r, prefix, ports)
	writeTreydockDevices(e, s, r, prefix)
}

// treydockLabels returns the labels on a port's counters.
func treydockLabels(p *port) labels { return newLabels(treydockPairs(p)...) }

func treydockPairs(p *port) []string {
	d := p.device
	if d.subsystem == "switch" {
		return []string{"guid", d.guid, "port", p.number, "switch", d.name}
	}
	return []string{"guid", d.guid, d.subsystem, d.name, "port", p.number, "switch", p.peerName}
}

// writeTreydockLinks writes port rates, states and peers.
func writeTreydockLinks(e *encoder, s *fabricSweep, r *role, prefix string, ports []treydockPort) {
	rates := func(name, help string, rate func(*port) float64) {
		e.gauge(prefix+name, help, func(emit func(labels, float64)) {
			if r.subsystem == "switch" {
				for _, p := range ports {
					if v := rate(p.port); v > 0 {
						emit(p.labels, v/8)
					}
				}
				return
			}
			for _, d := range s.devices { // without a label for the port
				if v := d.max(rate); v > 0 && d.role == r {
					emit(newLabels("guid", d.guid, r.subsystem, d.name), v/8)
				}
			}
		})
	}
	data := func(p *port) float64 { return counters.DataRate(p.Port.Port) }
	raw := func(p *port) float64 { return p.end.Speed.LaneGbps() * float64(p.end.Width.Lanes()) * 1e9 }
	const rateHelp, rawHelp = "Data rate of the link.", "Signalling rate of the link, with the overhead of the line code."
	rates("port_rate_bytes_per_second", rateHelp, data)
	if s.all {
		rates("port_raw_rate_bytes_per_second", rawHelp, raw)
	}
	if s.all && r.subsystem == "hca" { // names in treydock's exporter
		rates("rate_bytes_per_second", rateHelp, data)
		rates("raw_rate_bytes_per_second", rawHelp, raw)
	}
	if s.all || r.subsystem != "hca" {
		e.gauge(prefix+"port_state", "1 if the port has a link, else 0.", func(emit func(labels, float64)) {
			for _, p := range ports {
				if p.Info != nil || p.Omitted {
					emit(p.labels, number(p.up()))
				}
			}
		})
	}
	e.gauge(prefix+"uplink_info", "1; the labels have the peer of the port.", func(emit func(labels, float64)) {
		for _, p := range ports {
			if p.peer != nil {
				emit(uplinkLabels(p.port), 1)
			}
		}
	})
}

// uplinkLabels returns a port's labels with its peer.
func uplinkLabels(p *port) labels {
	pairs := append(treydockPairs(p), "uplink", p.peerName, "uplink_guid", p.peer.GUID.String(), "uplink_lid", lidText(p.peer),
		"uplink_port", strconv.Itoa(int(p.peer.Number)), "uplink_type", roleOf(p.peer.Node).class)
	return newLabels(pairs...)
}

// lidText returns a port's LID as a label, "" if it is unknown.
func lidText(p *fabric.Port) string {
	if p.Missing() != nil {
		return ""
	}
	return strconv.Itoa(int(p.LID()))
}

// max returns the ports' largest value.
func (d *device) max(value func(*port) float64) (most float64) {
	for _, p := range d.ports {
		most = max(most, value(p))
	}
	return most
}

// writeTreydockDevices writes device metrics.
func writeTreydockDevices(e *encoder, s *fabricSweep, r *role, prefix string) {
	devices := func(name, help string, add func(*device, func(labels, float64))) {
		e.gauge(prefix+name, help, func(emit func(labels, float64)) {
			for _, d := range s.devices {
				if d.role == r {
					add(d, emit)
				}
			}
		})
	}
	devices("info", "1; the labels have the name and the LID.", func(d *device, emit func(labels, float64)) {
		emit(newLabels("guid", d.guid, r.subsystem, d.name, "lid", d.lid), 1)
	})
	devices("up", "1 if all requests for counters had a valid response, else 0.", func(d *device, emit func(labels, float64)) {
		emit(newLabels("guid", d.guid, r.subsystem, d.name), number(d.errors+d.timeouts == 0))
	})
	collect := func(name, help string, value func(*device) (float64, bool)) {
		devices(name, help, func(d *device, emit func(labels, float64)) {
			if v, ok := value(d); ok {
				emit(newLabels("collector", r.subsystem, "guid", d.guid), v)
			}
		})
	}
	failed := func(n int) (float64, bool) { return number(n > 0), n > 0 || s.all }
	collect("collect_error", "1 if a request failed other than by a timeout.", func(d *device) (float64, bool) { return failed(d.errors) })
	collect("collect_timeout", "1 if a request had no reply.", func(d *device) (float64, bool) { return failed(d.timeouts) })
	if r.subsystem == "hca" && !s.all {
		return
	}
	collect("collect_duration_seconds", "Time from the begin of the sweep to the last counters.", func(d *device) (float64, bool) {
		last := s.began
		for _, p := range d.ports {
			if p.Now != nil && p.Now.At().After(last) {
				last = p.Now.At()
			}
		}
		return last.Sub(s.began).Seconds(), last.After(s.began)
	})
}
