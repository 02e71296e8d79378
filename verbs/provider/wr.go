package provider

// Access is what may be done to memory (enum ib_uverbs_access_flags). A queue pair
// has such rights too; both have to allow what comes from the other side.
type Access uint32

// A SGE is a piece of registered memory (struct ibv_sge).
type SGE struct {
	Addr   uint64 // an address within the MR
	Length uint32 // bytes
	LKey   uint32
}

// Opcode is what a send work request does (enum ib_uverbs_wr_opcode of
// <rdma/ib_user_verbs.h>).
type Opcode uint8

// Operations.
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

// String returns the operation in words.
func (o Opcode) String() string {
	if int(o) < len(opcodeNames) && opcodeNames[o] != "" {
		return opcodeNames[o]
	}
	return "operation " + decimal(uint(o))
}

// SendFlags are flags of a send work request (enum ib_uverbs_send_flags).
type SendFlags uint8

// Flags of a send work request.
const (
	SendFence     SendFlags = 1 << 0 // begins after the reads and atomics before it
	SendSignaled  SendFlags = 1 << 1 // completes with a Completion even without an error
	SendSolicited SendFlags = 1 << 2 // wakes a receiver that armed for solicited only
	SendInline    SendFlags = 1 << 3 // the data is Inline
)

// A SendWR is a send work request. The memory of SGEs is the device's until the
// work request has completed; SGEs itself and Inline are the caller's again when
// posting returns.
type SendWR struct {
	ID     uint64 // comes back as Completion.ID
	Opcode Opcode
	Flags  SendFlags
	SGEs   []SGE  // what is sent, or where what is read goes to
	Inline []byte // instead of SGEs, with SendInline

	Imm           uint32 // of operations with immediate; host byte order
	InvalidateKey uint32 // a window's RKey, of this side or, with a send, of the other

	// Of writes, reads and atomics. An atomic's address is a multiple of 8, and
	// its SGEs 8 bytes, where the value from before goes.
	RemoteAddr uint64
	RKey       uint32

	CompareAdd uint64 // compare and swap: what is expected; fetch and add: what is added
	Swap       uint64

	Bind *Bind // of OpBindMW

	// Of datagrams. One that is longer than the port's MTU is not sent, but
	// completes as if it was: so the specification wants it (C10-93.1.1).
	AH        AddressHandle
	RemoteQPN uint32
	QKey      uint32
}

// Bind is what OpBindMW does to a memory window.
type Bind struct {
	Window uint32 // the window's RKey so far
	RKey   uint32 // its RKey from then on; only the low 8 bits may differ
	LKey   uint32 // of the memory region, which has AccessMWBind
	Addr   uint64 // within the region
	Length uint64
	Access Access // AccessRemoteRead and so on
}

// A RecvWR is a receive work request.
type RecvWR struct {
	ID   uint64
	SGEs []SGE // datagrams need 40 bytes more, in front, for the GRH
}

// An AddressHandle says where datagrams go.
type AddressHandle interface {
	// Provided returns what the provider made, or nil after it was closed.
	Provided() any
}
