package verbs

import "github.com/ibkit/ibkit/verbs/provider"

// Package provider has these, so that drivers' queues can use them.
type (
	// A SGE is a piece of registered memory.
	SGE = provider.SGE

	// A SendWR is a send work request.
	SendWR = provider.SendWR

	// A RecvWR is a receive work request.
	RecvWR = provider.RecvWR

	// Bind is what OpBindMW does to a memory window.
	Bind = provider.Bind

	// Access is what may be done to memory, and what a queue pair lets the other
	// side do: both have to allow it.
	Access = provider.Access

	// Opcode is what a SendWR does.
	Opcode = provider.Opcode

	// SendFlags are flags of a SendWR.
	SendFlags = provider.SendFlags

	// A Completion is a work request that is over.
	Completion = provider.Completion

	// A CompletionError is a work request that ended with an error; it says what to
	// look at. See Completion.Err.
	CompletionError = provider.CompletionError

	// Status is how a work request ended.
	Status = provider.Status

	// CompletionFlags tell which fields of a Completion mean something.
	CompletionFlags = provider.CompletionFlags

	// CompletionOpcode is what a Completion's work request did.
	CompletionOpcode = provider.CompletionOpcode

	// QPCap is how much a queue pair holds.
	QPCap = provider.QPCap
)

// Operations of a SendWR.
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

// Flags of a SendWR.
const (
	SendFence     = provider.SendFence
	SendSignaled  = provider.SendSignaled
	SendSolicited = provider.SendSolicited
	SendInline    = provider.SendInline
)

// How work requests end.
const (
	StatusOK            = provider.StatusOK
	StatusLocalLength   = provider.StatusLocalLength
	StatusLocalQPOp     = provider.StatusLocalQPOp
	StatusLocalProt     = provider.StatusLocalProt
	StatusFlushed       = provider.StatusFlushed
	StatusMWBind        = provider.StatusMWBind
	StatusBadResponse   = provider.StatusBadResponse
	StatusLocalAccess   = provider.StatusLocalAccess
	StatusRemoteInvalid = provider.StatusRemoteInvalid
	StatusRemoteAccess  = provider.StatusRemoteAccess
	StatusRemoteOp      = provider.StatusRemoteOp
	StatusRetryExceeded = provider.StatusRetryExceeded
	StatusRNRExceeded   = provider.StatusRNRExceeded
	StatusRemoteAborted = provider.StatusRemoteAborted
	StatusFatal         = provider.StatusFatal
	StatusRespTimeout   = provider.StatusRespTimeout
	StatusGeneral       = provider.StatusGeneral
)

// What a Completion's work request did.
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

// Flags of a Completion.
const (
	CompletionGRH     = provider.CompletionGRH
	CompletionWithImm = provider.CompletionWithImm
	CompletionWithInv = provider.CompletionWithInv
)

// What posting and polling refuse, for errors.Is. An object that was closed is
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
