package roce

import (
	"strconv"
	"strings"
)

// A quantity is a meaning of a counter.
type quantity int

// Quantities. The sender of a request is its requester, the other end its responder.
const (
	sent         quantity = iota // RDMA packets
	received                     // RDMA packets
	wireSent                     // packets of all kinds
	wireReceived                 // packets of all kinds
	gaps                         // responder: packets out of sequence
	duplicates                   // responder: packets that arrived before
	naks                         // requester: a responder reported a gap
	timeouts                     // requester: no acknowledgement
	retries                      // packets sent again, or retries exceeded
	notReady                     // no receive buffer was posted
	discards                     // RDMA packets that the adapter dropped
	dropped                      // packets of all kinds that the adapter dropped
	marked                       // packets with a congestion mark
	cnpsSent                     // congestion notifications
	cnpsReceived
	pausesSent
	pausesReceived
	pausedPeer  // time for which pauses were sent, in µs
	pausedLocal // time for which pauses were received, in µs
	storms      // pauses that the adapter ended
)

// hardware are the counters in counters and hw_counters (sysfs) by their names in drivers:
// mlx5, rxe, bnxt_re, irdma, ionic, efa.
var hardware = map[string]quantity{
	"port_xmit_packets": sent, "rdma_tx_packets": sent, "sent_pkts": sent, "tx_pkts": sent, "ip4OutPkts": sent, "ip6OutPkts": sent,
	"tx_rdma_ucast_pkts": sent,
	"port_rcv_packets":   received, "rdma_rx_packets": received, "rcvd_pkts": received, "rx_pkts": received, "ip4InPkts": received,
	"ip6InPkts": received, "rx_rdma_ucast_pkts": received,

	"out_of_sequence": gaps, "out_of_seq_request": gaps, "oos_drop_count": gaps, "resp_rx_outouf_seq": gaps, "Rcvd Out of order packets": gaps,
	"duplicate_request": duplicates, "dup_req": duplicates, "resp_rx_dup_request": duplicates,

	"packet_seq_err": naks, "implied_nak_seq_err": naks, "rcvd_seq_err": naks, "seq_err_naks_rcvd": naks, "req_rx_pkt_seq_err": naks,
	"req_rx_impl_nak_seq_err": naks, "Nak Sequence Error": naks, "Nak Sequence Error Implied": naks,

	"local_ack_timeout_err": timeouts, "roce_adp_retrans_to": timeouts, "to_retransmits": timeouts, "tx_rdma_ack_timeout": timeouts,
	"retrans_timeout_events": timeouts, "unresponsive_remote_events": timeouts, "RTO": timeouts,

	"roce_adp_retrans": retries, "RetransSegs": retries, "tx_rdma_retx_pkts": retries, "retrans_pkts": retries, "completer_retry_err": retries,
	"req_transport_retries_exceeded": retries, "retry_exceeded_err": retries, "max_retry_exceeded": retries, "req_tx_retry_excd_err": retries,

	"rnr_nak_retry_err": notReady, "out_of_buffer": notReady, "req_rnr_retries_exceeded": notReady, "rcvd_rnr_err": notReady,
	"send_rnr_err": notReady, "retry_rnr_exceeded_err": notReady, "rnr_naks_rcvd": notReady, "rx_out_of_buffer": notReady,
	"req_rx_rnr_retry_err": notReady, "resp_rx_outof_buf": notReady, "RNR sent": notReady, "RNR received": notReady,

	"rx_roce_discards": discards, "tx_roce_discards": discards, "rx_drops": discards, "rx_rdma_mtu_discard_pkts": discards,
	"rx_icrc_encapsulated": discards, "CRC errors": discards,

	"np_ecn_marked_roce_packets": marked, "rx_ecn_marked_pkts": marked, "RxECNMrkd": marked, "rx_rdma_ecn_pkts": marked, "cc_rx_ce_pkts": marked,
	"np_cnp_sent": cnpsSent, "tx_cnp_pkts": cnpsSent, "cnpSent": cnpsSent, "tx_rdma_cnp_pkts": cnpsSent, "cc_tx_cnp_pkts": cnpsSent,
	"rp_cnp_handled": cnpsReceived, "rx_cnp_pkts": cnpsReceived, "cnpHandled": cnpsReceived, "rx_rdma_cnp_pkts": cnpsReceived,
	"cc_rx_cnp_pkts": cnpsReceived,

	"netdev_tx_packets": wireSent, "netdev_rx_packets": wireReceived,
}

