package provider

import (
	"io"
	"net/netip"
)

// A Provider implements one driver's queues on an open device. Its methods may
// be called concurrently.
type Provider interface {
	// NewCQ creates a completion queue.
	NewCQ(attr CQAttr, create Create) (CQ, error)

	// NewQP creates a queue pair's two work queues.
	NewQP(attr QPAttr, create Create) (QP, error)

	// NewSRQ creates a shared receive queue.
	NewSRQ(attr SRQAttr, create Create) (SRQ, error)

	// NewAH creates an address handle in a protection domain with a driver's
	// number. Destination.Provided returns its result. A provider with work requests that
	// contain the path does not need to call create.
	NewAH(path Path, domain uint32, create Create) (any, error)

	// Close follows all queues' Close and precedes the device's Close.
	Close() error
}

// A Rounder is a [Provider] whose driver takes only the capacities that its queues can
// have.
type Rounder interface {
	// RoundQP returns a queue pair's next larger capacity.
	RoundQP(QPCap) QPCap

	// RoundSRQ returns a shared receive queue's next larger capacity.
	RoundSRQ(SRQAttr) SRQAttr
}

// A CQRounder is a [Provider] with completion queues that have more entries than
// completions, which the driver takes the number of.
type CQRounder interface {
	// RoundCQ returns the entry count for a number of completions.
	RoundCQ(completions uint32) uint32
}

// A Registrar is a [Provider] of a driver that reads data with the registration of
// memory.
type Registrar interface {
	// RegisterMR returns the data that the driver reads, and the room for its response.
	RegisterMR() (in, out []byte)
}

// Create creates the kernel's object. in is the data that the driver reads, out the
// room for its response (UVERBS_ATTR_UHW_IN, UVERBS_ATTR_UHW_OUT).
type Create func(in, out []byte) (Created, error)

// Created describes an object that the kernel has created.
type Created struct {
	Handle uint32
	Number uint32 // QPN or SRQ number
	CQE    uint32 // a CQ's capacity in completions
	Cap    QPCap  // a QP's actual capacity
	MaxWR  uint32 // of an SRQ
	MaxSGE uint32 // of an SRQ
}

// QPCap is a queue pair's capacity (struct ib_uverbs_qp_cap).
type QPCap struct {
	MaxSendWR, MaxRecvWR   uint32 // work requests
	MaxSendSGE, MaxRecvSGE uint32 // SGEs per work request
	MaxInline              uint32 // bytes per work request
}

// Transport is a queue pair type that can be posted to.
type Transport uint8

// The transports, with the enum ib_uverbs_qp_type values.
const (
	RC Transport = 2
	UC Transport = 3
	UD Transport = 4

	// SRD is the efa driver's reliable, unordered datagrams.
	SRD Transport = 255

	// XRCInit sends to any SRQ of its peer's domain, XRCTarget is that peer.
	XRCInit   Transport = 9
	XRCTarget Transport = 10
)

// CQAttr are the parameters of NewCQ.
type CQAttr struct {
	Entries uint32 // minimum capacity in completions
	Events  bool   // the queue has a completion channel
}

// QPAttr are the parameters of NewQP.
type QPAttr struct {
	Transport Transport
	Cap       QPCap
	SendCQ    CQ  // nil for XRCTarget
	RecvCQ    CQ  // nil for XRCInit and XRCTarget
	SRQ       SRQ // nil for its own receive queue
	SignalAll bool
}

// SRQAttr are the parameters of NewSRQ.
type SRQAttr struct {
	MaxWR, MaxSGE uint32

	// CQ, unless nil, gets the completions: the queue belongs to an XRC domain.
	CQ CQ
}

// A CQ is a completion queue.
type CQ interface {
	// Poll removes as many completions as are available and fit, and returns their
	// number.
	Poll(into []Completion) (int, error)

	// Arm requests an event for the next completion, or for the next solicited completion.
	Arm(solicitedOnly bool) error

	// Delivered is called for each queue event that was read from its channel.
	Delivered()

	Close() error
}

// A Resizer is a [CQ] with a driver that supports another capacity.
type Resizer interface {
	// Resize changes the capacity to at least entries completions, and keeps those that
	// were not polled. resize sends the command with the data that the driver reads, and
	// returns the actual capacity.
	Resize(entries uint32, resize func(in []byte) (uint32, error)) error
}

