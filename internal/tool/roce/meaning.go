package roce

import "strings"

// texts are the meanings of quantities.
var texts = map[quantity]string{
	sent: "RDMA packets sent", received: "RDMA packets received", wireSent: "packets sent, of all kinds", wireReceived: "packets received, of all kinds",
	gaps: "packets out of sequence", duplicates: "packets that arrived before", naks: "NAK for a gap received",
	timeouts: "timeouts without an acknowledgement", retries: "packets sent again, or retries exceeded", notReady: "no receive buffer (RNR)",
	discards: "RDMA packets dropped", dropped: "packets dropped, of all kinds",
	marked: "packets with a congestion mark", cnpsSent: "congestion notifications sent", cnpsReceived: "congestion notifications received",
	pausesSent: "pauses sent", pausesReceived: "pauses received", pausedPeer: "µs of pauses sent", pausedLocal: "µs of pauses received",
	storms:     "pauses that were too long",
	unroutable: "packets without a route or a neighbour", rejected: "received packets rejected", failedRequests: "requests failed",
	adapterErrors: "errors of the adapter", pathTimeouts: "SRD timeouts, then another path", unresponsive: "SRD peers without a response",
	impaired: "SRD connections with a reduced rate", srdDropped: "packets received and dropped",
}

// names are the meanings of counters with a quantity that is too general, or without any. A #
// stands for any text. Sources: roce_hsi.h and hw_counters.c of bnxt_re, verbs.c of irdma,
// efa_verbs.c and AWS's documentation of EFA metrics.
var names = map[string]string{
	// bnxt_re: the prefix res_ is the responder; rx and tx its receives and its replies.
	"bad_resp_err": "invalid responses", "local_qp_op_err": "local QP operation errors", "local_protection_err": "local protection errors",
	"mem_mgmt_op_err": "errors of memory windows and fast registration", "remote_op_err": "remote operation errors",
	"remote_invalid_req_err": "remote invalid requests", "req_remote_invalid_request": "remote invalid requests",
	"remote_access_err": "remote access errors", "req_remote_access_errors": "remote access errors", "resp_remote_access_errors": "access errors of peers",
	"res_exceed_max": "messages longer than permitted", "res_length_mismatch": "messages with a wrong length", "resp_local_length_error": "messages with a wrong length",
	"res_exceeds_wqe": "messages longer than the receive buffer", "res_opcode_err": "operations out of order", "res_unsup_opcode": "unknown operations",
	"res_rx_invalid_rkey": "writes with an invalid rkey", "res_rx_domain_err": "writes to another protection domain",
	"res_rx_no_perm": "writes without permission", "res_rx_range_err": "writes beyond the memory region",
	"res_tx_invalid_rkey": "reads with an invalid rkey", "res_tx_domain_err": "reads from another protection domain",
	"res_tx_no_perm": "reads without permission", "res_tx_range_err": "reads beyond the memory region",
	"res_irrq_oflow": "too many reads and atomics at once", "res_unaligned_atomic": "atomics at unaligned addresses",
	"res_rem_inv_err": "errors of remote invalidations", "res_srq_err": "errors of shared receive queues", "res_cmp_err": "errors of completion queues, such as overruns",
	"res_invalid_dup_rkey": "repeated requests with an invalid rkey", "res_wqe_format_err": "receive requests with a wrong format",
	"unrecoverable_err": "errors that end a queue pair", "res_mem_err": "memory errors of the adapter", "res_cq_load_err": "completion queue not loaded",
	"res_srq_load_err": "shared receive queue not loaded", "res_tx_pci_err": "PCI Express errors while reading", "res_rx_pci_err": "PCI Express errors while writing",
	"tx_roce_errors": "RDMA packets not sent", "rx_roce_errors": "RDMA packets with errors",
	"req_cqe_error": "requests that completed with an error", "resp_cqe_error": "receives that completed with an error",
	"active_#": "objects now", "watermark_#": "objects at most", "resize_cq_cnt": "resized completion queues", "recoverable_errors": "recoverable errors",
	"pacing_reschedule": "doorbells slowed down longer", "pacing_complete": "ends of slowed doorbells", "pacing_alerts": "doorbells slowed down: the adapter is behind",
	"db_fifo_register": "register of the doorbell FIFO, not a count",
	"tx_#_req":         "requests sent", "tx_read_resp": "read responses sent", "rx_#_req": "requests received", "rx_#_requests": "requests received",
	"rx_read_resp": "read responses received", "#_roce_only_pkts": "RDMA packets without notifications", "#_roce_only_bytes": "RDMA bytes without notifications",
	"rx_roce_good_pkts": "RDMA packets without errors", "rx_roce_good_bytes": "RDMA bytes without errors",
	"tx_bytes": "RDMA bytes sent", "rx_bytes": "RDMA bytes received",

	// irdma: In is received, Out sent. iw, tcp: the names up to Linux 6.12.
	"ip4InDiscards": "IPv4 packets rejected", "ip6InDiscards": "IPv6 packets rejected", "ip4InTruncatedPkts": "IPv4 packets cut off", "ip6InTruncatedPkts": "IPv6 packets cut off",
	"rxVlanErrors": "packets of another VLAN", "InOptErrors": "segments with wrong options", "InProtoErrors": "segments with protocol errors",
	"tcpInOptErrors": "segments with wrong options", "tcpInProtoErrors": "segments with protocol errors",
	"ip#Octets": "bytes in IP packets", "ip#McastPkts": "multicast packets", "ip#ReasmRqd": "fragments received", "ip#SegRqd": "packets that were fragmented",
	"InSegs": "segments received", "OutSegs": "segments sent", "tcpInSegs": "segments received", "tcpOutSegs": "segments sent",
	"InRdma#": "requests received", "OutRdma#": "requests sent", "iwInRdma#": "requests received", "iwOutRdma#": "requests sent",
	"RdmaBnd": "memory window binds", "RdmaInv": "invalidations", "iwRdmaBnd": "memory window binds", "iwRdmaInv": "invalidations",
	"RxUDP": "UDP packets received", "TxUDP": "UDP packets sent", "cnpIgnored": "congestion notifications ignored",
	"ord limit count": "reads that waited: too many were outstanding", "ird limit count": "reads received beyond the limit",
	"Rx atomics": "atomics received", "Tx atomics": "atomics sent",

	// efa
	"submitted_cmds": "commands of the driver", "completed_cmds": "completed commands of the driver", "cmds_err": "commands that the adapter did not take",
	"no_completion_cmds": "commands without a completion", "keep_alive_rcvd": "signs of life of the adapter",
	"alloc_pd_err": "protection domains not created", "create_qp_err": "queue pairs not created", "create_cq_err": "completion queues not created",
	"reg_mr_err": "memory not registered", "alloc_ucontext_err": "devices not opened", "create_ah_err": "addresses not created", "mmap_err": "queues not mapped",
	"send_bytes": "bytes in sends", "send_wrs": "sends completed", "recv_bytes": "bytes in receives", "recv_wrs": "receives completed",
	"rdma_read_wrs": "reads completed", "rdma_read_bytes": "bytes read", "rdma_read_wr_err": "reads failed", "rdma_read_resp_bytes": "bytes read by peers",
	"rdma_write_wrs": "writes completed", "rdma_write_bytes": "bytes written", "rdma_write_wr_err": "writes failed", "rdma_write_recv_bytes": "bytes written by peers",
	"retrans_bytes": "bytes sent again",
}

// Meaning returns the meaning of a counter; "" for an unknown counter.
func Meaning(name string) string {
	if text := names[name]; text != "" {
		return text
	}
	if q, _, known := meaning(name); known {
		return texts[q]
	}
	for pattern, text := range names {
		before, after, isPattern := strings.Cut(pattern, "#")
		if isPattern && len(name) > len(pattern)-1 && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			return text
		}
	}
	return ""
}

// Trouble returns the meaning of a counter in sysfs that is a sign of loss, congestion or
// errors; "" for other counters.
func Trouble(name string) string {
	if q, known := hardware[name]; known && q >= gaps && q != marked {
		return Meaning(name)
	}
	return ""
}

// Notifies reports whether a counter in sysfs counts congestion marks or notifications.
func Notifies(name string) bool {
	switch q, known := hardware[name]; q {
	case marked, cnpsSent, cnpsReceived:
		return known
	}
	return false
}
