package uapi

import (
	"testing"
	"unsafe"
)

// vmw_pvrdma's queues have the layouts of a C compiler with the headers of
// linux-libc-dev 6.1, printed by testdata/pvrdma.c.
func TestPVRDMA(t *testing.T) {
	l := layouts{}
	{
		var x PVRDMAAllocUcontextResp
		l.add("pvrdma_alloc_ucontext_resp", unsafe.Sizeof(x), map[string]uintptr{
			"qp_tab_size": unsafe.Offsetof(x.QPTabSize),
		})
	}
	{
		var x PVRDMACreateCQ
		l.add("pvrdma_create_cq", unsafe.Sizeof(x), map[string]uintptr{
			"buf_addr": unsafe.Offsetof(x.BufAddr),
			"buf_size": unsafe.Offsetof(x.BufSize),
		})
	}
	{
		var x PVRDMACreateCQResp
		l.add("pvrdma_create_cq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"cqn": unsafe.Offsetof(x.CQN),
		})
	}
	{
		var x PVRDMACreateSRQ
		l.add("pvrdma_create_srq", unsafe.Sizeof(x), map[string]uintptr{
			"buf_addr": unsafe.Offsetof(x.BufAddr),
			"buf_size": unsafe.Offsetof(x.BufSize),
		})
	}
	{
		var x PVRDMACreateSRQResp
		l.add("pvrdma_create_srq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"srqn": unsafe.Offsetof(x.SRQN),
		})
	}
	{
		var x PVRDMACreateQP
		l.add("pvrdma_create_qp", unsafe.Sizeof(x), map[string]uintptr{
			"rbuf_addr": unsafe.Offsetof(x.RBufAddr),
			"sbuf_addr": unsafe.Offsetof(x.SBufAddr),
			"rbuf_size": unsafe.Offsetof(x.RBufSize),
			"sbuf_size": unsafe.Offsetof(x.SBufSize),
			"qp_addr":   unsafe.Offsetof(x.QPAddr),
		})
	}
	{
		var x PVRDMACreateQPResp
		l.add("pvrdma_create_qp_resp", unsafe.Sizeof(x), map[string]uintptr{
			"qpn":       unsafe.Offsetof(x.QPN),
			"qp_handle": unsafe.Offsetof(x.QPHandle),
		})
	}
	{
		var x PVRDMAAV
		l.add("pvrdma_av", unsafe.Sizeof(x), map[string]uintptr{
			"port_pd":             unsafe.Offsetof(x.PortPD),
			"sl_tclass_flowlabel": unsafe.Offsetof(x.SLTClassFlowLabel),
			"dgid":                unsafe.Offsetof(x.DGID),
			"src_path_bits":       unsafe.Offsetof(x.SrcPathBits),
			"gid_index":           unsafe.Offsetof(x.GIDIndex),
			"stat_rate":           unsafe.Offsetof(x.StatRate),
			"hop_limit":           unsafe.Offsetof(x.HopLimit),
			"dmac":                unsafe.Offsetof(x.DMAC),
		})
	}
	{
		var x PVRDMASGE
		l.add("pvrdma_sge", unsafe.Sizeof(x), map[string]uintptr{
			"addr":   unsafe.Offsetof(x.Addr),
			"length": unsafe.Offsetof(x.Length),
			"lkey":   unsafe.Offsetof(x.LKey),
		})
	}
	{
		var x PVRDMARecvHeader
		l.add("pvrdma_rq_wqe_hdr", unsafe.Sizeof(x), map[string]uintptr{
			"wr_id":     unsafe.Offsetof(x.WRID),
			"num_sge":   unsafe.Offsetof(x.NumSGE),
			"total_len": unsafe.Offsetof(x.TotalLen),
		})
	}
	{
		var x PVRDMASendHeader
		l.add("pvrdma_sq_wqe_hdr", unsafe.Sizeof(x), map[string]uintptr{
			"wr_id":      unsafe.Offsetof(x.WRID),
			"num_sge":    unsafe.Offsetof(x.NumSGE),
			"total_len":  unsafe.Offsetof(x.TotalLen),
			"opcode":     unsafe.Offsetof(x.Opcode),
			"send_flags": unsafe.Offsetof(x.SendFlags),
			"ex":         unsafe.Offsetof(x.Imm),
			"wr":         unsafe.Offsetof(x.WR),
		})
	}
	{
		var x PVRDMACQE
		l.add("pvrdma_cqe", unsafe.Sizeof(x), map[string]uintptr{
			"wr_id":            unsafe.Offsetof(x.WRID),
			"qp":               unsafe.Offsetof(x.QP),
			"opcode":           unsafe.Offsetof(x.Opcode),
			"status":           unsafe.Offsetof(x.Status),
			"byte_len":         unsafe.Offsetof(x.ByteLen),
			"imm_data":         unsafe.Offsetof(x.Imm),
			"src_qp":           unsafe.Offsetof(x.SrcQP),
			"wc_flags":         unsafe.Offsetof(x.WCFlags),
			"vendor_err":       unsafe.Offsetof(x.VendorErr),
			"pkey_index":       unsafe.Offsetof(x.PKeyIndex),
			"slid":             unsafe.Offsetof(x.SLID),
			"sl":               unsafe.Offsetof(x.SL),
			"dlid_path_bits":   unsafe.Offsetof(x.DLIDPathBits),
			"port_num":         unsafe.Offsetof(x.PortNum),
			"smac":             unsafe.Offsetof(x.SMAC),
			"network_hdr_type": unsafe.Offsetof(x.NetworkType),
		})
	}
	{
		var x PVRDMARDMA
		l.add("rdma", unsafe.Sizeof(x), map[string]uintptr{
			"remote_addr": unsafe.Offsetof(x.RemoteAddr),
			"rkey":        unsafe.Offsetof(x.RKey),
		})
	}
	{
		var x PVRDMAAtomic
		l.add("atomic", unsafe.Sizeof(x), map[string]uintptr{
			"remote_addr": unsafe.Offsetof(x.RemoteAddr),
			"compare_add": unsafe.Offsetof(x.CompareAdd),
			"swap":        unsafe.Offsetof(x.Swap),
			"rkey":        unsafe.Offsetof(x.RKey),
		})
	}
	{
		var x PVRDMADatagram
		l.add("ud", unsafe.Sizeof(x), map[string]uintptr{
			"remote_qpn":  unsafe.Offsetof(x.RemoteQPN),
			"remote_qkey": unsafe.Offsetof(x.RemoteQKey),
			"av":          unsafe.Offsetof(x.AV),
		})
	}
	l["PVRDMA_UAR_QP_OFFSET"] = PVRDMAUARQP
	l["PVRDMA_UAR_QP_SEND"] = PVRDMAUARQPSend
	l["PVRDMA_UAR_QP_RECV"] = PVRDMAUARQPRecv
	l["PVRDMA_UAR_CQ_OFFSET"] = PVRDMAUARCQ
	l["PVRDMA_UAR_CQ_ARM_SOL"] = PVRDMAUARCQArmSol
	l["PVRDMA_UAR_CQ_ARM"] = PVRDMAUARCQArm
	l["PVRDMA_UAR_CQ_POLL"] = PVRDMAUARCQPoll
	l["PVRDMA_UAR_SRQ_OFFSET"] = PVRDMAUARSRQ
	l["PVRDMA_UAR_SRQ_RECV"] = PVRDMAUARSRQRecv
	l["PVRDMA_WC_GRH"] = PVRDMAWCGRH
	l["PVRDMA_WC_WITH_IMM"] = PVRDMAWCWithImm
	compare(t, l, "testdata/pvrdma.txt")
}
