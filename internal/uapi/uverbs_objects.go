package uapi

// Objects of uverbs: enum uverbs_default_objects of <rdma/ib_user_ioctl_cmds.h>. The
// last three are from rdma-core 65; kernels before 6.17 do not support them.
const (
	ObjectDevice      = iota // UVERBS_OBJECT_DEVICE
	ObjectPD                 // UVERBS_OBJECT_PD
	ObjectCompChannel        // UVERBS_OBJECT_COMP_CHANNEL
	ObjectCQ                 // UVERBS_OBJECT_CQ
	ObjectQP                 // UVERBS_OBJECT_QP
	ObjectSRQ                // UVERBS_OBJECT_SRQ
	ObjectAH                 // UVERBS_OBJECT_AH
	ObjectMR                 // UVERBS_OBJECT_MR
	ObjectMW                 // UVERBS_OBJECT_MW
	ObjectFlow               // UVERBS_OBJECT_FLOW
	ObjectXRCD               // UVERBS_OBJECT_XRCD
	ObjectRWQIndTable        // UVERBS_OBJECT_RWQ_IND_TBL
	ObjectWQ                 // UVERBS_OBJECT_WQ
	ObjectFlowAction         // UVERBS_OBJECT_FLOW_ACTION
	ObjectDM                 // UVERBS_OBJECT_DM
	ObjectCounters           // UVERBS_OBJECT_COUNTERS
	ObjectAsyncEvent         // UVERBS_OBJECT_ASYNC_EVENT
	ObjectDMAHandle          // UVERBS_OBJECT_DMAH
	ObjectDMABuf             // UVERBS_OBJECT_DMABUF
	ObjectCompCounter        // UVERBS_OBJECT_COMP_CNTR
)

// Attributes for data of the driver, in the methods that have them. From this number
// on, methods, objects and attributes are specific to the driver
// (UVERBS_ID_DRIVER_NS).
const (
	AttrUHWIn  = 0x1000 // UVERBS_ATTR_UHW_IN
	AttrUHWOut = 0x1001 // UVERBS_ATTR_UHW_OUT
)
