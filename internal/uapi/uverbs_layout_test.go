package uapi

import "unsafe"

// layouts are the sizes of structures and the offsets of their fields by their C
// names.
type layouts map[string]uint64

// add adds a structure. size is 0 for a structure that package uapi does not declare
// completely.
func (l layouts) add(name string, size uintptr, offsets map[string]uintptr) {
	if size != 0 {
		l[name] = uint64(size)
	}
	for field, offset := range offsets {
		l[name+"."+field] = uint64(offset)
	}
}

// layout returns the structures of queries.
func layout() layouts {
	all := layouts{}
	add := all.add
	{
		var x UverbsHeader
		add("ib_uverbs_ioctl_hdr", unsafe.Sizeof(x), map[string]uintptr{
			"length":    unsafe.Offsetof(x.Length),
			"object_id": unsafe.Offsetof(x.Object),
			"method_id": unsafe.Offsetof(x.Method),
			"num_attrs": unsafe.Offsetof(x.NumAttrs),
			"driver_id": unsafe.Offsetof(x.Driver),
		})
	}
	{
		var x UverbsAttr
		add("ib_uverbs_attr", unsafe.Sizeof(x), map[string]uintptr{
			"attr_id":                     unsafe.Offsetof(x.ID),
			"len":                         unsafe.Offsetof(x.Len),
			"flags":                       unsafe.Offsetof(x.Flags),
			"attr_data.enum_data.elem_id": unsafe.Offsetof(x.ElemID),
			"data":                        unsafe.Offsetof(x.Data),
		})
	}
	{
		var x GetContextResp
		add("ib_uverbs_get_context_resp", unsafe.Sizeof(x), map[string]uintptr{
			"async_fd":         unsafe.Offsetof(x.AsyncFD),
			"num_comp_vectors": unsafe.Offsetof(x.NumCompVectors),
		})
	}
	{
		var x QueryDeviceResp
		add("ib_uverbs_query_device_resp", unsafe.Sizeof(x), map[string]uintptr{
			"fw_ver":                    unsafe.Offsetof(x.FWVersion),
			"node_guid":                 unsafe.Offsetof(x.NodeGUID),
			"sys_image_guid":            unsafe.Offsetof(x.SysImageGUID),
			"max_mr_size":               unsafe.Offsetof(x.MaxMRSize),
			"page_size_cap":             unsafe.Offsetof(x.PageSizeCap),
			"vendor_id":                 unsafe.Offsetof(x.VendorID),
			"vendor_part_id":            unsafe.Offsetof(x.VendorPartID),
			"hw_ver":                    unsafe.Offsetof(x.HWVersion),
			"max_qp":                    unsafe.Offsetof(x.MaxQP),
			"max_qp_wr":                 unsafe.Offsetof(x.MaxQPWR),
			"device_cap_flags":          unsafe.Offsetof(x.DeviceCapFlags),
			"max_sge":                   unsafe.Offsetof(x.MaxSGE),
			"max_sge_rd":                unsafe.Offsetof(x.MaxSGERd),
			"max_cq":                    unsafe.Offsetof(x.MaxCQ),
			"max_cqe":                   unsafe.Offsetof(x.MaxCQE),
			"max_mr":                    unsafe.Offsetof(x.MaxMR),
			"max_pd":                    unsafe.Offsetof(x.MaxPD),
			"max_qp_rd_atom":            unsafe.Offsetof(x.MaxQPRdAtom),
			"max_ee_rd_atom":            unsafe.Offsetof(x.MaxEERdAtom),
			"max_res_rd_atom":           unsafe.Offsetof(x.MaxResRdAtom),
			"max_qp_init_rd_atom":       unsafe.Offsetof(x.MaxQPInitRdAtom),
			"max_ee_init_rd_atom":       unsafe.Offsetof(x.MaxEEInitRdAtom),
			"atomic_cap":                unsafe.Offsetof(x.AtomicCap),
			"max_ee":                    unsafe.Offsetof(x.MaxEE),
			"max_rdd":                   unsafe.Offsetof(x.MaxRDD),
			"max_mw":                    unsafe.Offsetof(x.MaxMW),
			"max_raw_ipv6_qp":           unsafe.Offsetof(x.MaxRawIPv6QP),
			"max_raw_ethy_qp":           unsafe.Offsetof(x.MaxRawEthyQP),
			"max_mcast_grp":             unsafe.Offsetof(x.MaxMcastGrp),
			"max_mcast_qp_attach":       unsafe.Offsetof(x.MaxMcastQPAttach),
			"max_total_mcast_qp_attach": unsafe.Offsetof(x.MaxTotalMcastQPAttach),
			"max_ah":                    unsafe.Offsetof(x.MaxAH),
			"max_fmr":                   unsafe.Offsetof(x.MaxFMR),
			"max_map_per_fmr":           unsafe.Offsetof(x.MaxMapPerFMR),
			"max_srq":                   unsafe.Offsetof(x.MaxSRQ),
			"max_srq_wr":                unsafe.Offsetof(x.MaxSRQWR),
			"max_srq_sge":               unsafe.Offsetof(x.MaxSRQSGE),
			"max_pkeys":                 unsafe.Offsetof(x.MaxPKeys),
			"local_ca_ack_delay":        unsafe.Offsetof(x.LocalCAAckDelay),
			"phys_port_cnt":             unsafe.Offsetof(x.PhysPortCnt),
		})
	}
	{
		var x ExQueryDevice
		add("ib_uverbs_ex_query_device", unsafe.Sizeof(x), map[string]uintptr{
			"comp_mask": unsafe.Offsetof(x.CompMask),
		})
	}
	{
		var x ODPCaps
		add("ib_uverbs_odp_caps", unsafe.Sizeof(x), map[string]uintptr{
			"general_caps":                   unsafe.Offsetof(x.General),
			"per_transport_caps.rc_odp_caps": unsafe.Offsetof(x.RC),
			"per_transport_caps.uc_odp_caps": unsafe.Offsetof(x.UC),
			"per_transport_caps.ud_odp_caps": unsafe.Offsetof(x.UD),
		})
	}
	{
		var x RSSCaps
		add("ib_uverbs_rss_caps", unsafe.Sizeof(x), map[string]uintptr{
			"supported_qpts":                 unsafe.Offsetof(x.SupportedQPTypes),
			"max_rwq_indirection_tables":     unsafe.Offsetof(x.MaxRWQIndirectionTables),
			"max_rwq_indirection_table_size": unsafe.Offsetof(x.MaxRWQIndirectionTableSize),
		})
	}
	{
		var x TMCaps
		add("ib_uverbs_tm_caps", unsafe.Sizeof(x), map[string]uintptr{
			"max_rndv_hdr_size": unsafe.Offsetof(x.MaxRndvHdrSize),
			"max_num_tags":      unsafe.Offsetof(x.MaxNumTags),
			"flags":             unsafe.Offsetof(x.Flags),
			"max_ops":           unsafe.Offsetof(x.MaxOps),
			"max_sge":           unsafe.Offsetof(x.MaxSGE),
		})
	}
	{
		var x CQModerationCaps
		add("ib_uverbs_cq_moderation_caps", unsafe.Sizeof(x), map[string]uintptr{
			"max_cq_moderation_count":  unsafe.Offsetof(x.MaxCount),
			"max_cq_moderation_period": unsafe.Offsetof(x.MaxPeriod),
		})
	}
	{
		var x ExQueryDeviceResp
		add("ib_uverbs_ex_query_device_resp", unsafe.Sizeof(x), map[string]uintptr{
			"base":                unsafe.Offsetof(x.Base),
			"comp_mask":           unsafe.Offsetof(x.CompMask),
			"response_length":     unsafe.Offsetof(x.ResponseLength),
			"odp_caps":            unsafe.Offsetof(x.ODP),
			"timestamp_mask":      unsafe.Offsetof(x.TimestampMask),
			"hca_core_clock":      unsafe.Offsetof(x.HCACoreClock),
			"device_cap_flags_ex": unsafe.Offsetof(x.DeviceCapFlagsEx),
			"rss_caps":            unsafe.Offsetof(x.RSS),
			"max_wq_type_rq":      unsafe.Offsetof(x.MaxWQTypeRQ),
			"raw_packet_caps":     unsafe.Offsetof(x.RawPacketCaps),
			"tm_caps":             unsafe.Offsetof(x.TM),
			"cq_moderation_caps":  unsafe.Offsetof(x.CQModeration),
			"max_dm_size":         unsafe.Offsetof(x.MaxDMSize),
			"xrc_odp_caps":        unsafe.Offsetof(x.XRCODP),
		})
	}
	{
		var x QueryPort
		add("ib_uverbs_query_port", unsafe.Sizeof(x), map[string]uintptr{
			"response": unsafe.Offsetof(x.Response),
			"port_num": unsafe.Offsetof(x.PortNum),
		})
	}
	{
		var x QueryPortResp
		add("ib_uverbs_query_port_resp", unsafe.Sizeof(x), map[string]uintptr{
			"port_cap_flags":  unsafe.Offsetof(x.CapFlags),
			"max_msg_sz":      unsafe.Offsetof(x.MaxMsgSize),
			"bad_pkey_cntr":   unsafe.Offsetof(x.BadPKeyCntr),
			"qkey_viol_cntr":  unsafe.Offsetof(x.QKeyViolCntr),
			"gid_tbl_len":     unsafe.Offsetof(x.GIDTableLen),
			"pkey_tbl_len":    unsafe.Offsetof(x.PKeyTableLen),
			"lid":             unsafe.Offsetof(x.LID),
			"sm_lid":          unsafe.Offsetof(x.SMLID),
			"state":           unsafe.Offsetof(x.State),
			"max_mtu":         unsafe.Offsetof(x.MaxMTU),
			"active_mtu":      unsafe.Offsetof(x.ActiveMTU),
			"lmc":             unsafe.Offsetof(x.LMC),
			"max_vl_num":      unsafe.Offsetof(x.MaxVLNum),
			"sm_sl":           unsafe.Offsetof(x.SMSL),
			"subnet_timeout":  unsafe.Offsetof(x.SubnetTimeout),
			"init_type_reply": unsafe.Offsetof(x.InitTypeReply),
			"active_width":    unsafe.Offsetof(x.ActiveWidth),
			"active_speed":    unsafe.Offsetof(x.ActiveSpeed),
			"phys_state":      unsafe.Offsetof(x.PhysState),
			"link_layer":      unsafe.Offsetof(x.LinkLayer),
			"flags":           unsafe.Offsetof(x.Flags),
		})
	}
	{
		var x QueryPortRespEx
		add("ib_uverbs_query_port_resp_ex", unsafe.Sizeof(x), map[string]uintptr{
			"legacy_resp":     unsafe.Offsetof(x.Legacy),
			"port_cap_flags2": unsafe.Offsetof(x.CapFlags2),
		})
	}
	{
		var x GIDEntry
		add("ib_uverbs_gid_entry", unsafe.Sizeof(x), map[string]uintptr{
			"gid":            unsafe.Offsetof(x.GID),
			"gid_index":      unsafe.Offsetof(x.Index),
			"port_num":       unsafe.Offsetof(x.PortNum),
			"gid_type":       unsafe.Offsetof(x.Type),
			"netdev_ifindex": unsafe.Offsetof(x.NetdevIfindex),
		})
	}
	{
		var x AsyncEvent
		add("ib_uverbs_async_event_desc", unsafe.Sizeof(x), map[string]uintptr{
			"element":    unsafe.Offsetof(x.Element),
			"event_type": unsafe.Offsetof(x.Type),
		})
	}
	{
		var x MLX5AllocUcontextReq
		add("mlx5_ib_alloc_ucontext_req_v2", unsafe.Sizeof(x), map[string]uintptr{
			"total_num_bfregs":       unsafe.Offsetof(x.TotalNumBFRegs),
			"num_low_latency_bfregs": unsafe.Offsetof(x.NumLowLatencyBFReg),
			"flags":                  unsafe.Offsetof(x.Flags),
			"comp_mask":              unsafe.Offsetof(x.CompMask),
			"max_cqe_version":        unsafe.Offsetof(x.MaxCQEVersion),
			"lib_caps":               unsafe.Offsetof(x.LibCaps),
		})
	}
	{
		var x MLX5AllocUcontextResp
		add("mlx5_ib_alloc_ucontext_resp", unsafe.Sizeof(x), map[string]uintptr{
			"qp_tab_size":           unsafe.Offsetof(x.QPTabSize),
			"bf_reg_size":           unsafe.Offsetof(x.BFRegSize),
			"tot_bfregs":            unsafe.Offsetof(x.TotBFRegs),
			"cache_line_size":       unsafe.Offsetof(x.CacheLineSize),
			"max_sq_desc_sz":        unsafe.Offsetof(x.MaxSQDescSize),
			"max_rq_desc_sz":        unsafe.Offsetof(x.MaxRQDescSize),
			"max_send_wqebb":        unsafe.Offsetof(x.MaxSendWQEBB),
			"max_recv_wr":           unsafe.Offsetof(x.MaxRecvWR),
			"max_srq_recv_wr":       unsafe.Offsetof(x.MaxSRQRecvWR),
			"num_ports":             unsafe.Offsetof(x.NumPorts),
			"flow_action_flags":     unsafe.Offsetof(x.FlowActionFlags),
			"comp_mask":             unsafe.Offsetof(x.CompMask),
			"response_length":       unsafe.Offsetof(x.ResponseLength),
			"cqe_version":           unsafe.Offsetof(x.CQEVersion),
			"cmds_supp_uhw":         unsafe.Offsetof(x.CmdsSuppUHW),
			"eth_min_inline":        unsafe.Offsetof(x.EthMinInline),
			"clock_info_versions":   unsafe.Offsetof(x.ClockInfoVersions),
			"hca_core_clock_offset": unsafe.Offsetof(x.HCACoreClockOffset),
			"log_uar_size":          unsafe.Offsetof(x.LogUARSize),
			"num_uars_per_page":     unsafe.Offsetof(x.NumUARsPerPage),
			"num_dyn_bfregs":        unsafe.Offsetof(x.NumDynBFRegs),
			"dump_fill_mkey":        unsafe.Offsetof(x.DumpFillMKey),
		})
	}
	{
		var x MLX5QueryDeviceResp
		add("mlx5_ib_query_device_resp", 0, map[string]uintptr{
			"comp_mask":                            unsafe.Offsetof(x.CompMask),
			"response_length":                      unsafe.Offsetof(x.ResponseLength),
			"tso_caps.max_tso":                     unsafe.Offsetof(x.MaxTSO),
			"tso_caps.supported_qpts":              unsafe.Offsetof(x.TSOQPTypes),
			"rss_caps.rx_hash_fields_mask":         unsafe.Offsetof(x.RxHashFieldsMask),
			"rss_caps.rx_hash_function":            unsafe.Offsetof(x.RxHashFunction),
			"cqe_comp_caps.max_num":                unsafe.Offsetof(x.CQECompMaxNum),
			"cqe_comp_caps.supported_format":       unsafe.Offsetof(x.CQECompFormats),
			"packet_pacing_caps.qp_rate_limit_min": unsafe.Offsetof(x.QPRateLimitMin),
			"packet_pacing_caps.qp_rate_limit_max": unsafe.Offsetof(x.QPRateLimitMax),
			"packet_pacing_caps.supported_qpts":    unsafe.Offsetof(x.PacketPacingQPType),
			"packet_pacing_caps.cap_flags":         unsafe.Offsetof(x.PacketPacingFlags),
		})
	}
	{
		var x MLX4QueryDeviceResp
		add("mlx4_uverbs_ex_query_device_resp", unsafe.Sizeof(x), map[string]uintptr{
			"comp_mask":                    unsafe.Offsetof(x.CompMask),
			"response_length":              unsafe.Offsetof(x.ResponseLength),
			"hca_core_clock_offset":        unsafe.Offsetof(x.HCACoreClockOffset),
			"max_inl_recv_sz":              unsafe.Offsetof(x.MaxInlRecvSz),
			"rss_caps.rx_hash_fields_mask": unsafe.Offsetof(x.RxHashFieldsMask),
			"rss_caps.rx_hash_function":    unsafe.Offsetof(x.RxHashFunction),
			"tso_caps.max_tso":             unsafe.Offsetof(x.MaxTSO),
			"tso_caps.supported_qpts":      unsafe.Offsetof(x.TSOQPTypes),
		})
	}
	{
		var x IRDMAAllocUcontextReq
		add("irdma_alloc_ucontext_req", unsafe.Sizeof(x), map[string]uintptr{
			"userspace_ver": unsafe.Offsetof(x.UserspaceVer),
		})
	}
	{
		var x EFAAllocUcontextCmd
		add("efa_ibv_alloc_ucontext_cmd", unsafe.Sizeof(x), map[string]uintptr{})
	}
	return all
}
