package rdmacm

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs"
)

// An ID is a connection manager identifier. Its events are delivered by its
// channel. Its methods may be called concurrently.
type ID struct {
	space  PortSpace
	qpType verbs.QPType
	uid    uint64
	handle uint32

	passive  bool                     // a connection request's
	prepared atomic.Pointer[verbs.QP] // the last queue pair in the state INIT

	established atomic.Bool // EventEstablished was received

	lock    sync.RWMutex // held for reading by commands
	channel *Channel     // nil after Close

	groups map[uint64]*Group // by UID; protected by the channel's lock
}

// PortSpace returns the ID's port space.
func (id *ID) PortSpace() PortSpace { return id.space }

// QPType returns the queue pair type for the ID.
func (id *ID) QPType() verbs.QPType { return id.qpType }

// with calls f with the ID's channel, which it keeps from Close and Migrate.
func (id *ID) with(op string, f func(*Channel) error) error {
	id.lock.RLock()
	defer id.lock.RUnlock()
	if id.channel == nil {
		return callError(op, fs.ErrClosed)
	}
	return f(id.channel)
}

// do executes a command without a response.
func do[In any](id *ID, op string, cmd uint32, in In) error {
	return id.with(op, func(c *Channel) error { return command(c, op, cmd, &in) })
}

// Close destroys the ID and drops its events. A connection is disconnected, a pending
// request rejected. Close does not touch the queue pair. A second Close returns
// fs.ErrClosed.
func (id *ID) Close() error {
	id.lock.Lock()
	defer id.lock.Unlock()
	c := id.channel
	if c == nil {
		return callError("destroy ID", fs.ErrClosed)
	}
	id.channel = nil
	c.disown(id)
	return c.destroy(id.handle)
}

// Migrate moves the ID with its waiting events to another channel, which no goroutine
// may wait for meanwhile: the kernel does not report moved events. The ID's groups
// move too.
func (id *ID) Migrate(to *Channel) error {
	const op = "move ID to another channel"
	id.lock.Lock()
	defer id.lock.Unlock()
	from := id.channel
	switch from {
	case nil:
		return callError(op, fs.ErrClosed)
	case to:
		return nil
	}
	moved := from.owned(id)
	for uid, o := range moved {
		to.add(uid, o)
	}
	err := from.node.number(func(fd uint32) error {
		_, err := request[uapi.CMEventsResp](to, op, uapi.CMCmdMigrateID, func(response uint64) uapi.CMMigrateID {
			return uapi.CMMigrateID{Response: response, ID: id.handle, FD: fd}
		})
		return err
	})
	if err != nil {
		to.removeAll(moved)
		return err
	}
	from.removeAll(moved)
	id.channel = to
	return nil
}

// Bind binds the ID to a local address. Port 0 selects a free port, which Addresses
// returns.
func (id *ID) Bind(local Addr) error {
	c := uapi.CMBind{ID: id.handle}
	var err error
	if c.AddrSize, err = putAddr(&c.Addr, local); err == nil {
		err = do(id, "", uapi.CMCmdBind, c)
	}
	if err != nil {
		return renamed(err, fmt.Sprintf("bind to %v", local))
	}
	return nil
}

// renamed returns a command error with an operation that only an error needs:
// formatting it would take longer than a command's remaining part outside the kernel.
func renamed(err error, op string) error {
	if call, ok := errors.AsType[*CallError](err); ok {
		err = call.Err
	}
	return callError(op, err)
}

// putAddr encodes an address and returns its size.
func putAddr(to *uapi.CMSockaddr, a Addr) (uint16, error) {
	s, err := a.sockaddr()
	return uint16(copy(to[:], s)), err
}

// AddressAttempt is a ResolveAddr timeout after which it is worth another call. The
// kernel looks for the neighbour at the start, whenever it learns about a neighbour, and at the
// timeout. It misses a neighbour that it learns about before the request is in its list (addr.c,
// rdma_resolve_ip and netevent_callback), which a fast peer causes.
const AddressAttempt = time.Second

