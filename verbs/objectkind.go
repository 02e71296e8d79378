package verbs

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
)

// An ObjectKind is a kernel object kind (enum uverbs_default_objects in
// <rdma/ib_user_ioctl_cmds.h>).
type ObjectKind uint16

// Object kinds that a Context creates.
const (
	ObjectPD          ObjectKind = uapi.ObjectPD
	ObjectCompChannel ObjectKind = uapi.ObjectCompChannel
	ObjectCQ          ObjectKind = uapi.ObjectCQ
	ObjectQP          ObjectKind = uapi.ObjectQP
	ObjectSRQ         ObjectKind = uapi.ObjectSRQ
	ObjectAH          ObjectKind = uapi.ObjectAH
	ObjectMR          ObjectKind = uapi.ObjectMR
	ObjectMW          ObjectKind = uapi.ObjectMW
	ObjectXRCD        ObjectKind = uapi.ObjectXRCD
)

// objectNames are the UVERBS_OBJECT_* names without their prefix.
var objectNames = [...]string{
	uapi.ObjectDevice:      "DEVICE",
	uapi.ObjectPD:          "PD",
	uapi.ObjectCompChannel: "COMP_CHANNEL",
	uapi.ObjectCQ:          "CQ",
	uapi.ObjectQP:          "QP",
	uapi.ObjectSRQ:         "SRQ",
	uapi.ObjectAH:          "AH",
	uapi.ObjectMR:          "MR",
	uapi.ObjectMW:          "MW",
	uapi.ObjectFlow:        "FLOW",
	uapi.ObjectXRCD:        "XRCD",
	uapi.ObjectRWQIndTable: "RWQ_IND_TBL",
	uapi.ObjectWQ:          "WQ",
	uapi.ObjectFlowAction:  "FLOW_ACTION",
	uapi.ObjectDM:          "DM",
	uapi.ObjectCounters:    "COUNTERS",
	uapi.ObjectAsyncEvent:  "ASYNC_EVENT",
	uapi.ObjectDMAHandle:   "DMAH",
	uapi.ObjectDMABuf:      "DMABUF",
	uapi.ObjectCompCounter: "COMP_CNTR",
}

// String returns the kernel's name for the kind, "MR".
func (k ObjectKind) String() string {
	if int(k) < len(objectNames) {
		return objectNames[k]
	}
	return fmt.Sprintf("object %d", uint16(k))
}
