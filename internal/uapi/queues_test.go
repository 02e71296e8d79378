package uapi

import (
	"testing"
	"unsafe"
)

// Queues and objects have the layouts of a C compiler with the headers of
// linux-libc-dev 6.1, printed by testdata/queues.c.
func TestQueues(t *testing.T) {
	l := layouts{}
	{
		var x AllocPDResp
		l.add("ib_uverbs_alloc_pd_resp", unsafe.Sizeof(x), map[string]uintptr{
			"pd_handle": unsafe.Offsetof(x.Handle),
		})
	}
	{
		var x RegMR
		l.add("ib_uverbs_reg_mr", unsafe.Sizeof(x), map[string]uintptr{
			"response":     unsafe.Offsetof(x.Response),
			"start":        unsafe.Offsetof(x.Start),
			"length":       unsafe.Offsetof(x.Length),
			"hca_va":       unsafe.Offsetof(x.HCAVA),
			"pd_handle":    unsafe.Offsetof(x.PDHandle),
			"access_flags": unsafe.Offsetof(x.AccessFlags),
		})
	}
	{
		var x RegMRResp
		l.add("ib_uverbs_reg_mr_resp", unsafe.Sizeof(x), map[string]uintptr{
			"mr_handle": unsafe.Offsetof(x.Handle),
			"lkey":      unsafe.Offsetof(x.LKey),
			"rkey":      unsafe.Offsetof(x.RKey),
		})
	}
	{
		var x AllocMW
		l.add("ib_uverbs_alloc_mw", unsafe.Sizeof(x), map[string]uintptr{
			"response":  unsafe.Offsetof(x.Response),
			"pd_handle": unsafe.Offsetof(x.PDHandle),
			"mw_type":   unsafe.Offsetof(x.Type),
		})
	}
	{
		var x AllocMWResp
		l.add("ib_uverbs_alloc_mw_resp", unsafe.Sizeof(x), map[string]uintptr{
			"mw_handle": unsafe.Offsetof(x.Handle),
			"rkey":      unsafe.Offsetof(x.RKey),
		})
	}
	{
		var x GlobalRoute
		l.add("ib_uverbs_global_route", unsafe.Sizeof(x), map[string]uintptr{
			"dgid":          unsafe.Offsetof(x.DGID),
			"flow_label":    unsafe.Offsetof(x.FlowLabel),
			"sgid_index":    unsafe.Offsetof(x.SGIDIndex),
			"hop_limit":     unsafe.Offsetof(x.HopLimit),
			"traffic_class": unsafe.Offsetof(x.TrafficClass),
		})
	}
	{
		var x AHAttr
		l.add("ib_uverbs_ah_attr", unsafe.Sizeof(x), map[string]uintptr{
			"grh":           unsafe.Offsetof(x.GRH),
			"dlid":          unsafe.Offsetof(x.DLID),
			"sl":            unsafe.Offsetof(x.SL),
			"src_path_bits": unsafe.Offsetof(x.SrcPathBits),
			"static_rate":   unsafe.Offsetof(x.StaticRate),
			"is_global":     unsafe.Offsetof(x.IsGlobal),
			"port_num":      unsafe.Offsetof(x.PortNum),
		})
	}
	{
		var x CreateAH
		l.add("ib_uverbs_create_ah", unsafe.Sizeof(x), map[string]uintptr{
			"response":    unsafe.Offsetof(x.Response),
			"user_handle": unsafe.Offsetof(x.UserHandle),
			"pd_handle":   unsafe.Offsetof(x.PDHandle),
			"attr":        unsafe.Offsetof(x.Attr),
		})
	}
	{
		var x CreateAHResp
		l.add("ib_uverbs_create_ah_resp", unsafe.Sizeof(x), map[string]uintptr{
			"ah_handle": unsafe.Offsetof(x.Handle),
		})
	}
	{
		var x QPCap
		l.add("ib_uverbs_qp_cap", unsafe.Sizeof(x), map[string]uintptr{
			"max_send_wr":     unsafe.Offsetof(x.MaxSendWR),
			"max_recv_wr":     unsafe.Offsetof(x.MaxRecvWR),
			"max_send_sge":    unsafe.Offsetof(x.MaxSendSGE),
			"max_recv_sge":    unsafe.Offsetof(x.MaxRecvSGE),
			"max_inline_data": unsafe.Offsetof(x.MaxInline),
		})
	}
	{
		var x QPDest
		l.add("ib_uverbs_qp_dest", unsafe.Sizeof(x), map[string]uintptr{
			"dgid":          unsafe.Offsetof(x.DGID),
			"flow_label":    unsafe.Offsetof(x.FlowLabel),
			"dlid":          unsafe.Offsetof(x.DLID),
			"sgid_index":    unsafe.Offsetof(x.SGIDIndex),
			"hop_limit":     unsafe.Offsetof(x.HopLimit),
			"traffic_class": unsafe.Offsetof(x.TrafficClass),
			"sl":            unsafe.Offsetof(x.SL),
			"src_path_bits": unsafe.Offsetof(x.SrcPathBits),
			"static_rate":   unsafe.Offsetof(x.StaticRate),
			"is_global":     unsafe.Offsetof(x.IsGlobal),
			"port_num":      unsafe.Offsetof(x.PortNum),
		})
	}
	{
		var x QueryQP
		l.add("ib_uverbs_query_qp", unsafe.Sizeof(x), map[string]uintptr{
			"response":  unsafe.Offsetof(x.Response),
			"qp_handle": unsafe.Offsetof(x.QPHandle),
			"attr_mask": unsafe.Offsetof(x.AttrMask),
		})
	}
	{
		var x QueryQPResp
		l.add("ib_uverbs_query_qp_resp", unsafe.Sizeof(x), map[string]uintptr{
			"dest":               unsafe.Offsetof(x.Dest),
			"alt_dest":           unsafe.Offsetof(x.AltDest),
			"max_send_wr":        unsafe.Offsetof(x.MaxSendWR),
			"max_recv_wr":        unsafe.Offsetof(x.MaxRecvWR),
			"max_send_sge":       unsafe.Offsetof(x.MaxSendSGE),
			"max_recv_sge":       unsafe.Offsetof(x.MaxRecvSGE),
			"max_inline_data":    unsafe.Offsetof(x.MaxInline),
			"qkey":               unsafe.Offsetof(x.QKey),
			"rq_psn":             unsafe.Offsetof(x.RQPSN),
			"sq_psn":             unsafe.Offsetof(x.SQPSN),
			"dest_qp_num":        unsafe.Offsetof(x.DestQPNum),
			"qp_access_flags":    unsafe.Offsetof(x.AccessFlags),
			"pkey_index":         unsafe.Offsetof(x.PKeyIndex),
			"alt_pkey_index":     unsafe.Offsetof(x.AltPKeyIndex),
			"qp_state":           unsafe.Offsetof(x.State),
			"cur_qp_state":       unsafe.Offsetof(x.CurState),
			"path_mtu":           unsafe.Offsetof(x.PathMTU),
			"path_mig_state":     unsafe.Offsetof(x.PathMigState),
			"sq_draining":        unsafe.Offsetof(x.SQDraining),
			"max_rd_atomic":      unsafe.Offsetof(x.MaxRdAtomic),
			"max_dest_rd_atomic": unsafe.Offsetof(x.MaxDestRdAtomic),
			"min_rnr_timer":      unsafe.Offsetof(x.MinRNRTimer),
			"port_num":           unsafe.Offsetof(x.PortNum),
			"timeout":            unsafe.Offsetof(x.Timeout),
			"retry_cnt":          unsafe.Offsetof(x.RetryCnt),
			"rnr_retry":          unsafe.Offsetof(x.RNRRetry),
			"alt_port_num":       unsafe.Offsetof(x.AltPortNum),
			"alt_timeout":        unsafe.Offsetof(x.AltTimeout),
			"sq_sig_all":         unsafe.Offsetof(x.SQSigAll),
		})
	}
	{
		var x OpenXRCD
		l.add("ib_uverbs_open_xrcd", unsafe.Sizeof(x), map[string]uintptr{
			"response": unsafe.Offsetof(x.Response),
			"fd":       unsafe.Offsetof(x.FD),
			"oflags":   unsafe.Offsetof(x.OFlags),
		})
	}
	{
		var x OpenXRCDResp
		l.add("ib_uverbs_open_xrcd_resp", unsafe.Sizeof(x), map[string]uintptr{
			"xrcd_handle": unsafe.Offsetof(x.Handle),
		})
	}
	{
		var x OpenQP
		l.add("ib_uverbs_open_qp", unsafe.Sizeof(x), map[string]uintptr{
			"response":    unsafe.Offsetof(x.Response),
			"user_handle": unsafe.Offsetof(x.UserHandle),
			"pd_handle":   unsafe.Offsetof(x.PDHandle),
			"qpn":         unsafe.Offsetof(x.QPN),
			"qp_type":     unsafe.Offsetof(x.QPType),
		})
	}
	{
		var x CreateQPResp
		l.add("ib_uverbs_create_qp_resp", unsafe.Sizeof(x), map[string]uintptr{
			"qp_handle":   unsafe.Offsetof(x.QPHandle),
			"qpn":         unsafe.Offsetof(x.QPN),
			"max_send_wr": unsafe.Offsetof(x.QPCap),
		})
	}
	{
		var x AttachMcast
		for _, name := range []string{"ib_uverbs_attach_mcast", "ib_uverbs_detach_mcast"} {
			l.add(name, unsafe.Sizeof(x), map[string]uintptr{
				"gid":       unsafe.Offsetof(x.GID),
				"qp_handle": unsafe.Offsetof(x.QPHandle),
				"mlid":      unsafe.Offsetof(x.MLID),
			})
		}
	}
	{
		var x ModifyQP
		l.add("ib_uverbs_modify_qp", unsafe.Sizeof(x), map[string]uintptr{
			"dest":                unsafe.Offsetof(x.Dest),
			"alt_dest":            unsafe.Offsetof(x.AltDest),
			"qp_handle":           unsafe.Offsetof(x.QPHandle),
			"attr_mask":           unsafe.Offsetof(x.AttrMask),
			"qkey":                unsafe.Offsetof(x.QKey),
			"rq_psn":              unsafe.Offsetof(x.RQPSN),
			"sq_psn":              unsafe.Offsetof(x.SQPSN),
			"dest_qp_num":         unsafe.Offsetof(x.DestQPNum),
			"qp_access_flags":     unsafe.Offsetof(x.AccessFlags),
			"pkey_index":          unsafe.Offsetof(x.PKeyIndex),
			"alt_pkey_index":      unsafe.Offsetof(x.AltPKeyIndex),
			"qp_state":            unsafe.Offsetof(x.State),
			"cur_qp_state":        unsafe.Offsetof(x.CurState),
			"path_mtu":            unsafe.Offsetof(x.PathMTU),
			"path_mig_state":      unsafe.Offsetof(x.PathMigState),
			"en_sqd_async_notify": unsafe.Offsetof(x.EnSQDAsyncNotify),
			"max_rd_atomic":       unsafe.Offsetof(x.MaxRdAtomic),
			"max_dest_rd_atomic":  unsafe.Offsetof(x.MaxDestRdAtomic),
			"min_rnr_timer":       unsafe.Offsetof(x.MinRNRTimer),
			"port_num":            unsafe.Offsetof(x.PortNum),
			"timeout":             unsafe.Offsetof(x.Timeout),
			"retry_cnt":           unsafe.Offsetof(x.RetryCnt),
			"rnr_retry":           unsafe.Offsetof(x.RNRRetry),
			"alt_port_num":        unsafe.Offsetof(x.AltPortNum),
			"alt_timeout":         unsafe.Offsetof(x.AltTimeout),
		})
	}
	{
		var x CreateCompChannelResp
		l.add("ib_uverbs_create_comp_channel_resp", unsafe.Sizeof(x), map[string]uintptr{
			"fd": unsafe.Offsetof(x.FD),
		})
	}
	{
		var x CompEvent
		l.add("ib_uverbs_comp_event_desc", unsafe.Sizeof(x), map[string]uintptr{
			"cq_handle": unsafe.Offsetof(x.CQHandle),
		})
	}
	{
		var x ReqNotifyCQ
		l.add("ib_uverbs_req_notify_cq", unsafe.Sizeof(x), map[string]uintptr{
			"cq_handle":      unsafe.Offsetof(x.CQHandle),
			"solicited_only": unsafe.Offsetof(x.SolicitedOnly),
		})
	}
	{
		var x ExModifyCQ
		l.add("ib_uverbs_ex_modify_cq", unsafe.Sizeof(x), map[string]uintptr{
			"cq_handle":      unsafe.Offsetof(x.CQHandle),
			"attr_mask":      unsafe.Offsetof(x.AttrMask),
			"attr.cq_count":  unsafe.Offsetof(x.Count),
			"attr.cq_period": unsafe.Offsetof(x.Period),
		})
	}
	{
		var x ResizeCQ
		l.add("ib_uverbs_resize_cq", unsafe.Sizeof(x), map[string]uintptr{
			"response":  unsafe.Offsetof(x.Response),
			"cq_handle": unsafe.Offsetof(x.CQHandle),
			"cqe":       unsafe.Offsetof(x.CQE),
		})
	}
	{
		var x ResizeCQResp
		l.add("ib_uverbs_resize_cq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"cqe": unsafe.Offsetof(x.CQE),
		})
	}
	{
		var x DestroyCQResp
		l.add("ib_uverbs_destroy_cq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"comp_events_reported":  unsafe.Offsetof(x.CompEventsReported),
			"async_events_reported": unsafe.Offsetof(x.AsyncEventsReported),
		})
	}
	{
		var x DestroyQP
		l.add("ib_uverbs_destroy_qp", unsafe.Sizeof(x), map[string]uintptr{
			"response":  unsafe.Offsetof(x.Response),
			"qp_handle": unsafe.Offsetof(x.QPHandle),
		})
	}
	{
		var x DestroyQPResp
		l.add("ib_uverbs_destroy_qp_resp", unsafe.Sizeof(x), map[string]uintptr{
			"events_reported": unsafe.Offsetof(x.EventsReported),
		})
	}
	{
		var x DestroyQPResp
		l.add("ib_uverbs_destroy_srq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"events_reported": unsafe.Offsetof(x.EventsReported),
		})
	}
	{
		var x WC
		l.add("ib_uverbs_wc", unsafe.Sizeof(x), map[string]uintptr{
			"wr_id":          unsafe.Offsetof(x.WRID),
			"status":         unsafe.Offsetof(x.Status),
			"opcode":         unsafe.Offsetof(x.Opcode),
			"vendor_err":     unsafe.Offsetof(x.VendorErr),
			"byte_len":       unsafe.Offsetof(x.ByteLen),
			"ex":             unsafe.Offsetof(x.Ex),
			"qp_num":         unsafe.Offsetof(x.QPNum),
			"src_qp":         unsafe.Offsetof(x.SrcQP),
			"wc_flags":       unsafe.Offsetof(x.Flags),
			"pkey_index":     unsafe.Offsetof(x.PKeyIndex),
			"slid":           unsafe.Offsetof(x.SLID),
			"sl":             unsafe.Offsetof(x.SL),
			"dlid_path_bits": unsafe.Offsetof(x.PathBits),
			"port_num":       unsafe.Offsetof(x.PortNum),
		})
	}
	{
		var x CmdHeader
		l.add("ib_uverbs_cmd_hdr", unsafe.Sizeof(x), map[string]uintptr{
			"command":   unsafe.Offsetof(x.Command),
			"in_words":  unsafe.Offsetof(x.InWords),
			"out_words": unsafe.Offsetof(x.OutWords),
		})
	}
	{
		var x PostSend
		l.add("ib_uverbs_post_send", unsafe.Sizeof(x), map[string]uintptr{
			"response":  unsafe.Offsetof(x.Response),
			"qp_handle": unsafe.Offsetof(x.QPHandle),
			"wr_count":  unsafe.Offsetof(x.WRCount),
			"sge_count": unsafe.Offsetof(x.SGECount),
			"wqe_size":  unsafe.Offsetof(x.WQESize),
		})
	}
	{
		var x PostSendResp
		l.add("ib_uverbs_post_send_resp", unsafe.Sizeof(x), map[string]uintptr{
			"bad_wr": unsafe.Offsetof(x.BadWR),
		})
	}
	{
		var x ModifySRQ
		l.add("ib_uverbs_modify_srq", unsafe.Sizeof(x), map[string]uintptr{
			"srq_handle": unsafe.Offsetof(x.SRQHandle),
			"attr_mask":  unsafe.Offsetof(x.AttrMask),
			"max_wr":     unsafe.Offsetof(x.MaxWR),
			"srq_limit":  unsafe.Offsetof(x.SRQLimit),
		})
	}
	{
		var x QuerySRQ
		l.add("ib_uverbs_query_srq", unsafe.Sizeof(x), map[string]uintptr{
			"response":   unsafe.Offsetof(x.Response),
			"srq_handle": unsafe.Offsetof(x.SRQHandle),
		})
	}
	{
		var x QuerySRQResp
		l.add("ib_uverbs_query_srq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"max_wr":    unsafe.Offsetof(x.MaxWR),
			"max_sge":   unsafe.Offsetof(x.MaxSGE),
			"srq_limit": unsafe.Offsetof(x.SRQLimit),
		})
	}
	{
		var x RXEMMInfo
		l.add("mminfo", unsafe.Sizeof(x), map[string]uintptr{
			"offset": unsafe.Offsetof(x.Offset),
			"size":   unsafe.Offsetof(x.Size),
		})
	}
	{
		var x RXECreateCQResp
		l.add("rxe_create_cq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"mi": unsafe.Offsetof(x.MI),
		})
	}
	{
		var x RXECreateQPResp
		l.add("rxe_create_qp_resp", unsafe.Sizeof(x), map[string]uintptr{
			"rq_mi": unsafe.Offsetof(x.RQMI),
			"sq_mi": unsafe.Offsetof(x.SQMI),
		})
	}
	{
		var x RXECreateSRQResp
		l.add("rxe_create_srq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"mi":      unsafe.Offsetof(x.MI),
			"srq_num": unsafe.Offsetof(x.SRQNum),
		})
	}
	{
		var x RXECreateAHResp
		l.add("rxe_create_ah_resp", unsafe.Sizeof(x), map[string]uintptr{
			"ah_num": unsafe.Offsetof(x.AHNum),
		})
	}
	{
		var x RXEModifySRQCmd
		l.add("rxe_modify_srq_cmd", unsafe.Sizeof(x), map[string]uintptr{
			"mmap_info_addr": unsafe.Offsetof(x.MMapInfoAddr),
		})
	}
	{
		var x RXEQueueBuf
		l.add("rxe_queue_buf", unsafe.Sizeof(x), map[string]uintptr{
			"log2_elem_size": unsafe.Offsetof(x.Log2ElemSize),
			"index_mask":     unsafe.Offsetof(x.IndexMask),
			"producer_index": unsafe.Offsetof(x.ProducerIndex),
			"consumer_index": unsafe.Offsetof(x.ConsumerIndex),
		})
	}
	{
		var x RXESGE
		l.add("rxe_sge", unsafe.Sizeof(x), map[string]uintptr{
			"addr":   unsafe.Offsetof(x.Addr),
			"length": unsafe.Offsetof(x.Length),
			"lkey":   unsafe.Offsetof(x.LKey),
		})
	}
	{
		var x RXEDMAInfo
		l.add("rxe_dma_info", unsafe.Sizeof(x), map[string]uintptr{
			"length":     unsafe.Offsetof(x.Length),
			"resid":      unsafe.Offsetof(x.Resid),
			"cur_sge":    unsafe.Offsetof(x.CurSGE),
			"num_sge":    unsafe.Offsetof(x.NumSGE),
			"sge_offset": unsafe.Offsetof(x.SGEOffset),
		})
	}
	{
		var x RXERDMA
		l.add("rxe_send_wr", 0, map[string]uintptr{
			"wr.rdma.remote_addr": unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.RemoteAddr),
			"wr.rdma.rkey":        unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.RKey),
		})
	}
	{
		var x RXEAtomic
		l.add("rxe_send_wr", 0, map[string]uintptr{
			"wr.atomic.remote_addr": unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.RemoteAddr),
			"wr.atomic.compare_add": unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.CompareAdd),
			"wr.atomic.swap":        unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.Swap),
			"wr.atomic.rkey":        unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.RKey),
		})
	}
	{
		var x RXEUD
		l.add("rxe_send_wr", 0, map[string]uintptr{
			"wr.ud.remote_qpn":  unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.RemoteQPN),
			"wr.ud.remote_qkey": unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.QKey),
			"wr.ud.pkey_index":  unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.PKeyIndex),
			"wr.ud.ah_num":      unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.AHNum),
		})
	}
	{
		var x RXEMW
		l.add("rxe_send_wr", 0, map[string]uintptr{
			"wr.mw.addr":    unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.Addr),
			"wr.mw.length":  unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.Length),
			"wr.mw.mr_lkey": unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.MRLKey),
			"wr.mw.mw_rkey": unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.MWRKey),
			"wr.mw.rkey":    unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.RKey),
			"wr.mw.access":  unsafe.Offsetof(RXESendWQE{}.WR) + unsafe.Offsetof(x.Access),
		})
	}
	{
		var x RXESendWQE
		l.add("rxe_send_wqe", unsafe.Sizeof(x), map[string]uintptr{
			"wr.wr_id":      unsafe.Offsetof(x.WRID),
			"wr.opcode":     unsafe.Offsetof(x.Opcode),
			"wr.send_flags": unsafe.Offsetof(x.SendFlags),
			"wr.ex":         unsafe.Offsetof(x.Ex),
			"wr.wr":         unsafe.Offsetof(x.WR),
			"status":        unsafe.Offsetof(x.Status),
			"state":         unsafe.Offsetof(x.State),
			"iova":          unsafe.Offsetof(x.IOVA),
			"mask":          unsafe.Offsetof(x.Mask),
			"first_psn":     unsafe.Offsetof(x.FirstPSN),
			"last_psn":      unsafe.Offsetof(x.LastPSN),
			"ack_length":    unsafe.Offsetof(x.AckLength),
			"ssn":           unsafe.Offsetof(x.SSN),
			"has_rd_atomic": unsafe.Offsetof(x.HasRdAtomic),
			"dma":           unsafe.Offsetof(x.DMA),
		})
	}
	{
		var x RXERecvWQE
		l.add("rxe_recv_wqe", unsafe.Sizeof(x), map[string]uintptr{
			"wr_id": unsafe.Offsetof(x.WRID),
			"dma":   unsafe.Offsetof(x.DMA),
		})
	}
	l["sizeof(struct ib_uverbs_send_wr)"] = SendWRSize
	l["sizeof(struct ib_uverbs_alloc_pd)"] = uint64(unsafe.Sizeof(AllocPD(0)))
	l["sizeof(struct ib_uverbs_create_comp_channel)"] = uint64(unsafe.Sizeof(CreateCompChannel(0)))
	l["IB_UVERBS_QP_CREATE_SQ_SIG_ALL"] = QPCreateSignalAll
	l["IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK"] = QPCreateBlockMulticastLoopback
	compare(t, l, "testdata/queues.txt")
}
