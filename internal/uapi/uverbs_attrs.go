package uapi

// Attributes of the methods of uverbs (<rdma/ib_user_ioctl_cmds.h>).

// enum uverbs_attrs_invoke_write_cmd_attr_ids.
const (
	AttrCoreIn   = iota // UVERBS_ATTR_CORE_IN
	AttrCoreOut         // UVERBS_ATTR_CORE_OUT
	AttrWriteCmd        // UVERBS_ATTR_WRITE_CMD
)

// enum uverbs_attrs_query_port_cmd_attr_ids.
const (
	AttrQueryPortPortNum = iota // UVERBS_ATTR_QUERY_PORT_PORT_NUM
	AttrQueryPortResp           // UVERBS_ATTR_QUERY_PORT_RESP
)

// enum uverbs_attrs_query_port_speed_cmd_attr_ids.
const (
	AttrQueryPortSpeedPortNum = iota // UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM
	AttrQueryPortSpeedResp           // UVERBS_ATTR_QUERY_PORT_SPEED_RESP
)

// enum uverbs_attrs_query_comp_cntr_caps_attr_ids.
const (
	AttrQueryCompCounterCapsMaxCounters          = iota // UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS
	AttrQueryCompCounterCapsMaxValue                    // UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE
	AttrQueryCompCounterCapsSupportedQPAttachOps        // UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS
)

// enum uverbs_attrs_get_context_attr_ids.
const (
	AttrGetContextNumCompVectors = iota // UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS
	AttrGetContextCoreSupport           // UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT
)

// enum uverbs_attrs_create_cq_cmd_attr_ids.
const (
	AttrCreateCQHandle      = 0 // UVERBS_ATTR_CREATE_CQ_HANDLE
	AttrCreateCQCQE         = 1 // UVERBS_ATTR_CREATE_CQ_CQE
	AttrCreateCQUserHandle  = 2 // UVERBS_ATTR_CREATE_CQ_USER_HANDLE
	AttrCreateCQCompChannel = 3 // UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL
	AttrCreateCQCompVector  = 4 // UVERBS_ATTR_CREATE_CQ_COMP_VECTOR
	AttrCreateCQRespCQE     = 6 // UVERBS_ATTR_CREATE_CQ_RESP_CQE
)

// enum uverbs_attrs_destroy_cq_cmd_attr_ids.
const (
	AttrDestroyCQHandle = iota // UVERBS_ATTR_DESTROY_CQ_HANDLE
	AttrDestroyCQResp          // UVERBS_ATTR_DESTROY_CQ_RESP
)

// enum uverbs_attrs_create_qp_cmd_attr_ids.
const (
	AttrCreateQPHandle       = 0  // UVERBS_ATTR_CREATE_QP_HANDLE
	AttrCreateQPXRCDHandle   = 1  // UVERBS_ATTR_CREATE_QP_XRCD_HANDLE
	AttrCreateQPPDHandle     = 2  // UVERBS_ATTR_CREATE_QP_PD_HANDLE
	AttrCreateQPSRQHandle    = 3  // UVERBS_ATTR_CREATE_QP_SRQ_HANDLE
	AttrCreateQPSendCQHandle = 4  // UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE
	AttrCreateQPRecvCQHandle = 5  // UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE
	AttrCreateQPUserHandle   = 7  // UVERBS_ATTR_CREATE_QP_USER_HANDLE
	AttrCreateQPCap          = 8  // UVERBS_ATTR_CREATE_QP_CAP
	AttrCreateQPType         = 9  // UVERBS_ATTR_CREATE_QP_TYPE
	AttrCreateQPFlags        = 10 // UVERBS_ATTR_CREATE_QP_FLAGS
	AttrCreateQPRespCap      = 13 // UVERBS_ATTR_CREATE_QP_RESP_CAP
	AttrCreateQPRespQPNum    = 14 // UVERBS_ATTR_CREATE_QP_RESP_QP_NUM
)

// enum uverbs_attrs_destroy_qp_cmd_attr_ids.
const (
	AttrDestroyQPHandle = iota // UVERBS_ATTR_DESTROY_QP_HANDLE
	AttrDestroyQPResp          // UVERBS_ATTR_DESTROY_QP_RESP
)

