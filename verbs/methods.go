package verbs

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
)

// methodNames are the names of each object's methods: UVERBS_METHOD_* without
// the prefix.
var methodNames = [...][]string{
	uapi.ObjectDevice: {
		uapi.MethodInvokeWrite:          "INVOKE_WRITE",
		uapi.MethodInfoHandles:          "INFO_HANDLES",
		uapi.MethodQueryPort:            "QUERY_PORT",
		uapi.MethodGetContext:           "GET_CONTEXT",
		uapi.MethodQueryContext:         "QUERY_CONTEXT",
		uapi.MethodQueryGIDTable:        "QUERY_GID_TABLE",
		uapi.MethodQueryGIDEntry:        "QUERY_GID_ENTRY",
		uapi.MethodQueryPortSpeed:       "QUERY_PORT_SPEED",
		uapi.MethodQueryCompCounterCaps: "QUERY_COMP_CNTR_CAPS",
	},
	uapi.ObjectPD: {
		uapi.MethodPDDestroy: "PD_DESTROY",
	},
	uapi.ObjectCQ: {
		uapi.MethodCQCreate:  "CQ_CREATE",
		uapi.MethodCQDestroy: "CQ_DESTROY",
	},
	uapi.ObjectQP: {
		uapi.MethodQPCreate:            "QP_CREATE",
		uapi.MethodQPDestroy:           "QP_DESTROY",
		uapi.MethodQPAttachCompCounter: "QP_ATTACH_COMP_CNTR",
	},
	uapi.ObjectSRQ: {
		uapi.MethodSRQCreate:  "SRQ_CREATE",
		uapi.MethodSRQDestroy: "SRQ_DESTROY",
	},
	uapi.ObjectAH: {
		uapi.MethodAHDestroy: "AH_DESTROY",
	},
	uapi.ObjectMR: {
		uapi.MethodDMMRReg:     "DM_MR_REG",
		uapi.MethodMRDestroy:   "MR_DESTROY",
		uapi.MethodAdviseMR:    "ADVISE_MR",
		uapi.MethodQueryMR:     "QUERY_MR",
		uapi.MethodRegDMABufMR: "REG_DMABUF_MR",
		uapi.MethodRegMR:       "REG_MR",
	},
	uapi.ObjectMW: {
		uapi.MethodMWDestroy: "MW_DESTROY",
	},
	uapi.ObjectFlow: {
		uapi.MethodFlowDestroy: "FLOW_DESTROY",
	},
	uapi.ObjectXRCD: {
		uapi.MethodXRCDDestroy: "XRCD_DESTROY",
	},
	uapi.ObjectRWQIndTable: {
		uapi.MethodRWQIndTableDestroy: "RWQ_IND_TBL_DESTROY",
	},
	uapi.ObjectWQ: {
		uapi.MethodWQCreate:  "WQ_CREATE",
		uapi.MethodWQDestroy: "WQ_DESTROY",
	},
	uapi.ObjectFlowAction: {
		uapi.MethodFlowActionESPCreate: "FLOW_ACTION_ESP_CREATE",
		uapi.MethodFlowActionDestroy:   "FLOW_ACTION_DESTROY",
		uapi.MethodFlowActionESPModify: "FLOW_ACTION_ESP_MODIFY",
	},
	uapi.ObjectDM: {
		uapi.MethodDMAlloc: "DM_ALLOC",
		uapi.MethodDMFree:  "DM_FREE",
	},
	uapi.ObjectCounters: {
		uapi.MethodCountersCreate:  "COUNTERS_CREATE",
		uapi.MethodCountersDestroy: "COUNTERS_DESTROY",
		uapi.MethodCountersRead:    "COUNTERS_READ",
	},
	uapi.ObjectAsyncEvent: {
		uapi.MethodAsyncEventAlloc: "ASYNC_EVENT_ALLOC",
	},
	uapi.ObjectDMAHandle: {
		uapi.MethodDMAHandleAlloc: "DMAH_ALLOC",
		uapi.MethodDMAHandleFree:  "DMAH_FREE",
	},
	uapi.ObjectDMABuf: {
		uapi.MethodDMABufAlloc: "DMABUF_ALLOC",
	},
	uapi.ObjectCompCounter: {
		uapi.MethodCompCounterCreate:  "COMP_CNTR_CREATE",
		uapi.MethodCompCounterDestroy: "COMP_CNTR_DESTROY",
		uapi.MethodCompCounterModify:  "COMP_CNTR_MODIFY",
		uapi.MethodCompCounterRead:    "COMP_CNTR_READ",
	},
}

// methodName returns an object's name and its method's.
func methodName(object, method uint16) string {
	kind := ObjectKind(object)
	if int(object) < len(methodNames) && int(method) < len(methodNames[object]) {
		return kind.String() + " " + methodNames[object][method]
	}
	return fmt.Sprintf("%v method %d", kind, method)
}
