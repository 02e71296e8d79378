package exporter

import (
	"errors"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// components are the values for the label component.
var components = map[string]string{"switch": "switch", "hca": "ca", "router": "router"}

// writeGuilbaults writes the metrics in guilbaults' exporter (infiniband-exporter.py):
// counters with perfquery's names in lower case, for ports with an active peer. Data is in
// four-byte words.
func writeGuilbaults(e *encoder, s *fabricSweep) {
	type labelled struct {
		*port
		labels labels
	}
	var ports []labelled
	s.allPorts(nil, func(p *port) {
		if p.peer != nil && p.up() {
			ports = append(ports, labelled{p, newLabels("component", components[p.device.subsystem],
				"local_guid", p.device.guid, "local_name", p.device.name, "local_port", p.number,
				"remote_guid", p.peer.GUID.String(), "remote_name", p.peerName, "remote_port", strconv.Itoa(int(p.peer.Number)))})
		}
	})
	for _, c := range counters.Counters() {
		if !s.exports(c) || c >= counters.FECUncorrectable { // which has our own names
			continue
		}
		e.counter("infiniband_"+strings.ToLower(c.String())+"_total", c.String()+" of a port.", func(emit func(labels, float64)) {
			for _, p := range ports {
				if v, ok := p.value(c); ok {
					emit(p.labels, float64(v))
				}
			}
		})
	}
	e.gauge("infiniband_speed", "Signalling rate of a lane in Gb/s.", func(emit func(labels, float64)) {
		for _, p := range ports {
			if v := p.end.Speed.LaneGbps(); v > 0 {
				emit(p.labels, v)
			}
		}
	})
	e.gauge("infiniband_width", "Lanes of the link.", func(emit func(labels, float64)) {
		for _, p := range ports {
			if v := p.end.Width.Lanes(); v > 0 {
				emit(p.labels, float64(v))
			}
		}
	})
	took := s.took.Seconds()
	e.value("infiniband_scrape_ok", "1 if all requests of the last sweep had a valid response, else 0.", number(!s.summary.partial))
	e.value("infiniband_scrape_duration_seconds", "Duration of the last sweep.", took)
	e.value("infiniband_ibqueryerrors_duration_seconds", "Duration of the last sweep.", took)
	s.writeFailedQueries(e)
}

// failedQuery returns the metric for failed requests for a counter attribute. The original
// reads them from ibqueryerrors messages.
func failedQuery(a mad.AttrID) string {
	switch a {
	case mad.AttrClassPortInfo:
		return "infiniband_query_cap_mask_error"
	case mad.AttrPortCounters, mad.AttrPortCountersExtended:
		return "infiniband_print_error"
	}
	return "infiniband_query_failed_error"
}

// writeFailedQueries writes the requests that failed.
func (s *fabricSweep) writeFailedQueries(e *encoder) {
	for _, name := range []string{"infiniband_query_cap_mask_error", "infiniband_print_error", "infiniband_query_failed_error"} {
		unique := uniqueLabels{}
		e.gauge(name, "1 for each request for counters without a valid response.", func(emit func(labels, float64)) {
			for _, d := range s.devices {
				for _, f := range d.node.Failures {
					if failedQuery(f.Attr) != name {
						continue
					}
					place := []string{"portid", "Lid " + d.lid}
					if name == "infiniband_query_failed_error" {
						place = []string{"lid", d.lid}
					}
					unique.emit(emit, append(place, "counter_name", f.Attribute(), "local_name", d.name, "port", strconv.Itoa(int(f.Port)))...)
				}
			}
		})
	}
	unique := uniqueLabels{}
	e.gauge("infiniband_mad_rpc_failed_error", "1 for each request of the scan without a reply.", func(emit func(labels, float64)) {
		for _, f := range s.result.Fabric.Failures {
			if errors.Is(f.Err, umad.ErrTimeout) {
				unique.emit(emit, "portid", portID(&f))
			}
		}
	})
	unique = uniqueLabels{}
	e.gauge("infiniband_bad_status_error", "1 for each request of the scan that was rejected.", func(emit func(labels, float64)) {
		for _, f := range s.result.Fabric.Failures {
			if status, ok := errors.AsType[mad.StatusError](f.Err); ok {
				unique.emit(emit, "path", portID(&f), "status", strconv.FormatUint(uint64(status), 16), "error", status.Error())
			}
		}
	})
}

// uniqueLabels are the labels on a family's series so far.
type uniqueLabels map[string]bool

// emit emits a series with the value 1, unless a series has the same labels. The name order
// must not vary.
func (u uniqueLabels) emit(emit func(labels, float64), pairs ...string) {
	if key := strings.Join(pairs, "\x00"); !u[key] {
		u[key] = true
		emit(newLabels(pairs...), 1)
	}
}

// portID names a request's destination as infiniband-diags' tools do.
func portID(f *fabric.Failure) string { return "DR path slid 0; dlid 0; " + f.Route.String() }
