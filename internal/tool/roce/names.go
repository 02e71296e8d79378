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

	unroutable     // packets without a route or a neighbour
	rejected       // received packets that the adapter rejected
	failedRequests // requests that failed, at either end
	adapterErrors  // errors of the adapter itself

	pathTimeouts // SRD: timeouts after which the adapter took another path
	unresponsive // SRD: peers that did not respond
	impaired     // SRD: connections with a reduced rate
	srdDropped   // SRD: packets that were received and dropped
)

// hardware are the counters in counters and hw_counters (sysfs) by their names in drivers:
// mlx5, rxe, bnxt_re, irdma, ionic, efa. Linux 7.2 gives many counters of bnxt_re the names of
// mlx5 (bnxt_re_stat_descs), later releases than 6.12 give counters of irdma shorter names
// (irdma_hw_stat_descs); testdata/hw_counters has the lists.
var hardware = map[string]quantity{
	"port_xmit_packets": sent, "rdma_tx_packets": sent, "sent_pkts": sent, "tx_pkts": sent, "ip4OutPkts": sent, "ip6OutPkts": sent,
	"tx_rdma_ucast_pkts": sent,
	"port_rcv_packets":   received, "rdma_rx_packets": received, "rcvd_pkts": received, "rx_pkts": received, "ip4InPkts": received,
	"ip6InPkts": received, "rx_rdma_ucast_pkts": received,

	"out_of_sequence": gaps, "out_of_seq_request": gaps, "oos_drop_count": gaps, "resp_rx_outouf_seq": gaps, "Rcvd Out of order packets": gaps,
	"duplicate_request": duplicates, "dup_req": duplicates, "resp_rx_dup_request": duplicates,

	"packet_seq_err": naks, "implied_nak_seq_err": naks, "rcvd_seq_err": naks, "seq_err_naks_rcvd": naks, "req_rx_pkt_seq_err": naks,
	"req_rx_impl_nak_seq_err": naks, "Nak Sequence Error": naks, "Nak Sequence Error Implied": naks, "missing_resp": naks,

	"local_ack_timeout_err": timeouts, "roce_adp_retrans_to": timeouts, "to_retransmits": timeouts, "tx_rdma_ack_timeout": timeouts,
	"RTO": timeouts,

	"roce_adp_retrans": retries, "RetransSegs": retries, "tcpRetransSegs": retries, "tx_rdma_retx_pkts": retries, "retrans_pkts": retries, "completer_retry_err": retries,
	"req_transport_retries_exceeded": retries, "retry_exceeded_err": retries, "max_retry_exceeded": retries, "req_tx_retry_excd_err": retries,

	"rnr_nak_retry_err": notReady, "out_of_buffer": notReady, "req_rnr_retries_exceeded": notReady, "rcvd_rnr_err": notReady,
	"send_rnr_err": notReady, "retry_rnr_exceeded_err": notReady, "rnr_naks_rcvd": notReady, "rx_out_of_buffer": notReady,
	"req_rx_rnr_retry_err": notReady, "resp_rx_outof_buf": notReady, "RNR sent": notReady, "RNR received": notReady,

	"rx_roce_discards": discards, "tx_roce_discards": discards, "rx_rdma_mtu_discard_pkts": discards,
	"rx_icrc_encapsulated": discards, "CRC errors": discards,

	"np_ecn_marked_roce_packets": marked, "rx_ecn_marked_pkts": marked, "RxECNMrkd": marked, "rx_rdma_ecn_pkts": marked, "cc_rx_ce_pkts": marked,
	"np_cnp_sent": cnpsSent, "np_cnp_pkts": cnpsSent, "tx_cnp_pkts": cnpsSent, "cnpSent": cnpsSent, "tx_rdma_cnp_pkts": cnpsSent, "cc_tx_cnp_pkts": cnpsSent,
	"rp_cnp_handled": cnpsReceived, "rx_cnp_pkts": cnpsReceived, "cnpHandled": cnpsReceived, "rx_rdma_cnp_pkts": cnpsReceived,
	"cc_rx_cnp_pkts": cnpsReceived,

	"ip4OutNoRoutes": unroutable, "ip6OutNoRoutes": unroutable,
	"ip4InDiscards": rejected, "ip6InDiscards": rejected, "ip4InTruncatedPkts": rejected, "ip6InTruncatedPkts": rejected,
	"rxVlanErrors": rejected, "InOptErrors": rejected, "InProtoErrors": rejected, "tcpInOptErrors": rejected, "tcpInProtoErrors": rejected,
	"rx_roce_errors": rejected,

	"bad_resp_err": failedRequests, "local_qp_op_err": failedRequests, "local_protection_err": failedRequests, "mem_mgmt_op_err": failedRequests,
	"remote_invalid_req_err": failedRequests, "req_remote_invalid_request": failedRequests, "remote_access_err": failedRequests,
	"req_remote_access_errors": failedRequests, "resp_remote_access_errors": failedRequests, "remote_op_err": failedRequests,
	"res_exceed_max": failedRequests, "res_length_mismatch": failedRequests, "resp_local_length_error": failedRequests,
	"res_exceeds_wqe": failedRequests, "res_opcode_err": failedRequests, "res_unsup_opcode": failedRequests,
	"res_rx_invalid_rkey": failedRequests, "res_rx_domain_err": failedRequests, "res_rx_no_perm": failedRequests, "res_rx_range_err": failedRequests,
	"res_tx_invalid_rkey": failedRequests, "res_tx_domain_err": failedRequests, "res_tx_no_perm": failedRequests, "res_tx_range_err": failedRequests,
	"res_irrq_oflow": failedRequests, "res_unaligned_atomic": failedRequests, "res_rem_inv_err": failedRequests, "res_srq_err": failedRequests,
	"res_cmp_err": failedRequests, "res_invalid_dup_rkey": failedRequests, "res_wqe_format_err": failedRequests,
	"rdma_read_wr_err": failedRequests, "rdma_write_wr_err": failedRequests, "alloc_pd_err": failedRequests, "create_qp_err": failedRequests,
	"create_cq_err": failedRequests, "reg_mr_err": failedRequests, "alloc_ucontext_err": failedRequests, "create_ah_err": failedRequests,
	"mmap_err": failedRequests,

	"unrecoverable_err": adapterErrors, "res_mem_err": adapterErrors, "res_cq_load_err": adapterErrors, "res_srq_load_err": adapterErrors,
	"res_tx_pci_err": adapterErrors, "res_rx_pci_err": adapterErrors, "tx_roce_errors": adapterErrors,
	"cmds_err": adapterErrors, "no_completion_cmds": adapterErrors,

	"retrans_timeout_events": pathTimeouts, "unresponsive_remote_events": unresponsive, "impaired_remote_conn_events": impaired, "rx_drops": srdDropped,

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

// Judges reports whether [Verdicts] uses a counter.
func Judges(name string) bool {
	_, _, known := meaning(name)
	return known
}
