package uapi

import (
	"maps"
	"testing"
	"unsafe"
)

// The connection manager's layouts and numbers come from a C compiler with the headers
// of linux-libc-dev 6.1, printed by testdata/rdmacm.c.
func TestRDMACM(t *testing.T) {
	l := layouts{}
	{
		var x CMHeader
		l.add("rdma_ucm_cmd_hdr", unsafe.Sizeof(x), map[string]uintptr{
			"cmd": unsafe.Offsetof(x.Cmd),
			"in":  unsafe.Offsetof(x.In),
			"out": unsafe.Offsetof(x.Out),
		})
	}
	{
		var x CMCreateID
		l.add("rdma_ucm_create_id", unsafe.Sizeof(x), map[string]uintptr{
			"uid":      unsafe.Offsetof(x.UID),
			"response": unsafe.Offsetof(x.Response),
			"ps":       unsafe.Offsetof(x.PS),
			"qp_type":  unsafe.Offsetof(x.QPType),
		})
	}
	{
		var x CMIDResp
		l.add("rdma_ucm_create_id_resp", unsafe.Sizeof(x), map[string]uintptr{
			"id": unsafe.Offsetof(x.ID),
		})
	}
	{
		var x CMDestroyID
		l.add("rdma_ucm_destroy_id", unsafe.Sizeof(x), map[string]uintptr{
			"response": unsafe.Offsetof(x.Response),
			"id":       unsafe.Offsetof(x.ID),
		})
	}
	{
		var x CMEventsResp
		l.add("rdma_ucm_destroy_id_resp", unsafe.Sizeof(x), map[string]uintptr{
			"events_reported": unsafe.Offsetof(x.Reported),
		})
	}
	{
		var x CMEventsResp
		l.add("rdma_ucm_migrate_resp", unsafe.Sizeof(x), map[string]uintptr{
			"events_reported": unsafe.Offsetof(x.Reported),
		})
	}
	{
		var x CMBind
		l.add("rdma_ucm_bind", unsafe.Sizeof(x), map[string]uintptr{
			"id":        unsafe.Offsetof(x.ID),
			"addr_size": unsafe.Offsetof(x.AddrSize),
			"addr":      unsafe.Offsetof(x.Addr),
		})
	}
	{
		var x CMResolveAddr
		l.add("rdma_ucm_resolve_addr", unsafe.Sizeof(x), map[string]uintptr{
			"id":         unsafe.Offsetof(x.ID),
			"timeout_ms": unsafe.Offsetof(x.TimeoutMS),
			"src_size":   unsafe.Offsetof(x.SrcSize),
			"dst_size":   unsafe.Offsetof(x.DstSize),
			"src_addr":   unsafe.Offsetof(x.Src),
			"dst_addr":   unsafe.Offsetof(x.Dst),
		})
	}
	{
		var x CMResolveRoute
		l.add("rdma_ucm_resolve_route", unsafe.Sizeof(x), map[string]uintptr{
			"id":         unsafe.Offsetof(x.ID),
			"timeout_ms": unsafe.Offsetof(x.TimeoutMS),
		})
	}
	{
		var x CMQuery
		l.add("rdma_ucm_query", unsafe.Sizeof(x), map[string]uintptr{
			"response": unsafe.Offsetof(x.Response),
			"id":       unsafe.Offsetof(x.ID),
			"option":   unsafe.Offsetof(x.Option),
		})
	}
	{
		var x CMQueryAddrResp
		l.add("rdma_ucm_query_addr_resp", unsafe.Sizeof(x), map[string]uintptr{
			"node_guid":   unsafe.Offsetof(x.NodeGUID),
			"port_num":    unsafe.Offsetof(x.PortNum),
			"pkey":        unsafe.Offsetof(x.PKey),
			"src_size":    unsafe.Offsetof(x.SrcSize),
			"dst_size":    unsafe.Offsetof(x.DstSize),
			"src_addr":    unsafe.Offsetof(x.Src),
			"dst_addr":    unsafe.Offsetof(x.Dst),
			"ibdev_index": unsafe.Offsetof(x.DevIndex),
		})
	}
	{
		var x CMPathData
		l.add("ib_path_rec_data", unsafe.Sizeof(x), map[string]uintptr{
			"flags":    unsafe.Offsetof(x.Flags),
			"path_rec": unsafe.Offsetof(x.Record),
		})
	}
	{
		var x CMQueryPathResp
		l.add("rdma_ucm_query_path_resp", 0, map[string]uintptr{
			"num_paths": unsafe.Offsetof(x.NumPaths),
			"path_data": unsafe.Offsetof(x.Paths),
		})
	}
	{
		var x CMPathRec
		l.add("ib_user_path_rec", unsafe.Sizeof(x), map[string]uintptr{
			"dgid":                      unsafe.Offsetof(x.DGID),
			"sgid":                      unsafe.Offsetof(x.SGID),
			"dlid":                      unsafe.Offsetof(x.DLID),
			"slid":                      unsafe.Offsetof(x.SLID),
			"raw_traffic":               unsafe.Offsetof(x.RawTraffic),
			"flow_label":                unsafe.Offsetof(x.FlowLabel),
			"reversible":                unsafe.Offsetof(x.Reversible),
			"mtu":                       unsafe.Offsetof(x.MTU),
			"pkey":                      unsafe.Offsetof(x.PKey),
			"hop_limit":                 unsafe.Offsetof(x.HopLimit),
			"traffic_class":             unsafe.Offsetof(x.TrafficClass),
			"numb_path":                 unsafe.Offsetof(x.NumbPath),
			"sl":                        unsafe.Offsetof(x.SL),
			"mtu_selector":              unsafe.Offsetof(x.MTUSelector),
			"rate_selector":             unsafe.Offsetof(x.RateSelector),
			"rate":                      unsafe.Offsetof(x.Rate),
			"packet_life_time_selector": unsafe.Offsetof(x.PacketLifeTimeSelector),
			"packet_life_time":          unsafe.Offsetof(x.PacketLifeTime),
			"preference":                unsafe.Offsetof(x.Preference),
		})
	}
	{
		var x CMQueryRouteResp
		l.add("rdma_ucm_query_route_resp", unsafe.Sizeof(x), map[string]uintptr{
			"node_guid":   unsafe.Offsetof(x.NodeGUID),
			"ib_route":    unsafe.Offsetof(x.Routes),
			"src_addr":    unsafe.Offsetof(x.Src),
			"dst_addr":    unsafe.Offsetof(x.Dst),
			"num_paths":   unsafe.Offsetof(x.NumPaths),
			"port_num":    unsafe.Offsetof(x.PortNum),
			"ibdev_index": unsafe.Offsetof(x.DevIndex),
		})
	}
	{
		var x CMConnParam
		l.add("rdma_ucm_conn_param", unsafe.Sizeof(x), map[string]uintptr{
			"qp_num":              unsafe.Offsetof(x.QPNum),
			"qkey":                unsafe.Offsetof(x.QKey),
			"private_data":        unsafe.Offsetof(x.PrivateData),
			"private_data_len":    unsafe.Offsetof(x.PrivateDataLen),
			"srq":                 unsafe.Offsetof(x.SRQ),
			"responder_resources": unsafe.Offsetof(x.ResponderResources),
			"initiator_depth":     unsafe.Offsetof(x.InitiatorDepth),
			"flow_control":        unsafe.Offsetof(x.FlowControl),
			"retry_count":         unsafe.Offsetof(x.RetryCount),
			"rnr_retry_count":     unsafe.Offsetof(x.RNRRetryCount),
			"valid":               unsafe.Offsetof(x.Valid),
		})
	}
	{
		var x CMUDParam
		l.add("rdma_ucm_ud_param", unsafe.Sizeof(x), map[string]uintptr{
			"qp_num":           unsafe.Offsetof(x.QPNum),
			"qkey":             unsafe.Offsetof(x.QKey),
			"ah_attr":          unsafe.Offsetof(x.AH),
			"private_data":     unsafe.Offsetof(x.PrivateData),
			"private_data_len": unsafe.Offsetof(x.PrivateDataLen),
		})
	}
	{
		var x CMECE
		l.add("rdma_ucm_ece", unsafe.Sizeof(x), map[string]uintptr{
			"vendor_id": unsafe.Offsetof(x.VendorID),
			"attr_mod":  unsafe.Offsetof(x.AttrMod),
		})
	}
	{
		var x CMConnect
		l.add("rdma_ucm_connect", unsafe.Sizeof(x), map[string]uintptr{
			"conn_param": unsafe.Offsetof(x.Param),
			"id":         unsafe.Offsetof(x.ID),
			"ece":        unsafe.Offsetof(x.ECE),
		})
	}
	{
		var x CMListen
		l.add("rdma_ucm_listen", unsafe.Sizeof(x), map[string]uintptr{
			"id":      unsafe.Offsetof(x.ID),
			"backlog": unsafe.Offsetof(x.Backlog),
		})
	}
	{
		var x CMAccept
		l.add("rdma_ucm_accept", unsafe.Sizeof(x), map[string]uintptr{
			"uid":        unsafe.Offsetof(x.UID),
			"conn_param": unsafe.Offsetof(x.Param),
			"id":         unsafe.Offsetof(x.ID),
			"ece":        unsafe.Offsetof(x.ECE),
		})
	}
	{
		var x CMReject
		l.add("rdma_ucm_reject", unsafe.Sizeof(x), map[string]uintptr{
			"id":               unsafe.Offsetof(x.ID),
			"private_data_len": unsafe.Offsetof(x.PrivateDataLen),
			"reason":           unsafe.Offsetof(x.Reason),
			"private_data":     unsafe.Offsetof(x.PrivateData),
		})
	}
	{
		var x CMDisconnect
		l.add("rdma_ucm_disconnect", unsafe.Sizeof(x), map[string]uintptr{
			"id": unsafe.Offsetof(x.ID),
		})
	}
	{
		var x CMInitQPAttr
		l.add("rdma_ucm_init_qp_attr", unsafe.Sizeof(x), map[string]uintptr{
			"response": unsafe.Offsetof(x.Response),
			"id":       unsafe.Offsetof(x.ID),
			"qp_state": unsafe.Offsetof(x.QPState),
		})
	}
	{
		var x UserQPAttr
		l.add("ib_uverbs_qp_attr", unsafe.Sizeof(x), map[string]uintptr{
			"qp_attr_mask":        unsafe.Offsetof(x.Mask),
			"qp_state":            unsafe.Offsetof(x.State),
			"cur_qp_state":        unsafe.Offsetof(x.CurState),
			"path_mtu":            unsafe.Offsetof(x.PathMTU),
			"path_mig_state":      unsafe.Offsetof(x.PathMigState),
			"qkey":                unsafe.Offsetof(x.QKey),
			"rq_psn":              unsafe.Offsetof(x.RQPSN),
			"sq_psn":              unsafe.Offsetof(x.SQPSN),
			"dest_qp_num":         unsafe.Offsetof(x.DestQPNum),
			"qp_access_flags":     unsafe.Offsetof(x.AccessFlags),
			"ah_attr":             unsafe.Offsetof(x.AH),
			"alt_ah_attr":         unsafe.Offsetof(x.AltAH),
			"max_send_wr":         unsafe.Offsetof(x.MaxSendWR),
			"max_recv_wr":         unsafe.Offsetof(x.MaxRecvWR),
			"max_send_sge":        unsafe.Offsetof(x.MaxSendSGE),
			"max_recv_sge":        unsafe.Offsetof(x.MaxRecvSGE),
			"max_inline_data":     unsafe.Offsetof(x.MaxInline),
			"pkey_index":          unsafe.Offsetof(x.PKeyIndex),
			"alt_pkey_index":      unsafe.Offsetof(x.AltPKeyIndex),
			"en_sqd_async_notify": unsafe.Offsetof(x.EnSQDNotify),
			"sq_draining":         unsafe.Offsetof(x.SQDraining),
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
		var x CMNotify
		l.add("rdma_ucm_notify", unsafe.Sizeof(x), map[string]uintptr{
			"id":    unsafe.Offsetof(x.ID),
			"event": unsafe.Offsetof(x.Event),
		})
	}
	{
		var x CMJoinMcast
		l.add("rdma_ucm_join_mcast", unsafe.Sizeof(x), map[string]uintptr{
			"response":   unsafe.Offsetof(x.Response),
			"uid":        unsafe.Offsetof(x.UID),
			"id":         unsafe.Offsetof(x.ID),
			"addr_size":  unsafe.Offsetof(x.AddrSize),
			"join_flags": unsafe.Offsetof(x.Flags),
			"addr":       unsafe.Offsetof(x.Addr),
		})
	}
	{
		var x CMGetEvent
		l.add("rdma_ucm_get_event", unsafe.Sizeof(x), map[string]uintptr{
			"response": unsafe.Offsetof(x.Response),
		})
	}
	{
		var x CMEventResp
		l.add("rdma_ucm_event_resp", unsafe.Sizeof(x), map[string]uintptr{
			"uid":    unsafe.Offsetof(x.UID),
			"id":     unsafe.Offsetof(x.ID),
			"event":  unsafe.Offsetof(x.Event),
			"status": unsafe.Offsetof(x.Status),
			"param":  unsafe.Offsetof(x.Param),
			"ece":    unsafe.Offsetof(x.ECE),
		})
	}
	{
		var x CMSetOption
		l.add("rdma_ucm_set_option", unsafe.Sizeof(x), map[string]uintptr{
			"optval":  unsafe.Offsetof(x.Value),
			"id":      unsafe.Offsetof(x.ID),
			"level":   unsafe.Offsetof(x.Level),
			"optname": unsafe.Offsetof(x.Name),
			"optlen":  unsafe.Offsetof(x.Length),
		})
	}
	{
		var x CMMigrateID
		l.add("rdma_ucm_migrate_id", unsafe.Sizeof(x), map[string]uintptr{
			"response": unsafe.Offsetof(x.Response),
			"id":       unsafe.Offsetof(x.ID),
			"fd":       unsafe.Offsetof(x.FD),
		})
	}
	maps.Copy(l, layouts{
		"RDMA_USER_CM_CMD_CREATE_ID":     CMCmdCreateID,
		"RDMA_USER_CM_CMD_DESTROY_ID":    CMCmdDestroyID,
		"RDMA_USER_CM_CMD_RESOLVE_ROUTE": CMCmdResolveRoute,
		"RDMA_USER_CM_CMD_QUERY_ROUTE":   CMCmdQueryRoute,
		"RDMA_USER_CM_CMD_CONNECT":       CMCmdConnect,
		"RDMA_USER_CM_CMD_LISTEN":        CMCmdListen,
		"RDMA_USER_CM_CMD_ACCEPT":        CMCmdAccept,
		"RDMA_USER_CM_CMD_REJECT":        CMCmdReject,
		"RDMA_USER_CM_CMD_DISCONNECT":    CMCmdDisconnect,
		"RDMA_USER_CM_CMD_INIT_QP_ATTR":  CMCmdInitQPAttr,
		"RDMA_USER_CM_CMD_GET_EVENT":     CMCmdGetEvent,
		"RDMA_USER_CM_CMD_SET_OPTION":    CMCmdSetOption,
		"RDMA_USER_CM_CMD_NOTIFY":        CMCmdNotify,
		"RDMA_USER_CM_CMD_LEAVE_MCAST":   CMCmdLeaveMcast,
		"RDMA_USER_CM_CMD_MIGRATE_ID":    CMCmdMigrateID,
		"RDMA_USER_CM_CMD_QUERY":         CMCmdQuery,
		"RDMA_USER_CM_CMD_BIND":          CMCmdBind,
		"RDMA_USER_CM_CMD_RESOLVE_ADDR":  CMCmdResolveAddr,
		"RDMA_USER_CM_CMD_JOIN_MCAST":    CMCmdJoinMcast,
		"RDMA_USER_CM_QUERY_ADDR":        CMQueryAddr,
		"RDMA_USER_CM_QUERY_PATH":        CMQueryPath,
		"RDMA_USER_CM_QUERY_GID":         CMQueryGID,
		"RDMA_OPTION_ID":                 CMOptionID,
		"RDMA_OPTION_IB":                 CMOptionIB,
		"RDMA_OPTION_ID_TOS":             CMOptionIDTOS,
		"RDMA_OPTION_ID_REUSEADDR":       CMOptionIDReuseAddr,
		"RDMA_OPTION_ID_AFONLY":          CMOptionIDAFOnly,
		"RDMA_OPTION_ID_ACK_TIMEOUT":     CMOptionIDAckTimeout,
		"RDMA_OPTION_IB_PATH":            CMOptionIBPath,
		"IB_PATH_GMP":                    CMPathGMP,
		"IB_PATH_PRIMARY":                CMPathPrimary,
		"IB_PATH_BIDIRECTIONAL":          CMPathBidirectional,
		"RDMA_MAX_PRIVATE_DATA":          CMPrivateDataSize,
	})
	compare(t, l, "testdata/rdmacm.txt")
}