// A QP is a queue pair. Sends and receives may be posted concurrently.
type QP interface {
	// Cap returns the actual capacity.
	Cap() QPCap

	// PostSend returns the posted request count.
	PostSend(wrs []SendWR) (int, error)

	// PostRecv returns the posted request count.
	PostRecv(wrs []RecvWR) (int, error)

	// Reset discards all posted work requests, as the kernel did when the queue pair
	// changed to the state RESET.
	Reset()

	Close() error
}

// A Flusher is a [QP] of an adapter that does not complete all work requests in the error
// state.
type Flusher interface {
	// Flush follows a change to the error state.
	Flush()
}

// A Sequencer is a [QP] that writes packet numbers for the adapter.
type Sequencer interface {
	// Sequence follows a change of the first packet's number, or of the packets' largest
	// payload in bytes. It is nil unless changed.
	Sequence(first, payload *uint32)
}

// A Limiter is an [SRQ] that arms the adapter for its limit.
type Limiter interface {
	// SetLimit follows a change of the limit.
	SetLimit(limit uint32)
}

// An SRQ is a shared receive queue.
type SRQ interface {
	PostRecv(wrs []RecvWR) (int, error)

	// ModifyIn returns the data that the driver reads with a MODIFY_SRQ of the
	// limit.
	ModifyIn() []byte

	Close() error
}

// A Device gives a provider access to the open device.
type Device interface {
	// Map maps driver memory at a device node offset, shared for
	// reading and writing. Unmap undoes it.
	Map(offset uint64, length int) ([]byte, error)
	Unmap([]byte) error

	// MapRead is Map for reading only.
	MapRead(offset uint64, length int) ([]byte, error)

	// Domain returns the driver's response to the creation of a protection domain that the
	// device keeps.
	Domain() ([]byte, error)

	// Register registers a queue's memory, which the driver finds by its address when the
	// queue is created. in is the data that the driver reads. The result ends the
	// registration.
	Register(addr uint64, length int, in []byte) (io.Closer, error)

	// Doorbell returns a kernel doorbell: POST_SEND without work requests on
	// a queue pair.
	Doorbell(qp uint32) Doorbell

	// Notifier returns a completion queue's notifier (REQ_NOTIFY_CQ).
	Notifier(cq uint32) Notifier

	// PollCQ polls a completion queue in the kernel, which lets a driver finish a change of its
	// size.
	PollCQ(cq uint32) error

	// Call calls a method that only this driver has.
	Call(op string, object, method uint16, attrs ...Attr) error

	// QueryDevice stores the driver's part of the response to QUERY_DEVICE.
	QueryDevice(vendor []byte) error

	// NUMANode returns the memory node closest to the device, or nil if it is
	// unknown.
	NUMANode() *int

	// Network returns a GID's network.
	Network(port, gidIndex uint8) (Network, error)

	// GID returns an entry of a port's GID table.
	GID(port, gidIndex uint8) (netip.Addr, error)

	// MAC returns the Ethernet address of the first hop to a GID. It may wait for the
	// kernel's address resolution.
	MAC(path Path) ([6]byte, error)
}

// An Attr is an attribute of a driver's method. Exactly one field among its last four is
// set.
type Attr struct {
	ID       uint16
	Handle   *uint32 // the object's; the kernel stores the handle for an object that it creates
	Constant *uint64
	In       []byte // for the kernel to read
	Out      []byte // for the kernel to write
}

// Network is a port's or a GID's packet format.
type Network uint8

// The networks.
const (
	InfiniBand Network = iota
	RoCEv1
	RoCEv2

	// GlobalInfiniBand is a port with packets that need a GRH, for example of a virtual
	// function (IBV_QPF_GRH_REQUIRED).
	GlobalInfiniBand
)

// A Doorbell notifies the kernel of new work requests in a queue. Ring is not called
// concurrently and does not allocate. brief: the kernel does not block; bypass the
// scheduler.
type Doorbell interface {
	Ring(brief bool) error
}

// A Notifier arms a completion queue. Arm is not called concurrently and does not
// allocate.
type Notifier interface {
	Arm(solicitedOnly bool) error
}
