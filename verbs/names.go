package verbs

import "github.com/ibkit/ibkit/verbs/provider"

// The types are declared in package provider, because the queues of drivers, which this
// package imports, use them. go doc prints their fields there: go doc verbs/provider.SendWR.
type (
	// A Path is the route to another port; [provider.Path] has the fields.
	Path = provider.Path

	// An SGE is a registered memory range; see [MR.SGE].
	SGE = provider.SGE

	// A SendWR is a send work request; [provider.SendWR] has the fields.
	SendWR = provider.SendWR

	// A Destination is an address handle in work requests.
	Destination = provider.Destination

	// A RecvWR is a receive work request; [provider.RecvWR] has the fields.
	RecvWR = provider.RecvWR

	// Bind are the OpBindMW parameters; [provider.Bind] has the fields.
	Bind = provider.Bind

	// Access are memory and queue pair access rights. A peer request
	// needs the right on both.
	Access = provider.Access

	// Opcode is a SendWR's operation.
	Opcode = provider.Opcode

	// SendFlags are a SendWR's flags.
	SendFlags = provider.SendFlags

	// A Completion is a work request's result; [provider.Completion] has the fields.
	Completion = provider.Completion

	// A CompletionError is a failed work request's error. See Completion.Err.
	CompletionError = provider.CompletionError

	// Status is a work request's result code.
	Status = provider.Status

	// CompletionFlags mark a Completion's valid optional fields.
	CompletionFlags = provider.CompletionFlags

	// CompletionOpcode is a completed work request's operation.
	CompletionOpcode = provider.CompletionOpcode

	// QPCap is a queue pair's capacity; [provider.QPCap] has the fields.
	QPCap = provider.QPCap
)

// A SendWR's operations.
const (
	OpWrite           = provider.OpWrite
	OpWriteWithImm    = provider.OpWriteWithImm
	OpSend            = provider.OpSend
	OpSendWithImm     = provider.OpSendWithImm
	OpRead            = provider.OpRead
	OpCompareSwap     = provider.OpCompareSwap
	OpFetchAdd        = provider.OpFetchAdd
	OpLocalInvalidate = provider.OpLocalInvalidate
	OpBindMW          = provider.OpBindMW
	OpSendInvalidate  = provider.OpSendInvalidate
)

// The access rights.
const (
	AccessLocalWrite      = provider.AccessLocalWrite
	AccessRemoteWrite     = provider.AccessRemoteWrite
	AccessRemoteRead      = provider.AccessRemoteRead
	AccessRemoteAtomic    = provider.AccessRemoteAtomic
	AccessMWBind          = provider.AccessMWBind
	AccessOnDemand        = provider.AccessOnDemand
	AccessRelaxedOrdering = provider.AccessRelaxedOrdering
)

// A SendWR's flags.
const (
	SendFence     = provider.SendFence
	SendSignaled  = provider.SendSignaled
	SendSolicited = provider.SendSolicited
	SendInline    = provider.SendInline
)

// The work request result codes.
const (
	StatusOK             = provider.StatusOK
	StatusLocalLength    = provider.StatusLocalLength
	StatusLocalQPOp      = provider.StatusLocalQPOp
	StatusLocalProt      = provider.StatusLocalProt
	StatusFlushed        = provider.StatusFlushed
	StatusMWBind         = provider.StatusMWBind
	StatusBadResponse    = provider.StatusBadResponse
	StatusLocalAccess    = provider.StatusLocalAccess
	StatusRemoteInvalid  = provider.StatusRemoteInvalid
	StatusRemoteAccess   = provider.StatusRemoteAccess
	StatusRemoteOp       = provider.StatusRemoteOp
	StatusRetryExceeded  = provider.StatusRetryExceeded
	StatusRNRExceeded    = provider.StatusRNRExceeded
	StatusRemoteInvalRDD = provider.StatusRemoteInvalRDD
	StatusRemoteAborted  = provider.StatusRemoteAborted
	StatusFatal          = provider.StatusFatal
	StatusRespTimeout    = provider.StatusRespTimeout
	StatusGeneral        = provider.StatusGeneral
)

// The completed work request operations.
const (
	CompletedSend            = provider.CompletedSend
	CompletedWrite           = provider.CompletedWrite
	CompletedRead            = provider.CompletedRead
	CompletedCompareSwap     = provider.CompletedCompareSwap
	CompletedFetchAdd        = provider.CompletedFetchAdd
	CompletedBindMW          = provider.CompletedBindMW
	CompletedLocalInvalidate = provider.CompletedLocalInvalidate
	CompletedRecv            = provider.CompletedRecv
	CompletedRecvWriteImm    = provider.CompletedRecvWriteImm
)

// A Completion's flags.
const (
	CompletionGRH     = provider.CompletionGRH
	CompletionWithImm = provider.CompletionWithImm
	CompletionWithInv = provider.CompletionWithInv
)

// The posting and polling errors, for errors.Is. Use after Close is
// [io/fs.ErrClosed].
var (
	ErrFull    = provider.ErrFull
	ErrSGEs    = provider.ErrSGEs
	ErrInline  = provider.ErrInline
	ErrLength  = provider.ErrLength
	ErrOpcode  = provider.ErrOpcode
	ErrAH      = provider.ErrAH
	ErrCorrupt = provider.ErrCorrupt
)
