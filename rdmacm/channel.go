package rdmacm

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs"
)

// A Channel is an open rdma_cm device. It delivers its IDs' events. Its methods
// may be called concurrently, except that only a single goroutine may call Next at a time.
type Channel struct {
	node node

	lock   sync.Mutex
	owners map[uint64]owner // by UID
}

// An owner has events: an ID or a group.
type owner struct {
	id    *ID
	group *Group
}

// lastUID makes the process's UIDs, which the kernel returns with events. They
// are unique so that an ID can move to another channel. The kernel drops the events
// with UID 0.
var lastUID atomic.Uint64

// NewChannel opens the rdma_cm device.
func NewChannel() (*Channel, error) {
	n, err := openNode()
	if err != nil {
		return nil, err // with the operation and the path
	}
	return newChannel(n), nil
}

func newChannel(n node) *Channel { return &Channel{node: n, owners: map[uint64]owner{}} }

// Close closes the device. The kernel destroys the IDs of the channel; an ID's Close
// returns fs.ErrClosed afterwards. A second Close returns fs.ErrClosed.
func (c *Channel) Close() error {
	return callError("close rdma_cm", c.node.Close())
}

// Next waits for the next event. An event for an ID that was closed meanwhile is
// dropped, and the new ID from a connection request to it is destroyed. Next returns
// fs.ErrClosed after the channel's Close.
func (c *Channel) Next(ctx context.Context) (Event, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Event{}, err
		}
		e, known, err := c.read(func(message []byte) error { return c.node.next(ctx, message) })
		if known || err != nil {
			return e, err
		}
	}
}

// TryNext is Next without a wait. ok is false if there is no event.
func (c *Channel) TryNext() (e Event, ok bool, err error) {
	for !ok && err == nil {
		e, ok, err = c.read(c.node.tryNext)
	}
	if errors.Is(err, unix.EAGAIN) {
		return Event{}, false, nil
	}
	return e, ok, err
}

// read reads a kernel event with get, which executes GET_EVENT. known is false if
// the event's owner was closed.
func (c *Channel) read(get func(message []byte) error) (e Event, known bool, err error) {
	s, err := takeSlot()
	if err != nil {
		return Event{}, false, callError("read event", err)
	}
	defer s.free()
	var r uapi.CMEventResp
	in := uapi.CMGetEvent{Response: s.address()}
	if err := get(s.command(uapi.CMCmdGetEvent, uapi.Bytes(&in), unsafe.Sizeof(r))); err != nil {
		return Event{}, false, callError("read event", err)
	}
	r = uapi.Decode[uapi.CMEventResp](s.response[:])
	return c.event(&r)
}

// event converts a kernel event. known is false if its owner was closed.
func (c *Channel) event(r *uapi.CMEventResp) (e Event, known bool, err error) {
	c.lock.Lock()
	o, known := c.owners[r.UID]
	c.lock.Unlock()
	if !known {
		if EventType(r.Event) == EventConnectRequest {
			err = c.destroy(r.ID)
		}
		return Event{}, false, err
	}
	if e, err = decodeEvent(r, o.id.qpType == verbs.QPTypeUD); err != nil {
		return Event{}, false, callError("read event", err)
	}
	e.ID, e.Group = o.id, o.group
	if e.Type == EventEstablished && e.Status == 0 {
		o.id.established.Store(true)
	}
	if e.Type == EventConnectRequest {
		e.Listener = o.id
		e.ID = c.register(&ID{space: o.id.space, qpType: o.id.qpType, handle: r.ID, passive: true})
	}
	return e, true, nil
}

// register adds a new ID to the channel.
func (c *Channel) register(id *ID) *ID {
	id.uid, id.channel = lastUID.Add(1), c
	c.add(id.uid, owner{id: id})
	return id
}

func (c *Channel) add(uid uint64, o owner) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.owners[uid] = o
	if o.group == nil {
		return
	}
	if o.id.groups == nil {
		o.id.groups = map[uint64]*Group{}
	}
	o.id.groups[uid] = o.group
}

// leave removes a group.
func (c *Channel) leave(g *Group) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.owners, g.uid)
	delete(g.id.groups, g.uid)
}

// owned returns an ID and its groups by UID.
func (c *Channel) owned(id *ID) map[uint64]owner {
	c.lock.Lock()
	defer c.lock.Unlock()
	found := map[uint64]owner{id.uid: {id: id}}
	for uid, g := range id.groups {
		found[uid] = owner{id: id, group: g}
	}
	return found
}

// disown removes an ID and its groups.
func (c *Channel) disown(id *ID) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.owners, id.uid)
	for uid := range id.groups {
		delete(c.owners, uid)
	}
}

func (c *Channel) removeAll(owners map[uint64]owner) {
	for uid := range owners {
		c.remove(uid)
	}
}

func (c *Channel) remove(uid uint64) {
	c.lock.Lock()
	delete(c.owners, uid)
	c.lock.Unlock()
}

// NewID creates an ID. qpType is its queue pair type for PortSpaceIB and is
// ignored for the other port spaces, which have a single type each; 0 is QPTypeRC.
func (c *Channel) NewID(space PortSpace, qpType verbs.QPType) (*ID, error) {
	id := c.register(&ID{space: space.orTCP(), qpType: space.qpType(qpType)})
	resp, err := request[uapi.CMIDResp](c, "create ID", uapi.CMCmdCreateID, func(response uint64) uapi.CMCreateID {
		return uapi.CMCreateID{UID: id.uid, Response: response, PS: uint16(id.space), QPType: uint8(id.qpType)}
	})
	if err != nil {
		c.remove(id.uid)
		return nil, err
	}
	id.handle = resp.ID
	return id, nil
}

// destroy destroys a kernel ID. It waits until the kernel has stopped using
// the ID.
func (c *Channel) destroy(handle uint32) error {
	_, err := request[uapi.CMEventsResp](c, "destroy ID", uapi.CMCmdDestroyID, func(response uint64) uapi.CMDestroyID {
		return uapi.CMDestroyID{Response: response, ID: handle}
	})
	return err
}

// request executes a command with a response.
func request[Out, In any](c *Channel, op string, cmd uint32, in func(response uint64) In) (out Out, err error) {
	s, err := takeSlot()
	if err != nil {
		return out, callError(op, err)
	}
	defer s.free()
	body := in(s.address())
	err = c.node.command(s.command(cmd, uapi.Bytes(&body), unsafe.Sizeof(out)))
	return uapi.Decode[Out](s.response[:]), callError(op, err)
}

// command executes a command without a response.
func command[In any](c *Channel, op string, cmd uint32, in *In) error {
	s, err := takeSlot()
	if err != nil {
		return callError(op, err)
	}
	defer s.free()
	return callError(op, c.node.command(s.command(cmd, uapi.Bytes(in), 0)))
}

// address returns pinned memory's address.
func address[T any](v *T) uint64 { return uint64(uintptr(unsafe.Pointer(v))) }

// A CallError is a command's error.
type CallError struct {
	Op  string // "resolve address 10.0.0.1:7174"
	Err error  // usually a syscall.Errno
}

func (e *CallError) Error() string { return e.Op + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

// callError adds the operation to a device error.
func callError(op string, err error) error {
	if err == nil {
		return nil
	}
	return &CallError{Op: op, Err: err}
}
