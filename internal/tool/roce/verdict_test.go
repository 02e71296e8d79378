package roce

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// healthyTraffic has the increases of an mlx5 adapter's counters in ten seconds at 200 Gb/s,
// with congestion notifications and few pauses.
var healthyTraffic = map[string]uint64{
	"port_xmit_packets": 60e6, "port_rcv_packets": 60e6, "ethtool_tx_packets_phy": 60e6, "ethtool_rx_packets_phy": 60e6,
	"np_cnp_sent": 8000, "rp_cnp_handled": 7000, "np_ecn_marked_roce_packets": 9000,
	"ethtool_rx_prio3_pause": 20, "ethtool_tx_prio3_pause": 0, "ethtool_rx_prio3_pause_duration": 300, "ethtool_tx_prio3_pause_duration": 0,
	"out_of_sequence": 0, "packet_seq_err": 0, "local_ack_timeout_err": 0, "out_of_buffer": 0, "duplicate_request": 0,
	"ethtool_rx_discards_phy": 0, "ethtool_rx_prio0_bytes": 1e9, "rx_write_requests": 1e6,
}

func TestVerdicts(t *testing.T) {
	type counts = map[string]uint64
	for _, test := range []struct {
		name   string
		change counts
		want   string // "kind: detail" of each
	}{
		{"healthy", nil, ""},
		{"congested, with notifications", counts{"ethtool_rx_prio3_pause": 5000, "ethtool_rx_prio3_pause_duration": 500e3}, ""},
		{"loss in the network", counts{"packet_seq_err": 12, "out_of_sequence": 3, "roce_adp_retrans": 2},
			"roce-loss: packets were lost in the network: packet_seq_err +12, out_of_sequence +3, roce_adp_retrans +2"},
		{"loss in the adapter", counts{"out_of_sequence": 3, "ethtool_rx_prio3_discards": 3},
			"roce-loss: packets were lost in this adapter, too: out_of_sequence +3, ethtool_rx_prio3_discards +3"},
		{"loss seen by bnxt_re", counts{"seq_err_naks_rcvd": 4, "rx_roce_discards": 0}, "roce-loss: packets were lost in the network: seq_err_naks_rcvd +4"},
		{"loss seen by irdma", counts{"Nak Sequence Error": 4}, "roce-loss: packets were lost in the network: Nak Sequence Error +4"},
		{"loss seen by ionic", counts{"resp_rx_outouf_seq": 9}, "roce-loss: packets were lost in the network: resp_rx_outouf_seq +9"},
		{"drops of other traffic", counts{"ethtool_rx_discards_phy": 7, "ethtool_pps_allowance_exceeded": 8}, ""},
		{"reordered", counts{"out_of_sequence": 40, "duplicate_request": 30},
			"roce-out-of-order: packets arrived out of order, and again: out_of_sequence +40, duplicate_request +30"},
		{"black hole", counts{"local_ack_timeout_err": 5, "req_transport_retries_exceeded": 1},
			"roce-black-hole: requests without a reply, and no sign of single losses: local_ack_timeout_err +5, req_transport_retries_exceeded +1"},
		{"loss and notifications seen by bnxt_re of Linux 7.2", counts{"np_cnp_sent": 0, "rp_cnp_handled": 0, "np_cnp_pkts": 9, "ethtool_rx_prio3_pause": 5000,
			"packet_seq_err": 4}, "roce-loss: packets were lost in the network: packet_seq_err +4"},
		{"responses missed by bnxt_re", counts{"missing_resp": 2}, "roce-loss: packets were lost in the network: missing_resp +2"},
		{"rejected by irdma", counts{"ip4InDiscards": 3, "rxVlanErrors": 1}, "roce-rejected: the adapter rejected packets that it received: ip4InDiscards +3, rxVlanErrors +1"},
		{"no route in irdma", counts{"ip4OutNoRoutes": 3}, "roce-no-route: packets without a route or a neighbour were dropped: ip4OutNoRoutes +3"},
		{"wrong keys", counts{"res_rx_no_perm": 2, "remote_access_err": 1, "req_cqe_error": 1}, "failed-requests: requests failed: remote_access_err +1, res_rx_no_perm +2"},
		{"memory that efa did not register", counts{"reg_mr_err": 2}, "failed-requests: requests failed: reg_mr_err +2"},
		{"adapter that does not answer", counts{"no_completion_cmds": 1, "res_tx_pci_err": 1}, "adapter-errors: the adapter counts errors of its own: no_completion_cmds +1, res_tx_pci_err +1"},
		{"packets sent again by efa", counts{"retrans_pkts": 60, "retrans_bytes": 5e5}, ""},
		{"another path of efa", counts{"retrans_timeout_events": 2, "retrans_pkts": 60}, "srd-timeouts: packets timed out and took another path: retrans_timeout_events +2"},
		{"unresponsive and impaired peers of efa", counts{"unresponsive_remote_events": 1, "impaired_remote_conn_events": 2},
			"srd-unresponsive: a peer does not respond: unresponsive_remote_events +1\nsrd-impaired: the adapter reduced the rate of connections: impaired_remote_conn_events +2"},
		{"drops of efa", counts{"rx_drops": 4}, "srd-drops: packets were received and dropped: rx_drops +4"},
		{"timeouts of lost packets", counts{"local_ack_timeout_err": 5, "packet_seq_err": 5},
			"roce-loss: packets were lost in the network: packet_seq_err +5, local_ack_timeout_err +5"},
		{"receiver not ready", counts{"rnr_nak_retry_err": 6, "out_of_buffer": 2}, "roce-not-ready: no receive buffer was posted: out_of_buffer +2, rnr_nak_retry_err +6"},
		{"pauses without notifications", counts{"np_cnp_sent": 0, "rp_cnp_handled": 0, "ethtool_rx_prio3_pause": 5000},
			"roce-pauses: pauses, and no congestion notification: ethtool_rx_prio3_pause +5000"},
		{"pause storm", counts{"ethtool_rx_prio3_pause": 5000, "ethtool_rx_prio3_pause_duration": 4e6},
			"roce-pause-storm: the peer paused this port for 40% of the time: ethtool_rx_prio3_pause +5000, ethtool_rx_prio3_pause_duration +4000000"},
		{"pause storm that the adapter ended", counts{"ethtool_tx_pause_storm_error_events": 1},
			"roce-pause-storm: the adapter ended pauses that were too long: ethtool_tx_pause_storm_error_events +1"},
		{"pauses without traffic", counts{"ethtool_tx_prio3_pause": 5000, "port_rcv_packets": 90, "ethtool_rx_packets_phy": 100, "np_cnp_sent": 0},
			"roce-idle-pauses: this port paused its peer, with 100 packets in this direction: ethtool_tx_prio3_pause +5000"},
		{"flood of notifications", counts{"rp_cnp_handled": 20e6},
			"roce-notifications: 33.3% as many congestion notifications received, which slow this port down as packets: rp_cnp_handled +20000000, port_xmit_packets +60000000, np_ecn_marked_roce_packets +9000"},
		{"notifications of a slow flow", counts{"rp_cnp_handled": 900, "port_xmit_packets": 1000, "ethtool_tx_packets_phy": 1000}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			increase := maps.Clone(healthyTraffic)
			maps.Copy(increase, test.change)
			var got []string
			for _, f := range Verdicts(&PortSettings{Device: "mlx5_0", Number: 1}, increase, 10) {
				got = append(got, string(f.Kind)+": "+f.Detail)
				if f.Subject != "mlx5_0/1" || *f.Port != 1 || f.Hint == "" {
					t.Errorf("got %+v, want a finding of the port with a next step", f)
				}
			}
			if all := strings.Join(got, "\n"); all != test.want {
				t.Errorf("got\n%s\nwant\n%s", all, test.want)
			}
		})
	}
}

