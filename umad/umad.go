// Package umad carries management datagrams (MADs) between this host and a
// fabric. It moves bytes; package mad gives them meaning.
//
// A [Port] is one place to send from: a device's port through
// /dev/infiniband/umadN (package umad/device) or a node of a running ibsim
// server (package umad/ibsim). A [Client] keeps a window of requests in flight
// over one Port and matches the replies to them.
package umad

import (
	"errors"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ErrWouldBlock is returned by [Port.Send] if the send queue is full. The caller
// receives a message, or waits, and sends again.
var ErrWouldBlock = errors.New("send queue is full")

// ErrDeviceRemoved is wrapped by the errors of a Port whose device was unplugged,
// or whose simulator ended. Such a port cannot send or receive any more.
var ErrDeviceRemoved = errors.New("device removed")

// QP1QKey is the well-known queue key of the general services queue pair
// (InfiniBand Architecture, Volume 1, 3.5.3).
const QP1QKey = 0x80010000

// A GRH holds the fields of a global route header that a sender chooses.
type GRH struct {
	SGIDIndex    uint8  // index of the source GID in the port's GID table
	HopLimit     uint8  //
	TrafficClass uint8  //
	FlowLabel    uint32 // 20 bits
	DGID         ib.GID // destination
}

// An Addr says where a MAD goes to or came from.
type Addr struct {
	LID       ib.LID // destination (sent) or source (received); PermissiveLID for directed routes
	QPN       uint32 // 0 for subnet management, 1 for all other classes
	QKey      uint32 // QP1QKey for QPN 1, 0 for QPN 0
	SL        uint8  // service level
	PathBits  uint8  // low bits of the source LID, where the port's LMC is above 0
	PKeyIndex uint16 // index in the port's P_Key table, not the key
	GRH       *GRH   // nil: no global route header
}

// A Message is one MAD with its address.
type Message struct {
	Addr Addr

	// Timeout tells Send how long a reply may take. A transport whose other
	// side keeps time reports a request that got none by receiving it back
	// with Status ETIMEDOUT. 0: no reply is expected.
	Timeout time.Duration

	// Status is set by Recv: 0, or the error with which a request of ours
	// came back unanswered (ETIMEDOUT).
	Status syscall.Errno

	MAD mad.Packet

	// Rest is set by Recv of a transport that does RMPP (see [PortAttr]): the
	// data of the segments after the first one, which MAD is. nil: there were
	// none. Send does not look at it.
	Rest []byte
}

// A Port sends and receives MADs. It serves one goroutine at a time, but for
// Interrupt, which may be called from any.
type Port interface {
	// Attr describes the local port as it was when it was opened.
	Attr() PortAttr

	// Send hands one MAD over and does not wait: where there is no room it
	// returns ErrWouldBlock. The transport does not keep m.
	Send(m *Message) error

	// Recv fills m with the next MAD to arrive. It returns
	// os.ErrDeadlineExceeded where none came by the deadline; with a zero
	// deadline it waits as long as it takes.
	Recv(m *Message, deadline time.Time) error

	// Interrupt makes the Recv that waits, or else the next one that would,
	// return os.ErrDeadlineExceeded. It may do so for more than one Recv, so
	// that error before the deadline means nothing.
	Interrupt()

	// Close gives the port back. Of the other methods only Interrupt may be
	// called after it, and does nothing.
	Close() error
}

// A ThreadWaiter is a Port whose Recv can wait in a system call, which takes a
// thread for it alone, instead of in Go's poller. What comes is taken in sooner:
// package ping has the figures.
type ThreadWaiter interface {
	Port

	// WaitInThread has Recv wait so from now on. No Recv may be under way.
	WaitInThread() error
}

// PortAttr is what a host knows of one of its own ports without a MAD.
type PortAttr struct {
	Device    string // name of the device, such as "mlx5_0"
	Number    uint8  // port number on the device
	LinkLayer string // "InfiniBand" or "Ethernet"
	NodeGUID  ib.GUID
	PortGUID  ib.GUID
	LID       ib.LID
	LMC       uint8
	SMLID     ib.LID // LID of the subnet manager that serves this port
	SMSL      uint8
	State     ib.PortState
	PhysState ib.PhysState
	GIDPrefix uint64 // subnet prefix, host byte order

	// RMPP says that the transport puts subnet administration's messages of
	// many segments together by itself, and hands each over as one. Without it the segments come one by
	// one, and whoever asked for them acknowledges them, or the transport knows
	// no such messages and cuts them to their first segment.
	RMPP bool
}
