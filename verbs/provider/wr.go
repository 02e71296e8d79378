package provider

import "sync/atomic"

// Access are memory (enum ib_uverbs_access_flags) and queue pair access rights. A peer request
// needs the right on both.
type Access uint32

// The access rights. AccessRemoteWrite and AccessRemoteAtomic require
// AccessLocalWrite.
const (
	AccessLocalWrite      Access = 1 << 0
	AccessRemoteWrite     Access = 1 << 1
	AccessRemoteRead      Access = 1 << 2
	AccessRemoteAtomic    Access = 1 << 3
	AccessMWBind          Access = 1 << 4 // for memory windows
	AccessOnDemand        Access = 1 << 6
	AccessRelaxedOrdering Access = 1 << 20 // optional: ignored unless Context.OptionalMRAccess
)

// An SGE is a registered memory range (struct ibv_sge).
type SGE struct {
	Addr   uint64 // an address within the MR
	Length uint32 // bytes
	LKey   uint32
}

// Length returns the sum of the SGE lengths, or ErrLength if it exceeds a limit. Both
// are in bytes.
func Length(sges []SGE, limit uint32) (uint32, error) {
	var sum uint64
	for i := range sges {
		sum += uint64(sges[i].Length)
	}
	if sum > uint64(limit) {
		return 0, ErrLength
	}
	return uint32(sum), nil
}

// Opcode is a send work request's operation (enum ib_uverbs_wr_opcode in
// <rdma/ib_user_verbs.h>).
type Opcode uint8

// The operations.
const (
	OpWrite           Opcode = 0
	OpWriteWithImm    Opcode = 1
	OpSend            Opcode = 2
	OpSendWithImm     Opcode = 3
	OpRead            Opcode = 4
	OpCompareSwap     Opcode = 5
	OpFetchAdd        Opcode = 6
	OpLocalInvalidate Opcode = 7
	OpBindMW          Opcode = 8
	OpSendInvalidate  Opcode = 9
)

var opcodeNames = [...]string{
	OpWrite: "write", OpWriteWithImm: "write with immediate", OpSend: "send", OpSendWithImm: "send with immediate",
	OpRead: "read", OpCompareSwap: "compare and swap", OpFetchAdd: "fetch and add",
	OpLocalInvalidate: "local invalidate", OpBindMW: "bind memory window", OpSendInvalidate: "send with invalidate",
}

// String returns the operation as text.
func (o Opcode) String() string {
	if int(o) < len(opcodeNames) && opcodeNames[o] != "" {
		return opcodeNames[o]
	}
	return "operation " + decimal(uint(o))
}

// IsAtomic reports whether the operation is an atomic.
func (o Opcode) IsAtomic() bool { return o == OpCompareSwap || o == OpFetchAdd }

// CarriesPayload reports whether the operation sends a payload to the peer.
func (o Opcode) CarriesPayload() bool {
	switch o {
	case OpRead, OpCompareSwap, OpFetchAdd, OpLocalInvalidate, OpBindMW:
		return false
	}
	return true
}

// SendFlags are a send work request's flags (enum ib_uverbs_send_flags).
type SendFlags uint8

// A send work request's flags.
const (
	SendFence     SendFlags = 1 << 0 // starts after all earlier reads and atomics are complete
	SendSignaled  SendFlags = 1 << 1 // generates a Completion on success, too
	SendSolicited SendFlags = 1 << 2 // causes an event if the peer's CQ is armed for solicited completions only
	SendInline    SendFlags = 1 << 3 // the payload is SendWR.Inline
)

// A SendWR is a send work request. The device uses the SGEs' memory until the
// work request is complete. The slices SGEs and Inline may be reused when posting
// returns.
type SendWR struct {
	ID     uint64 // returned in Completion.ID
	Opcode Opcode
	Flags  SendFlags
	SGEs   []SGE  // payload, or the destination for reads and atomics
	Inline []byte // payload instead of SGEs, with SendInline

	Imm           uint32 // immediate data; host byte order
	InvalidateKey uint32 // a memory window's RKey; the peer window's for OpSendInvalidate

	// For writes, reads and atomics. An atomic's address is a multiple of 8;
	// its SGEs have 8 bytes and receive the previous value.
	RemoteAddr uint64
	RKey       uint32

	CompareAdd uint64 // compare and swap: expected value; fetch and add: addend
	Swap       uint64

	Bind *Bind // for OpBindMW; its work request may take the room of several

	// For datagrams, and all operations of SRD. A UD datagram that exceeds the port's MTU
	// is not sent but completes with StatusOK, as the specification requires (C10-93.1.1).
	AH        *Destination // verbs.AH.Destination
	RemoteQPN uint32
	QKey      uint32

	// For XRCInit: the peer's SRQ number, for all operations. Its protection domain is the
	// memory's.
	RemoteSRQN uint32
}

// Bind are the OpBindMW parameters.
type Bind struct {
	Window uint32 // window's current RKey
	RKey   uint32 // new RKey; only the low 8 bits may differ
	LKey   uint32 // the memory region's, which needs AccessMWBind
	Addr   uint64 // within the region
	Length uint64
	Access Access // peer rights, for example AccessRemoteRead
}

// A RecvWR is a receive work request.
type RecvWR struct {
	ID   uint64
	SGEs []SGE // a datagram's begin with 40 bytes for the GRH
}

// A Destination is an address handle in work requests. Its methods do not go through an
// interface, because they are called for each datagram.
type Destination struct {
	provided any
	closed   atomic.Bool
}

// NewDestination returns a destination with Provider.NewAH's result.
func NewDestination(provided any) *Destination { return &Destination{provided: provided} }

// Provided returns the Provider.NewAH result, or nil for a closed destination and none.
func (d *Destination) Provided() any {
	if d == nil || d.closed.Load() {
		return nil
	}
	return d.provided
}

// SetClosed closes a destination for work requests, or opens it again.
func (d *Destination) SetClosed(closed bool) { d.closed.Store(closed) }
