package uapi

// Methods of the objects of uverbs (<rdma/ib_user_ioctl_cmds.h>).

// enum uverbs_methods_device.
const (
	MethodInvokeWrite          = iota // UVERBS_METHOD_INVOKE_WRITE
	MethodInfoHandles                 // UVERBS_METHOD_INFO_HANDLES
	MethodQueryPort                   // UVERBS_METHOD_QUERY_PORT
	MethodGetContext                  // UVERBS_METHOD_GET_CONTEXT
	MethodQueryContext                // UVERBS_METHOD_QUERY_CONTEXT
	MethodQueryGIDTable               // UVERBS_METHOD_QUERY_GID_TABLE
	MethodQueryGIDEntry               // UVERBS_METHOD_QUERY_GID_ENTRY
	MethodQueryPortSpeed              // UVERBS_METHOD_QUERY_PORT_SPEED
	MethodQueryCompCounterCaps        // UVERBS_METHOD_QUERY_COMP_CNTR_CAPS
)

// enum uverbs_methods_qp.
const (
	MethodQPCreate            = iota // UVERBS_METHOD_QP_CREATE
	MethodQPDestroy                  // UVERBS_METHOD_QP_DESTROY
	MethodQPAttachCompCounter        // UVERBS_METHOD_QP_ATTACH_COMP_CNTR
)

// enum uverbs_methods_srq.
const (
	MethodSRQCreate  = iota // UVERBS_METHOD_SRQ_CREATE
	MethodSRQDestroy        // UVERBS_METHOD_SRQ_DESTROY
)

// enum uverbs_methods_cq.
const (
	MethodCQCreate  = iota // UVERBS_METHOD_CQ_CREATE
	MethodCQDestroy        // UVERBS_METHOD_CQ_DESTROY
)

// enum uverbs_methods_wq.
const (
	MethodWQCreate  = iota // UVERBS_METHOD_WQ_CREATE
	MethodWQDestroy        // UVERBS_METHOD_WQ_DESTROY
)

// enum uverbs_methods_actions_flow_action_ops.
const (
	MethodFlowActionESPCreate = iota // UVERBS_METHOD_FLOW_ACTION_ESP_CREATE
	MethodFlowActionDestroy          // UVERBS_METHOD_FLOW_ACTION_DESTROY
	MethodFlowActionESPModify        // UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY
)

// enum uverbs_methods_dm.
const (
	MethodDMAlloc = iota // UVERBS_METHOD_DM_ALLOC
	MethodDMFree         // UVERBS_METHOD_DM_FREE
)

// enum uverbs_methods_dmah.
const (
	MethodDMAHandleAlloc = iota // UVERBS_METHOD_DMAH_ALLOC
	MethodDMAHandleFree         // UVERBS_METHOD_DMAH_FREE
)

// enum uverbs_methods_dmabuf.
const (
	MethodDMABufAlloc = iota // UVERBS_METHOD_DMABUF_ALLOC
)

// enum uverbs_methods_mr.
const (
	MethodDMMRReg     = iota // UVERBS_METHOD_DM_MR_REG
	MethodMRDestroy          // UVERBS_METHOD_MR_DESTROY
	MethodAdviseMR           // UVERBS_METHOD_ADVISE_MR
	MethodQueryMR            // UVERBS_METHOD_QUERY_MR
	MethodRegDMABufMR        // UVERBS_METHOD_REG_DMABUF_MR
	MethodRegMR              // UVERBS_METHOD_REG_MR
)

// enum uverbs_methods_actions_counters_ops.
const (
	MethodCountersCreate  = iota // UVERBS_METHOD_COUNTERS_CREATE
	MethodCountersDestroy        // UVERBS_METHOD_COUNTERS_DESTROY
	MethodCountersRead           // UVERBS_METHOD_COUNTERS_READ
)

// enum uverbs_methods_pd.
const (
	MethodPDDestroy = iota // UVERBS_METHOD_PD_DESTROY
)

// enum uverbs_methods_mw.
const (
	MethodMWDestroy = iota // UVERBS_METHOD_MW_DESTROY
)

// enum uverbs_methods_xrcd.
const (
	MethodXRCDDestroy = iota // UVERBS_METHOD_XRCD_DESTROY
)

// enum uverbs_methods_ah.
const (
	MethodAHDestroy = iota // UVERBS_METHOD_AH_DESTROY
)

// enum uverbs_methods_rwq_ind_tbl.
const (
	MethodRWQIndTableDestroy = iota // UVERBS_METHOD_RWQ_IND_TBL_DESTROY
)

// enum uverbs_methods_flow.
const (
	MethodFlowDestroy = iota // UVERBS_METHOD_FLOW_DESTROY
)

// enum uverbs_method_async_event.
const (
	MethodAsyncEventAlloc = iota // UVERBS_METHOD_ASYNC_EVENT_ALLOC
)

// enum uverbs_methods_comp_cntr.
const (
	MethodCompCounterCreate  = iota // UVERBS_METHOD_COMP_CNTR_CREATE
	MethodCompCounterDestroy        // UVERBS_METHOD_COMP_CNTR_DESTROY
	MethodCompCounterModify         // UVERBS_METHOD_COMP_CNTR_MODIFY
	MethodCompCounterRead           // UVERBS_METHOD_COMP_CNTR_READ
)
