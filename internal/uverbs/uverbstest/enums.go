package uverbstest

// An access is a memory access right set (enum ib_uverbs_access_flags in
// <rdma/ib_user_ioctl_verbs.h>).
type access uint32

const (
	accessLocalWrite   access = 1 << 0
	accessRemoteWrite  access = 1 << 1
	accessRemoteRead   access = 1 << 2
	accessRemoteAtomic access = 1 << 3
	accessMWBind       access = 1 << 4
)

// An opcode is a send operation (enum ib_uverbs_wr_opcode in <rdma/ib_user_verbs.h>).
type opcode uint32

const (
	opWrite           opcode = 0
	opWriteWithImm    opcode = 1
	opSendWithImm     opcode = 3
	opRead            opcode = 4
	opCompareSwap     opcode = 5
	opFetchAdd        opcode = 6
	opLocalInvalidate opcode = 7
	opBindMW          opcode = 8
	opSendInvalidate  opcode = 9
)

func (o opcode) isAtomic() bool { return o == opCompareSwap || o == opFetchAdd }

// Send work request flags (enum ib_send_flags in the kernel's <rdma/ib_verbs.h>).
const (
	sendSignaled  = 1 << 1
	sendSolicited = 1 << 2
	sendInline    = 1 << 3
)

// A status is a work request result (enum ib_wc_status in <rdma/ib_verbs.h>).
type status uint32

const (
	statusOK            status = 0
	statusLocalLength   status = 1
	statusLocalProt     status = 4
	statusFlushed       status = 5
	statusMWBind        status = 6
	statusRemoteInvalid status = 9
	statusRemoteAccess  status = 10
	statusRemoteOp      status = 11
	statusRetryExceeded status = 12
	statusRNRExceeded   status = 13
)

// Completion operations (enum ib_uverbs_wc_opcode in <rdma/ib_user_verbs.h>); sends are 0.
const (
	completedWrite           = 1
	completedRead            = 2
	completedCompareSwap     = 3
	completedFetchAdd        = 4
	completedBindMW          = 5
	completedLocalInvalidate = 6
	completedRecv            = 128
	completedRecvWriteImm    = 129
)

// Completion flags (enum ib_wc_flags in <rdma/ib_verbs.h>).
const (
	wcGRH            = 1 << 0
	wcWithImm        = 1 << 1
	wcWithInvalidate = 1 << 2
)

// The queue pair states (enum ib_qp_state in <rdma/ib_verbs.h>) that matter here.
const (
	stateReset = 0
	stateRTR   = 2
	stateRTS   = 3
	stateError = 6
)

// The attributes in a queue pair change (enum ib_qp_attr_mask) that matter here.
const (
	maskAccess = 1 << 3
	maskQKey   = 1 << 6
	maskDest   = 1 << 20
)

// The queue pair types (enum ib_qp_type) that matter here.
const (
	kindRC = 2
	kindUD = 4
)

// eventSRQLimitReached is IB_EVENT_SRQ_LIMIT_REACHED from enum ib_event_type.
const eventSRQLimitReached = 15
