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
	AttrGetContextFDArr                 // UVERBS_ATTR_GET_CONTEXT_FD_ARR
)

// enum uverbs_attrs_query_context_attr_ids.
const (
	AttrQueryContextNumCompVectors = iota // UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS
	AttrQueryContextCoreSupport           // UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT
)

// enum uverbs_attrs_create_cq_cmd_attr_ids.
const (
	AttrCreateCQHandle       = iota // UVERBS_ATTR_CREATE_CQ_HANDLE
	AttrCreateCQCQE                 // UVERBS_ATTR_CREATE_CQ_CQE
	AttrCreateCQUserHandle          // UVERBS_ATTR_CREATE_CQ_USER_HANDLE
	AttrCreateCQCompChannel         // UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL
	AttrCreateCQCompVector          // UVERBS_ATTR_CREATE_CQ_COMP_VECTOR
	AttrCreateCQFlags               // UVERBS_ATTR_CREATE_CQ_FLAGS
	AttrCreateCQRespCQE             // UVERBS_ATTR_CREATE_CQ_RESP_CQE
	AttrCreateCQEventFD             // UVERBS_ATTR_CREATE_CQ_EVENT_FD
	AttrCreateCQBufferVA            // UVERBS_ATTR_CREATE_CQ_BUFFER_VA
	AttrCreateCQBufferLength        // UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH
	AttrCreateCQBufferFD            // UVERBS_ATTR_CREATE_CQ_BUFFER_FD
	AttrCreateCQBufferOffset        // UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET
	AttrCreateCQBufUMem             // UVERBS_ATTR_CREATE_CQ_BUF_UMEM
)

// enum uverbs_attrs_destroy_cq_cmd_attr_ids.
const (
	AttrDestroyCQHandle = iota // UVERBS_ATTR_DESTROY_CQ_HANDLE
	AttrDestroyCQResp          // UVERBS_ATTR_DESTROY_CQ_RESP
)

// enum uverbs_attrs_create_flow_action_esp.
const (
	AttrCreateFlowActionESPHandle = iota // UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE
	AttrFlowActionESPAttrs               // UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS
	AttrFlowActionESPESN                 // UVERBS_ATTR_FLOW_ACTION_ESP_ESN
	AttrFlowActionESPKeymat              // UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT
	AttrFlowActionESPReplay              // UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY
	AttrFlowActionESPEncap               // UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP
)

// enum uverbs_attrs_destroy_flow_action_esp.
const (
	AttrDestroyFlowActionHandle = iota // UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE
)

// enum uverbs_attrs_create_qp_cmd_attr_ids.
const (
	AttrCreateQPHandle         = iota // UVERBS_ATTR_CREATE_QP_HANDLE
	AttrCreateQPXRCDHandle            // UVERBS_ATTR_CREATE_QP_XRCD_HANDLE
	AttrCreateQPPDHandle              // UVERBS_ATTR_CREATE_QP_PD_HANDLE
	AttrCreateQPSRQHandle             // UVERBS_ATTR_CREATE_QP_SRQ_HANDLE
	AttrCreateQPSendCQHandle          // UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE
	AttrCreateQPRecvCQHandle          // UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE
	AttrCreateQPIndTableHandle        // UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE
	AttrCreateQPUserHandle            // UVERBS_ATTR_CREATE_QP_USER_HANDLE
	AttrCreateQPCap                   // UVERBS_ATTR_CREATE_QP_CAP
	AttrCreateQPType                  // UVERBS_ATTR_CREATE_QP_TYPE
	AttrCreateQPFlags                 // UVERBS_ATTR_CREATE_QP_FLAGS
	AttrCreateQPSourceQPN             // UVERBS_ATTR_CREATE_QP_SOURCE_QPN
	AttrCreateQPEventFD               // UVERBS_ATTR_CREATE_QP_EVENT_FD
	AttrCreateQPRespCap               // UVERBS_ATTR_CREATE_QP_RESP_CAP
	AttrCreateQPRespQPNum             // UVERBS_ATTR_CREATE_QP_RESP_QP_NUM
	AttrCreateQPBufUMem               // UVERBS_ATTR_CREATE_QP_BUF_UMEM
	AttrCreateQPRQBufUMem             // UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM
	AttrCreateQPSQBufUMem             // UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM
)

// enum uverbs_attrs_destroy_qp_cmd_attr_ids.
const (
	AttrDestroyQPHandle = iota // UVERBS_ATTR_DESTROY_QP_HANDLE
	AttrDestroyQPResp          // UVERBS_ATTR_DESTROY_QP_RESP
)

// enum uverbs_attrs_qp_attach_comp_cntr_cmd_attr_ids.
const (
	AttrQPAttachCompCounterHandle        = iota // UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE
	AttrQPAttachCompCounterCounterHandle        // UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE
	AttrQPAttachCompCounterOpMask               // UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK
)