// Without the time of pauses, as in ice, their number counts.
func TestVerdicts_Storm(t *testing.T) {
	found := Verdicts(&PortSettings{}, map[string]uint64{"ethtool_rx_priority_3_xoff.nic": 400e3, "ethtool_rx_priority_4_xoff.nic": 1, "ip4OutPkts": 1e6}, 10)
	if len(found) != 1 || found[0].Kind != report.RoCEPauseStorm || !strings.HasPrefix(found[0].Detail, "the peer paused this port 4e+04 times a second") {
		t.Errorf("got %+v, want a pause storm", found)
	}
	if found := Verdicts(&PortSettings{}, healthyTraffic, 0); found != nil {
		t.Errorf("no window: got %+v, want none", found)
	}
}

func TestCounters(t *testing.T) {
	h := Host{
		Sysfs: testenv.WriteTree(t, map[string]string{
			"class/infiniband/mlx5_0/hw_counters/a":                       "1",
			"class/infiniband/mlx5_0/ports/1/counters/port_xmit_packets":  "2",
			"class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence": "3",
			"class/infiniband/mlx5_0/ports/1/hw_counters/lifespan":        "10",
			"class/net/eth1/statistics/rx_packets":                        "4",
		}),
		Statistics: func(netdev string) (map[string]uint64, error) {
			if netdev == "eth3" {
				return nil, errors.New("no device")
			}
			return map[string]uint64{"rx_prio3_pause": 5, "rx0_packets": 9}, nil
		},
	}
	h.PortCounters = func(device, port uint32) (map[string]uint64, error) {
		return map[string]uint64{"cc_rx_ce_pkts": uint64(10*device + port), "cc_tx_cnp_pkts": 0, "out_of_sequence": 99}, nil
	}
	s := &PortSettings{Device: "mlx5_0", Number: 1, index: new(uint32(7)), Optional: map[string]bool{"cc_rx_ce_pkts": true, "cc_tx_cnp_pkts": false}, Links: []*NetdevSettings{{Netdev: "eth1"}, {Netdev: "eth2"}, {Netdev: "eth3"}}}
	got, problems := h.Counters(s)
	want := map[string]uint64{"a": 1, "port_xmit_packets": 2, "out_of_sequence": 3, "netdev_rx_packets": 4, "ethtool_rx_prio3_pause": 10, "cc_rx_ce_pkts": 71}
	if !maps.Equal(got, want) || len(problems) != 1 {
		t.Errorf("got %v, problems %v, want %v and one problem", got, problems, want)
	}
	before := map[string]uint64{"a": 2, "port_xmit_packets": 2, "out_of_sequence": 1}
	if got, want := Increase(before, got), (map[string]uint64{"port_xmit_packets": 0, "out_of_sequence": 2}); !maps.Equal(got, want) {
		t.Errorf("increase: got %v, want %v", got, want)
	}
}
