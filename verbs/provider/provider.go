package provider

// A Provider knows the queues of one driver on one open device. Its methods may be
// called at the same time.
type Provider interface {
	// NewCQ makes a completion queue.
	NewCQ(create Create) (CQ, error)

	// NewQP makes a queue pair's two work queues.
	NewQP(attr QPAttr, create Create) (QP, error)

	// NewSRQ makes a shared receive queue.
	NewSRQ(attr SRQAttr, create Create) (SRQ, error)

	// NewAH makes an address handle; what it returns is AddressHandle.Provided.
	NewAH(create Create) (any, error)
}

// Create has the kernel make an object. In is what the driver reads, out is room
// for what it writes (UVERBS_ATTR_UHW_IN, UVERBS_ATTR_UHW_OUT).
type Create func(in, out []byte) (Created, error)

// Created is the object that the kernel made.
type Created struct {
	Handle uint32
	Number uint32 // QPN or SRQ number
	CQE    uint32 // of a CQ: completions it holds
	Cap    QPCap  // of a QP: what it really has
	MaxWR  uint32 // of a SRQ
	MaxSGE uint32 // of a SRQ
}

// QPCap is how much a queue pair holds (struct ib_uverbs_qp_cap).
type QPCap struct {
	MaxSendWR, MaxRecvWR   uint32 // work requests
	MaxSendSGE, MaxRecvSGE uint32 // SGEs each
	MaxInline              uint32 // bytes of a work request
}

// Transport is the type of a queue pair as far as posting goes.
type Transport uint8

// Transports, by enum ib_uverbs_qp_type.
const (
	RC Transport = 2
	UC Transport = 3
	UD Transport = 4
)

// QPAttr is what a provider wants to know of a queue pair to be made.
type QPAttr struct {
	Transport Transport
	Cap       QPCap
	SRQ       bool // receives from a shared receive queue
	SignalAll bool
	Dedicated bool // who posts has a processor to itself: a doorbell may take long
}

// SRQAttr is what a provider wants to know of a shared receive queue to be made.
type SRQAttr struct {
	MaxWR, MaxSGE uint32
}

// A CQ is a completion queue.
type CQ interface {
	// Poll takes as many completions as there are and fit.
	Poll(into []Completion) (int, error)

	// Arm asks for an event by the next completion, or the next solicited one.
	Arm(solicitedOnly bool) error

	Close() error
}

// A QP is a queue pair. Sending and receiving may happen at the same time.
type QP interface {
	// PostSend returns how many were posted.
	PostSend(wrs []SendWR) (int, error)

	// PostRecv returns how many were posted.
	PostRecv(wrs []RecvWR) (int, error)

	// Reset forgets all that was posted: the kernel did, for the queue pair went
	// to the state RESET.
	Reset()

	Close() error
}

// A SRQ is a shared receive queue.
type SRQ interface {
	PostRecv(wrs []RecvWR) (int, error)

	// ModifyIn is what the driver reads with MODIFY_SRQ of the limit.
	ModifyIn() []byte

	Close() error
}

// A Device is what a provider may use of the open device.
type Device interface {
	// Map maps memory that the driver offers at an offset of the device's node,
	// to be read and written by both. Unmap gives it back.
	Map(offset uint64, length int) ([]byte, error)
	Unmap([]byte) error

	// Doorbell makes a doorbell in the kernel: POST_SEND of no work requests on
	// a queue pair.
	Doorbell(qp uint32) Doorbell

	// Notifier makes what has the kernel arm a completion queue (REQ_NOTIFY_CQ).
	Notifier(cq uint32) Notifier
}

// A Doorbell tells the kernel that a queue has new work requests. Ring serves one
// goroutine at a time and allocates nothing. Brief tells that there is so little
// to do that the goroutine's thread may wait for it.
type Doorbell interface {
	Ring(brief bool) error
}

// A Notifier arms a completion queue. Arm serves one goroutine at a time and
// allocates nothing.
type Notifier interface {
	Arm(solicitedOnly bool) error
}