// statistics are the statistics of network devices (ethtool -S) by their names in drivers:
// mlx5, bnxt_en, ice, ionic, ena. A # stands for a priority.
var statistics = map[string]quantity{
	"tx_vport_rdma_unicast_packets": sent, "rx_vport_rdma_unicast_packets": received,
	"tx_packets_phy": wireSent, "rx_packets_phy": wireReceived,
	"tx_prio#_pause": pausesSent, "rx_prio#_pause": pausesReceived, "tx_global_pause": pausesSent, "rx_global_pause": pausesReceived,
	"tx_pause_ctrl_phy": pausesSent, "rx_pause_ctrl_phy": pausesReceived,
	"tx_prio#_pause_duration": pausedPeer, "rx_prio#_pause_duration": pausedLocal,
	"tx_global_pause_duration": pausedPeer, "rx_global_pause_duration": pausedLocal,
	"tx_pause_storm_warning_events": storms, "tx_pause_storm_error_events": storms,
	"rx_discards_phy": dropped, "rx_prio#_discards": dropped, "rx_prio#_buf_discard": dropped, "rx_prio#_cong_discard": dropped,

	"tx_pfc_ena_frames_pri#": pausesSent, "rx_pfc_ena_frames_pri#": pausesReceived, "tx_pause_frames": pausesSent, "rx_pause_frames": pausesReceived,
	"pfc_pri#_tx_duration_us": pausedPeer, "pfc_pri#_rx_duration_us": pausedLocal,
	"pfc_wd_storms_detected_p#": storms, "rx_stat_discard": dropped, "tx_total_frames": wireSent, "rx_total_frames": wireReceived,

	"tx_priority_#_xoff.nic": pausesSent, "rx_priority_#_xoff.nic": pausesReceived, "link_xoff_tx.nic": pausesSent, "link_xoff_rx.nic": pausesReceived,
	"rx_dropped.nic": dropped,

	"frames_tx_pripause": pausesSent, "frames_rx_pripause": pausesReceived, "frames_tx_pause": pausesSent, "frames_rx_pause": pausesReceived,
	"tx_pripause_#_1us_count": pausedPeer, "rx_pripause_#_1us_count": pausedLocal, "frames_rx_dropped": dropped,
	"frames_tx_all": wireSent, "frames_rx_all": wireReceived,

	"bw_in_allowance_exceeded": dropped, "bw_out_allowance_exceeded": dropped, "pps_allowance_exceeded": dropped,
}

// StatisticPrefix distinguishes statistics of network devices from the counters of sysfs.
const StatisticPrefix = "ethtool_"

// meaning returns the quantity of a counter, and its family: the counters of all priorities
// are a family.
func meaning(name string) (q quantity, family string, known bool) {
	statistic, is := strings.CutPrefix(name, StatisticPrefix)
	if !is {
		q, known = hardware[name]
		return q, name, known
	}
	if q, known = statistics[statistic]; known {
		return q, name, true
	}
	for priority := range 8 {
		family = strings.Replace(statistic, strconv.Itoa(priority), "#", 1)
		if q, known = statistics[family]; known {
			return q, family, true
		}
	}
	return 0, "", false
}

// texts are the meanings of statistics of network devices.
var texts = map[quantity]string{
	dropped: "packets dropped, of all kinds", pausesSent: "pauses sent", pausesReceived: "pauses received",
	pausedPeer: "µs of pauses sent", pausedLocal: "µs of pauses received", storms: "pauses that were too long",
}

// Meaning returns the meaning of a statistic of a network device that explains slow traffic;
// "" for other counters.
func Meaning(name string) string {
	q, _, known := meaning(name)
	if !known {
		return ""
	}
	return texts[q]
}

// Judges reports whether [Verdicts] uses a counter.
func Judges(name string) bool {
	_, _, known := meaning(name)
	return known
}
