// Package umad sends and receives management datagrams (MADs). Package mad encodes
// and decodes them.
//
// A [Port] is a transport: a device port through /dev/infiniband/umadN (package
// umad/device), a node on a running ibsim server (package umad/ibsim), or a simulation
// for tests (package umad/umadtest). A [Client] keeps requests in flight over one Port
// and matches the replies to them. [Client.Get] and [Client.Set] exchange an attribute,
// and [Client.GetTable] reads subnet administration records:
//
//	var node mad.NodeInfo
//	err := client.Get(ctx, umad.Target{LID: 5}, &node)
//
// [Client.SubmitGet] and [Client.Run] exchange many attributes at the same time. Programs
// declare vendors' attributes as package mad does.
package umad

import (
	"cmp"
	"errors"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ErrWouldBlock is returned by [Port.Send] if the send queue is full. The caller
// receives a message, or waits, and sends again.
var ErrWouldBlock = errors.New("send queue is full")

// ErrDeviceRemoved is wrapped by the errors from a Port after its device was unplugged,
// or its simulator ended. Such a port cannot send or receive any more.
var ErrDeviceRemoved = errors.New("device removed")

// QP1QKey is the general services queue pair's well-known queue key (InfiniBand
// Architecture, Volume 1, 3.5.3).
const QP1QKey = 0x80010000

// A GRH holds the global route header fields that the sender sets.
type GRH struct {
	SGIDIndex    uint8  // source GID index in the port's GID table
	HopLimit     uint8  //
	TrafficClass uint8  //
	FlowLabel    uint32 // 20 bits
	DGID         ib.GID // destination
}

// An Addr is the address that a MAD is sent to or was received from.
type Addr struct {
	LID       ib.LID // destination (sent) or source (received); PermissiveLID for directed routes
	QPN       uint32 // 0 for subnet management, 1 for all other classes
	QKey      uint32 // QP1QKey for QPN 1, 0 for QPN 0
	SL        uint8  // service level
	PathBits  uint8  // the source LID's low bits, where the port's LMC is above 0
	PKeyIndex uint16 // index in the port's P_Key table, not the key
	GRH       *GRH   // nil: no global route header
}

// A Message is a MAD with its address.
type Message struct {
	Addr Addr

	// Timeout is the time limit for a reply, for Send; 0: no reply is expected. A
	// transport that keeps time returns a request without a reply by Recv, with
	// Status ETIMEDOUT.
	Timeout time.Duration

	// Status is set by Recv: 0, or the error for a request that was returned without a
	// reply (ETIMEDOUT).
	Status syscall.Errno

	MAD mad.Packet

	// Rest has the data from the segments after the first segment, which is MAD,
	// on a transport that does RMPP (see [PortAttr]); nil: MAD is the whole
	// message. Send on other transports ignores it. Recv fills it with memory that
	// the port does not use again.
	Rest []byte
}

// A Port sends and receives MADs. Its methods are not safe for concurrent use,
// except Interrupt.
type Port interface {
	// Attr returns the attributes that the local port had when it was opened.
	Attr() PortAttr

	// Send sends a MAD without waiting. If the transport has no room, it returns
	// ErrWouldBlock. The transport does not retain m.
	Send(m *Message) error

	// Recv fills m with the next MAD. It returns os.ErrDeadlineExceeded if none
	// arrives before the deadline. A zero deadline never expires.
	Recv(m *Message, deadline time.Time) error

	// Interrupt makes the current Recv wait, or else the next wait, end with
	// os.ErrDeadlineExceeded. It may end several waits, so callers of Recv must expect
	// that error before the deadline.
	Interrupt()

	// Close releases the port. After it, Interrupt has no effect, and Send and Recv
	// return an error that wraps fs.ErrClosed.
	Close() error
}

// PortAttr has the local port attributes that are known without a MAD.
type PortAttr struct {
	Device    string // device name, such as "mlx5_0"
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

	// DirectedOnly reports that subnet management packets can only be sent along
	// directed routes. A [Client] finds the routes to LIDs.
	DirectedOnly bool

	// RMPP reports that the transport segments and reassembles the long messages
	// in subnet administration, [mad.ClassSysstat], and services with RMPP. Otherwise
	// Recv returns the segments, which the receiver acknowledges, or the transport has no
	// segmented messages and cuts them to the first segment.
	RMPP bool
}

// Prefix returns the port's subnet prefix, [ib.DefaultPrefix] if it has none yet.
func (a PortAttr) Prefix() uint64 { return cmp.Or(a.GIDPrefix, ib.DefaultPrefix) }