// enum uverbs_attrs_create_srq_cmd_attr_ids.
const (
	AttrCreateSRQHandle     = 0  // UVERBS_ATTR_CREATE_SRQ_HANDLE
	AttrCreateSRQPDHandle   = 1  // UVERBS_ATTR_CREATE_SRQ_PD_HANDLE
	AttrCreateSRQXRCDHandle = 2  // UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE
	AttrCreateSRQCQHandle   = 3  // UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE
	AttrCreateSRQUserHandle = 4  // UVERBS_ATTR_CREATE_SRQ_USER_HANDLE
	AttrCreateSRQMaxWR      = 5  // UVERBS_ATTR_CREATE_SRQ_MAX_WR
	AttrCreateSRQMaxSGE     = 6  // UVERBS_ATTR_CREATE_SRQ_MAX_SGE
	AttrCreateSRQLimit      = 7  // UVERBS_ATTR_CREATE_SRQ_LIMIT
	AttrCreateSRQType       = 9  // UVERBS_ATTR_CREATE_SRQ_TYPE
	AttrCreateSRQRespMaxWR  = 11 // UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR
	AttrCreateSRQRespMaxSGE = 12 // UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE
	AttrCreateSRQRespSRQNum = 13 // UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM
)

// enum uverbs_attrs_destroy_srq_cmd_attr_ids.
const (
	AttrDestroySRQHandle = iota // UVERBS_ATTR_DESTROY_SRQ_HANDLE
	AttrDestroySRQResp          // UVERBS_ATTR_DESTROY_SRQ_RESP
)

// enum uverbs_attrs_mr_destroy_ids.
const (
	AttrDestroyMRHandle = iota // UVERBS_ATTR_DESTROY_MR_HANDLE
)

// enum uverbs_attrs_reg_dmabuf_mr_cmd_attr_ids.
const (
	AttrRegDMABufMRHandle      = iota // UVERBS_ATTR_REG_DMABUF_MR_HANDLE
	AttrRegDMABufMRPDHandle           // UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE
	AttrRegDMABufMROffset             // UVERBS_ATTR_REG_DMABUF_MR_OFFSET
	AttrRegDMABufMRLength             // UVERBS_ATTR_REG_DMABUF_MR_LENGTH
	AttrRegDMABufMRIOVA               // UVERBS_ATTR_REG_DMABUF_MR_IOVA
	AttrRegDMABufMRFD                 // UVERBS_ATTR_REG_DMABUF_MR_FD
	AttrRegDMABufMRAccessFlags        // UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS
	AttrRegDMABufMRRespLKey           // UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY
	AttrRegDMABufMRRespRKey           // UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY
)

// enum uverbs_attrs_info_handles_id.
const (
	AttrInfoObjectID     = iota // UVERBS_ATTR_INFO_OBJECT_ID
	AttrInfoTotalHandles        // UVERBS_ATTR_INFO_TOTAL_HANDLES
	AttrInfoHandlesList         // UVERBS_ATTR_INFO_HANDLES_LIST
)

// enum uverbs_attrs_pd_destroy_ids.
const (
	AttrDestroyPDHandle = iota // UVERBS_ATTR_DESTROY_PD_HANDLE
)

// enum uverbs_attrs_mw_destroy_ids.
const (
	AttrDestroyMWHandle = iota // UVERBS_ATTR_DESTROY_MW_HANDLE
)

// enum uverbs_attrs_xrcd_destroy_ids.
const (
	AttrDestroyXRCDHandle = iota // UVERBS_ATTR_DESTROY_XRCD_HANDLE
)

// enum uverbs_attrs_ah_destroy_ids.
const (
	AttrDestroyAHHandle = iota // UVERBS_ATTR_DESTROY_AH_HANDLE
)

// enum uverbs_attrs_async_event_create.
const (
	AttrAsyncEventAllocFDHandle = iota // UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE
)

// enum uverbs_attrs_query_gid_table_cmd_attr_ids.
const (
	AttrQueryGIDTableEntrySize      = iota // UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE
	AttrQueryGIDTableFlags                 // UVERBS_ATTR_QUERY_GID_TABLE_FLAGS
	AttrQueryGIDTableRespEntries           // UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES
	AttrQueryGIDTableRespNumEntries        // UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES
)

// enum uverbs_attrs_query_gid_entry_cmd_attr_ids.
const (
	AttrQueryGIDEntryPort      = iota // UVERBS_ATTR_QUERY_GID_ENTRY_PORT
	AttrQueryGIDEntryGIDIndex         // UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX
	AttrQueryGIDEntryFlags            // UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS
	AttrQueryGIDEntryRespEntry        // UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY
)