// enum uverbs_attrs_create_srq_cmd_attr_ids.
const (
	AttrCreateSRQHandle     = iota // UVERBS_ATTR_CREATE_SRQ_HANDLE
	AttrCreateSRQPDHandle          // UVERBS_ATTR_CREATE_SRQ_PD_HANDLE
	AttrCreateSRQXRCDHandle        // UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE
	AttrCreateSRQCQHandle          // UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE
	AttrCreateSRQUserHandle        // UVERBS_ATTR_CREATE_SRQ_USER_HANDLE
	AttrCreateSRQMaxWR             // UVERBS_ATTR_CREATE_SRQ_MAX_WR
	AttrCreateSRQMaxSGE            // UVERBS_ATTR_CREATE_SRQ_MAX_SGE
	AttrCreateSRQLimit             // UVERBS_ATTR_CREATE_SRQ_LIMIT
	AttrCreateSRQMaxNumTags        // UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS
	AttrCreateSRQType              // UVERBS_ATTR_CREATE_SRQ_TYPE
	AttrCreateSRQEventFD           // UVERBS_ATTR_CREATE_SRQ_EVENT_FD
	AttrCreateSRQRespMaxWR         // UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR
	AttrCreateSRQRespMaxSGE        // UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE
	AttrCreateSRQRespSRQNum        // UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM
)

// enum uverbs_attrs_destroy_srq_cmd_attr_ids.
const (
	AttrDestroySRQHandle = iota // UVERBS_ATTR_DESTROY_SRQ_HANDLE
	AttrDestroySRQResp          // UVERBS_ATTR_DESTROY_SRQ_RESP
)

// enum uverbs_attrs_create_wq_cmd_attr_ids.
const (
	AttrCreateWQHandle     = iota // UVERBS_ATTR_CREATE_WQ_HANDLE
	AttrCreateWQPDHandle          // UVERBS_ATTR_CREATE_WQ_PD_HANDLE
	AttrCreateWQCQHandle          // UVERBS_ATTR_CREATE_WQ_CQ_HANDLE
	AttrCreateWQUserHandle        // UVERBS_ATTR_CREATE_WQ_USER_HANDLE
	AttrCreateWQType              // UVERBS_ATTR_CREATE_WQ_TYPE
	AttrCreateWQEventFD           // UVERBS_ATTR_CREATE_WQ_EVENT_FD
	AttrCreateWQMaxWR             // UVERBS_ATTR_CREATE_WQ_MAX_WR
	AttrCreateWQMaxSGE            // UVERBS_ATTR_CREATE_WQ_MAX_SGE
	AttrCreateWQFlags             // UVERBS_ATTR_CREATE_WQ_FLAGS
	AttrCreateWQRespMaxWR         // UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR
	AttrCreateWQRespMaxSGE        // UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE
	AttrCreateWQRespWQNum         // UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM
)

// enum uverbs_attrs_destroy_wq_cmd_attr_ids.
const (
	AttrDestroyWQHandle = iota // UVERBS_ATTR_DESTROY_WQ_HANDLE
	AttrDestroyWQResp          // UVERBS_ATTR_DESTROY_WQ_RESP
)

// enum uverbs_attrs_alloc_dm_cmd_attr_ids.
const (
	AttrAllocDMHandle    = iota // UVERBS_ATTR_ALLOC_DM_HANDLE
	AttrAllocDMLength           // UVERBS_ATTR_ALLOC_DM_LENGTH
	AttrAllocDMAlignment        // UVERBS_ATTR_ALLOC_DM_ALIGNMENT
)

// enum uverbs_attrs_free_dm_cmd_attr_ids.
const (
	AttrFreeDMHandle = iota // UVERBS_ATTR_FREE_DM_HANDLE
)

// enum uverbs_attrs_alloc_dmah_cmd_attr_ids.
const (
	AttrAllocDMAHandleHandle     = iota // UVERBS_ATTR_ALLOC_DMAH_HANDLE
	AttrAllocDMAHandleCPUID             // UVERBS_ATTR_ALLOC_DMAH_CPU_ID
	AttrAllocDMAHandleTPHMemType        // UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE
	AttrAllocDMAHandlePH                // UVERBS_ATTR_ALLOC_DMAH_PH
)

// enum uverbs_attrs_free_dmah_cmd_attr_ids.
const (
	AttrFreeDmaHandle = iota // UVERBS_ATTR_FREE_DMA_HANDLE
)

// enum uverbs_attrs_alloc_dmabuf_cmd_attr_ids.
const (
	AttrAllocDMABufHandle     = iota // UVERBS_ATTR_ALLOC_DMABUF_HANDLE
	AttrAllocDMABufPageOffset        // UVERBS_ATTR_ALLOC_DMABUF_PGOFF
)

// enum uverbs_attrs_reg_dm_mr_cmd_attr_ids.
const (
	AttrRegDMMRHandle      = iota // UVERBS_ATTR_REG_DM_MR_HANDLE
	AttrRegDMMROffset             // UVERBS_ATTR_REG_DM_MR_OFFSET
	AttrRegDMMRLength             // UVERBS_ATTR_REG_DM_MR_LENGTH
	AttrRegDMMRPDHandle           // UVERBS_ATTR_REG_DM_MR_PD_HANDLE
	AttrRegDMMRAccessFlags        // UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS
	AttrRegDMMRDMHandle           // UVERBS_ATTR_REG_DM_MR_DM_HANDLE
	AttrRegDMMRRespLKey           // UVERBS_ATTR_REG_DM_MR_RESP_LKEY
	AttrRegDMMRRespRKey           // UVERBS_ATTR_REG_DM_MR_RESP_RKEY
)

