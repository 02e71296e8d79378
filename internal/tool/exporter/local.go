package exporter

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/tool/roce"
)

// LocalOptions select this host's ports.
type LocalOptions struct {
	Sysfs  string // default "/sys"
	Device string // "": all
	Port   int    // 0: all

	// RoCE has the queries of network devices. Sysfs is that of the options.
	RoCE roce.Host
}

// A localSource reads this host's counters from sysfs. It sends no packets.
type localSource struct {
	LocalOptions
	pings *pingSource // nil: not collected
}

var errNoDevice = errors.New("read local counters: the host has no RDMA device")

func (s *localSource) sweep(ctx context.Context, last sweep) (sweep, error) {
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: s.Sysfs, Device: s.Device, SysfsOnly: true})
	switch {
	case err != nil:
		return nil, err
	case len(r.Devices) == 0:
		return nil, errNoDevice
	}
	l := newLocalSweep()
	l.devices, l.partial = r.Devices, len(r.Problems) > 0
	before, _ := last.(*localSweep) // nil for the first sweep
	s.RoCE.Sysfs = s.Sysfs
	for _, d := range r.Devices {
		for _, p := range d.Ports {
			if s.Port == 0 || s.Port == p.Number {
				l.ports = append(l.ports, localPort{p, newLabels("device", d.Name, "port", strconv.Itoa(p.Number))})
				l.addRoCE(s.RoCE, d, p, before)
			}
		}
	}
	if s.pings != nil {
		if l.verdict, err = s.pings.judge(ctx, unwired); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// A localSweep is the result from a sweep on this host.
type localSweep struct {
	devices []*devinfo.Device
	ports   []localPort
	partial bool
	verdict *pingVerdict // nil: no standing probes

	read time.Time
	roce map[string]*rocePort // by name
}

type localPort struct {
	*devinfo.Port
	labels labels
}

func (s *localSweep) info() sweepInfo {
	return sweepInfo{nodes: len(s.devices), ports: len(s.ports), partial: s.partial}
}

// A localCounter is a sysfs counter with its name in node_exporter.
type localCounter struct {
	file, name string
	unit       uint64
}

// localCounters are the counters in node_exporter (collector/infiniband_linux.go) by file
// name in counters (procfs, sysfs/class_infiniband.go).
var localCounters = []localCounter{
	{"excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors", 1},
	{"link_downed", "link_downed", 1},
	{"link_error_recovery", "link_error_recovery", 1},
	{"local_link_integrity_errors", "local_link_integrity_errors", 1},
	{"multicast_rcv_packets", "multicast_packets_received", 1},
	{"multicast_xmit_packets", "multicast_packets_transmitted", 1},
	{"port_rcv_constraint_errors", "port_constraint_errors_received", 1},
	{"port_rcv_data", "port_data_received_bytes", wordBytes},
	{"port_rcv_discards", "port_discards_received", 1},
	{"port_rcv_errors", "port_errors_received", 1},
	{"port_rcv_packets", "port_packets_received", 1},
	{"port_rcv_remote_physical_errors", "port_receive_remote_physical_errors", 1},
	{"port_rcv_switch_relay_errors", "port_receive_switch_relay_errors", 1},
	{"port_xmit_constraint_errors", "port_constraint_errors_transmitted", 1},
	{"port_xmit_data", "port_data_transmitted_bytes", wordBytes},
	{"port_xmit_discards", "port_discards_transmitted", 1},
	{"port_xmit_packets", "port_packets_transmitted", 1},
	{"port_xmit_wait", "port_transmit_wait", 1},
	{"symbol_error", "symbol_error", 1},
	{"unicast_rcv_packets", "unicast_packets_received", 1},
	{"unicast_xmit_packets", "unicast_packets_transmitted", 1},
	{"VL15_dropped", "vl15_dropped", 1},
}

// localHWCounters are the counters from files in hw_counters.
var localHWCounters = []localCounter{
	{"duplicate_request", "duplicate_requests_packets", 1},
	{"implied_nak_seq_err", "implied_nak_seq_errors", 1},
	{"local_ack_timeout_err", "local_ack_timeout_errors", 1},
	{"np_cnp_sent", "np_cnp_packets_sent", 1},
	{"np_ecn_marked_roce_packets", "np_ecn_marked_roce_packets_received", 1},
	{"out_of_buffer", "out_of_buffer_drops", 1},
	{"out_of_sequence", "out_of_sequence_packets_received", 1},
	{"packet_seq_err", "packet_sequence_errors", 1},
	{"req_cqe_error", "req_cqes_errors", 1},
	{"req_cqe_flush_error", "req_cqes_flush_errors", 1},
	{"req_remote_access_errors", "req_remote_access_errors", 1},
	{"req_remote_invalid_request", "req_remote_invalid_request_errors", 1},
	{"resp_cqe_error", "resp_cqes_errors", 1},
	{"resp_cqe_flush_error", "resp_cqes_flush_errors", 1},
	{"resp_local_length_error", "resp_local_length_errors", 1},
	{"resp_remote_access_errors", "resp_remote_access_errors", 1},
	{"rnr_nak_retry_err", "rnr_nak_retry_packets_received", 1},
	{"roce_adp_retrans", "roce_adp_retransmits", 1},
	{"roce_adp_retrans_to", "roce_adp_retransmits_timeout", 1},
	{"roce_slow_restart", "roce_slow_restart_used", 1},
	{"roce_slow_restart_cnps", "roce_slow_restart_cnps", 1},
	{"roce_slow_restart_trans", "roce_slow_restart", 1},
	{"rp_cnp_handled", "rp_cnp_packets_handled", 1},
	{"rp_cnp_ignored", "rp_cnp_ignored_packets_received", 1},
	{"rx_atomic_requests", "rx_atomic_requests", 1},
	{"rx_dct_connect", "rx_dct_connect_requests", 1},
	{"rx_icrc_encapsulated", "rx_icrc_encapsulated_errors", 1},
	{"rx_read_requests", "rx_read_requests", 1},
	{"rx_write_requests", "rx_write_requests", 1},
}

// gigabit is 10^9 bits in bytes.
const gigabit = 1e9 / 8

func (s *localSweep) write(e *encoder) {
	const prefix = "node_infiniband_"
	e.gauge(prefix+"info", "1; the labels have attributes of the device.", func(emit func(labels, float64)) {
		for _, d := range s.devices {
			emit(newLabels("device", d.Name, "board_id", optional.OrZero(d.BoardID), "firmware_version", optional.OrZero(d.Firmware), "hca_type", optional.OrZero(d.HCAType)), 1)
		}
	})
	gauge := func(name, help string, value func(*devinfo.Port) (float64, bool)) {
		e.gauge(prefix+name, help, func(emit func(labels, float64)) {
			for _, p := range s.ports {
				if v, ok := value(p.Port); ok {
					emit(p.labels, v)
				}
			}
		})
	}
	gauge("state_id", "State of the port: 1 down, 2 init, 3 armed, 4 active.", func(p *devinfo.Port) (float64, bool) { return small(p.State) })
	gauge("physical_state_id", "Physical state of the port: 1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 recovery, 7 test.",
		func(p *devinfo.Port) (float64, bool) { return small(p.PhysState) })
	gauge("rate_bytes_per_second", "Rate of the link.", func(p *devinfo.Port) (float64, bool) { return rateOf(optional.OrZero(p.Rate)) })
	gauge("lifespan_seconds", "Maximum age of the values in hw_counters.", func(p *devinfo.Port) (float64, bool) {
		if p.Lifespan == nil {
			return 0, false
		}
		return float64(*p.Lifespan / 1000), true
	})
	counter := func(c localCounter, dir string, values func(*devinfo.Port) map[string]uint64) {
		e.counter(prefix+c.name+"_total", dir+"/"+c.file+" of the port.", func(emit func(labels, float64)) {
			for _, p := range s.ports {
				if v, ok := values(p.Port)[c.file]; ok {
					emit(p.labels, float64(v*c.unit)) // overflows as in node_exporter
				}
			}
		})
	}
	for _, c := range localCounters {
		counter(c, "counters", func(p *devinfo.Port) map[string]uint64 { return p.Counters })
	}
	for _, c := range localHWCounters {
		counter(c, "hw_counters", func(p *devinfo.Port) map[string]uint64 { return p.HWCounts })
	}
	s.writeRoCE(e)
	s.verdict.write(e)
}

func small[T ~uint8](v *T) (float64, bool) {
	if v == nil {
		return 0, false
	}
	return float64(*v), true
}

// rateOf parses a sysfs rate, such as "100 Gb/sec (4X EDR)", in bytes per second.
func rateOf(s string) (float64, bool) {
	value, _, ok := strings.Cut(s, " Gb/sec")
	v, err := strconv.ParseFloat(value, 64)
	return v * gigabit, ok && err == nil
}