// IsAddressTimeout reports whether an error is from an EventAddrError after the timeout in
// ResolveAddr, which may be called again.
func IsAddressTimeout(err error) bool {
	e, ok := errors.AsType[*EventError](err)
	return ok && e.Type == EventAddrError && e.Status == -int32(unix.ETIMEDOUT)
}

// ResolveAddr starts to resolve the peer's address to a local device.
// EventAddrResolved or EventAddrError follows. local is nil unless the address or
// this side's port matters.
func (id *ID) ResolveAddr(local, peer Addr, timeout time.Duration) error {
	c := uapi.CMResolveAddr{ID: id.handle, TimeoutMS: milliseconds(timeout)}
	var err error
	if local != nil {
		c.SrcSize, err = putAddr(&c.Src, local)
	}
	if err == nil {
		c.DstSize, err = putAddr(&c.Dst, peer)
	}
	if err == nil {
		err = do(id, "", uapi.CMCmdResolveAddr, c)
	}
	if err != nil {
		return renamed(err, fmt.Sprintf("resolve address %v", peer))
	}
	return nil
}

// ResolveRoute starts to resolve the route to the peer. EventRouteResolved or
// EventRouteError follows.
func (id *ID) ResolveRoute(timeout time.Duration) error {
	return do(id, "resolve route", uapi.CMCmdResolveRoute, uapi.CMResolveRoute{ID: id.handle, TimeoutMS: milliseconds(timeout)})
}

// milliseconds rounds up, so that a short timeout does not become zero.
func milliseconds(d time.Duration) uint32 {
	return uint32(min((d+time.Millisecond-1)/time.Millisecond, 1<<31-1))
}

// Listen starts to listen on the bound address. EventConnectRequest follows for each
// request. The kernel drops requests while backlog requests wait for Next; 0 is its
// limit, /proc/sys/net/rdma_ucm/max_backlog.
func (id *ID) Listen(backlog uint32) error {
	return do(id, "listen", uapi.CMCmdListen, uapi.CMListen{ID: id.handle, Backlog: backlog})
}

// Connect requests a connection with the queue pair of param, or a datagram service's queue pair.
// EventConnectResponse, EventEstablished, EventRejected,
// EventUnreachable and EventConnectError follows. peer limits the private data.
func (id *ID) Connect(peer Addr, param ConnParam) error {
	const op = "connect"
	p, ece, err := param.encode(requestLimit(id.qpType, peer))
	if err != nil {
		return callError(op, err)
	}
	return do(id, op, uapi.CMCmdConnect, uapi.CMConnect{Param: p, ID: id.handle, ECE: ece})
}

// Accept accepts the ID's connection request. EventEstablished follows, except
// for datagrams.
func (id *ID) Accept(param ConnParam) error {
	const op = "accept"
	p, ece, err := param.encode(replyLimit(id.qpType))
	if err != nil {
		return callError(op, err)
	}
	return do(id, op, uapi.CMCmdAccept, uapi.CMAccept{UID: id.uid, Param: p, ID: id.handle, ECE: ece})
}

// Establish completes a connection after EventConnectResponse, when the queue pair is
// ready to send. The peer then gets EventEstablished.
func (id *ID) Establish() error {
	// The kernel takes a structure without parameters as the confirmation.
	return do(id, "establish connection", uapi.CMCmdAccept, uapi.CMAccept{ID: id.handle})
}

// Reject rejects the ID's connection request, or the reply to one, with at most
// 148 private data bytes, 136 for datagrams. The peer sees RejectConsumer.
func (id *ID) Reject(privateData []byte) error {
	const op = "reject"
	limit := maxRejectData
	if id.qpType == verbs.QPTypeUD {
		limit = maxSIDRReplyData
	}
	c := uapi.CMReject{ID: id.handle, Reason: uint8(RejectConsumer)}
	n, err := setPrivateData(&c.PrivateData, privateData, limit)
	if err != nil {
		return callError(op, err)
	}
	c.PrivateDataLen = n
	return do(id, op, uapi.CMCmdReject, c)
}