// enum uverbs_attrs_mr_destroy_ids.
const (
	AttrDestroyMRHandle = iota // UVERBS_ATTR_DESTROY_MR_HANDLE
)

// enum uverbs_attrs_advise_mr_cmd_attr_ids.
const (
	AttrAdviseMRPDHandle = iota // UVERBS_ATTR_ADVISE_MR_PD_HANDLE
	AttrAdviseMRAdvice          // UVERBS_ATTR_ADVISE_MR_ADVICE
	AttrAdviseMRFlags           // UVERBS_ATTR_ADVISE_MR_FLAGS
	AttrAdviseMRSGEList         // UVERBS_ATTR_ADVISE_MR_SGE_LIST
)

// enum uverbs_attrs_query_mr_cmd_attr_ids.
const (
	AttrQueryMRHandle     = iota // UVERBS_ATTR_QUERY_MR_HANDLE
	AttrQueryMRRespLKey          // UVERBS_ATTR_QUERY_MR_RESP_LKEY
	AttrQueryMRRespRKey          // UVERBS_ATTR_QUERY_MR_RESP_RKEY
	AttrQueryMRRespLength        // UVERBS_ATTR_QUERY_MR_RESP_LENGTH
	AttrQueryMRRespIOVA          // UVERBS_ATTR_QUERY_MR_RESP_IOVA
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

// enum uverbs_attrs_reg_mr_cmd_attr_ids.
const (
	AttrRegMRHandle      = iota // UVERBS_ATTR_REG_MR_HANDLE
	AttrRegMRPDHandle           // UVERBS_ATTR_REG_MR_PD_HANDLE
	AttrRegMRDmaHandle          // UVERBS_ATTR_REG_MR_DMA_HANDLE
	AttrRegMRIOVA               // UVERBS_ATTR_REG_MR_IOVA
	AttrRegMRAddr               // UVERBS_ATTR_REG_MR_ADDR
	AttrRegMRLength             // UVERBS_ATTR_REG_MR_LENGTH
	AttrRegMRAccessFlags        // UVERBS_ATTR_REG_MR_ACCESS_FLAGS
	AttrRegMRFD                 // UVERBS_ATTR_REG_MR_FD
	AttrRegMRFDOffset           // UVERBS_ATTR_REG_MR_FD_OFFSET
	AttrRegMRRespLKey           // UVERBS_ATTR_REG_MR_RESP_LKEY
	AttrRegMRRespRKey           // UVERBS_ATTR_REG_MR_RESP_RKEY
)

// enum uverbs_attrs_create_counters_cmd_attr_ids.
const (
	AttrCreateCountersHandle = iota // UVERBS_ATTR_CREATE_COUNTERS_HANDLE
)

// enum uverbs_attrs_destroy_counters_cmd_attr_ids.
const (
	AttrDestroyCountersHandle = iota // UVERBS_ATTR_DESTROY_COUNTERS_HANDLE
)

// enum uverbs_attrs_read_counters_cmd_attr_ids.
const (
	AttrReadCountersHandle = iota // UVERBS_ATTR_READ_COUNTERS_HANDLE
	AttrReadCountersBuff          // UVERBS_ATTR_READ_COUNTERS_BUFF
	AttrReadCountersFlags         // UVERBS_ATTR_READ_COUNTERS_FLAGS
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

// enum uverbs_attrs_rwq_ind_tbl_destroy_ids.
const (
	AttrDestroyRWQIndTableHandle = iota // UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE
)

// enum uverbs_attrs_flow_destroy_ids.
const (
	AttrDestroyFlowHandle = iota // UVERBS_ATTR_DESTROY_FLOW_HANDLE
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

// enum uverbs_attrs_create_comp_cntr_cmd_attr_ids.
const (
	AttrCreateCompCounterHandle = iota // UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE
)

// enum uverbs_attrs_destroy_comp_cntr_cmd_attr_ids.
const (
	AttrDestroyCompCounterHandle = iota // UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE
)

// enum uverbs_attrs_modify_comp_cntr_cmd_attr_ids.
const (
	AttrModifyCompCounterHandle = iota // UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE
	AttrModifyCompCounterEntry         // UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY
	AttrModifyCompCounterOp            // UVERBS_ATTR_MODIFY_COMP_CNTR_OP
	AttrModifyCompCounterValue         // UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE
)

// enum uverbs_attrs_read_comp_cntr_cmd_attr_ids.
const (
	AttrReadCompCounterHandle    = iota // UVERBS_ATTR_READ_COMP_CNTR_HANDLE
	AttrReadCompCounterEntry            // UVERBS_ATTR_READ_COMP_CNTR_ENTRY
	AttrReadCompCounterRespValue        // UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE
)