// Disconnect ends a connection, or confirms that the peer has ended it.
// EventDisconnected follows at both sides, later EventTimewaitExit.
func (id *ID) Disconnect() error {
	return do(id, "disconnect", uapi.CMCmdDisconnect, uapi.CMDisconnect{ID: id.handle})
}

// Notify reports a queue pair event: EventCommEst if data arrived before the
// peer's connection confirmation.
func (id *ID) Notify(event verbs.EventType) error {
	return do(id, "notify", uapi.CMCmdNotify, uapi.CMNotify{ID: id.handle, Event: uint32(event)})
}

// option sets an option.
func option[T any](id *ID, op string, level, name uint32, value T) error {
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&value)
	return do(id, op, uapi.CMCmdSetOption, uapi.CMSetOption{
		Value: address(&value), ID: id.handle, Level: level, Name: name, Length: uint32(unsafe.Sizeof(value)),
	})
}

// SetTOS sets the service type, the traffic class on RoCE and IPv6, before the
// route is resolved.
func (id *ID) SetTOS(tos uint8) error {
	return option(id, "set type of service", uapi.CMOptionID, uapi.CMOptionIDTOS, tos)
}

// SetReuseAddr allows a bind to an address in use, as SO_REUSEADDR does.
func (id *ID) SetReuseAddr(reuse bool) error {
	return option(id, "set reuse of addresses", uapi.CMOptionID, uapi.CMOptionIDReuseAddr, int32(flag(reuse)))
}

// SetAFOnly restricts an ID that is bound to all IPv6 addresses to IPv6.
func (id *ID) SetAFOnly(only bool) error {
	return option(id, "set restriction to one address family", uapi.CMOptionID, uapi.CMOptionIDAFOnly, int32(flag(only)))
}

// SetACKTimeout sets the queue pair's timeout for an acknowledgement: 4.096 µs ·
// 2^n, 5 bits; 0: never. It must precede InitQPAttr for the state RTS.
func (id *ID) SetACKTimeout(timeout uint8) error {
	return option(id, "set ACK timeout", uapi.CMOptionID, uapi.CMOptionIDAckTimeout, timeout)
}

// SetPath sets the path to the peer in place of ResolveRoute, on InfiniBand.
// EventRouteResolved follows.
func (id *ID) SetPath(p PathRecord) error {
	return option(id, "set path", uapi.CMOptionIB, uapi.CMOptionIBPath, uapi.CMPathData{
		Flags:  uapi.CMPathGMP | uapi.CMPathPrimary | uapi.CMPathBidirectional,
		Record: p,
	})
}

// InitQPAttr returns the attributes for a queue pair change to a state, in
// which the kernel has filled in the connection's parameters.
func (id *ID) InitQPAttr(state verbs.QPState) (verbs.QPAttr, error) {
	r, err := initQPAttr(id, state)
	var attr verbs.QPAttr
	if err == nil {
		_, attr, err = verbs.DecodeQPAttr(uapi.Bytes(&r))
	}
	if err != nil {
		return attr, renamed(err, fmt.Sprintf("query QP attributes for %v", state))
	}
	return attr, nil
}

func initQPAttr(id *ID, state verbs.QPState) (r uapi.UserQPAttr, err error) {
	err = id.with("", func(c *Channel) (err error) {
		r, err = request[uapi.UserQPAttr](c, "", uapi.CMCmdInitQPAttr, func(response uint64) uapi.CMInitQPAttr {
			return uapi.CMInitQPAttr{Response: response, ID: id.handle, QPState: uint32(state)}
		})
		return err
	})
	return r, err
}
