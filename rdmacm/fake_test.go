package rdmacm

import (
	"cmp"
	"context"
	"encoding/binary"
	"io/fs"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A fakeKernel is a single host's connection manager in memory. It executes the
// commands that package rdmacm sends as ucma.c does, and connects IDs to IDs that
// listen on the same port. It has no device and no queue pairs.
type fakeKernel struct {
	t    *testing.T
	lock sync.Mutex

	lastID uint32
	ids    map[uint32]*fakeID
	files  []*fakeNode

	fail map[uint32]error // errors by command
	mute bool             // no events
	late int              // addresses that are not resolved before the timeout
	both bool             // listeners for IPv6 take the port of both families

	ports uint16 // selected by the kernel
}

// A fakeID is a kernel ID.
type fakeID struct {
	node      *fakeNode
	uid       uint64
	port      uint16
	family    uint16 // the local address's, or the peer's
	afOnly    bool
	bound     bool
	listening bool
	peer      *fakeID
	backlog   uint32
}

// A fakeNode is an open file with its events.
type fakeNode struct {
	kernel *fakeKernel
	fd     uint32
	events chan uapi.CMEventResp
	gone   chan struct{}
	closed bool
}

func newFakeKernel(t *testing.T) *fakeKernel {
	k := &fakeKernel{t: t, ids: map[uint32]*fakeID{}, fail: map[uint32]error{}}
	t.Cleanup(func() {
		k.lock.Lock()
		defer k.lock.Unlock()
		if len(k.ids) != 0 {
			t.Errorf("got %d IDs at the end, want 0", len(k.ids))
		}
		for _, f := range k.files {
			if !f.closed {
				t.Errorf("file %d is open at the end", f.fd)
			}
		}
	})
	return k
}

// open returns a channel on a new file.
func (k *fakeKernel) open() (*Channel, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	n := &fakeNode{kernel: k, fd: uint32(len(k.files)), events: make(chan uapi.CMEventResp, 64), gone: make(chan struct{})}
	k.files = append(k.files, n)
	return newChannel(n), nil
}

func (n *fakeNode) number(f func(uint32) error) error { return f(n.fd) }

func (n *fakeNode) Close() error {
	k := n.kernel
	k.lock.Lock()
	defer k.lock.Unlock()
	if n.closed {
		return fs.ErrClosed
	}
	n.closed = true
	close(n.gone)
	for handle, id := range k.ids {
		if id.node == n {
			k.destroy(handle)
		}
	}
	return nil
}

func (n *fakeNode) next(ctx context.Context, message []byte) error {
	_, body := n.parse(message)
	select {
	case e := <-n.events:
		k := n.kernel
		k.lock.Lock()
		defer k.lock.Unlock()
		respond(uapi.Decode[uapi.CMGetEvent](body).Response, e)
		return nil
	case <-n.gone:
		return fs.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *fakeNode) tryNext(message []byte) error {
	if len(n.events) == 0 { // only this goroutine reads
		return unix.EAGAIN
	}
	return n.next(context.Background(), message)
}

// parse checks a message's header.
func (n *fakeNode) parse(message []byte) (uapi.CMHeader, []byte) {
	h := uapi.Decode[uapi.CMHeader](message)
	body := message[unsafe.Sizeof(h):]
	if int(h.In) != len(body) {
		n.kernel.t.Errorf("command %d: got length %d, want %d", h.Cmd, h.In, len(body))
	}
	return h, body
}

// respond writes a response to an address from a message.
func respond[T any](address uint64, v T) {
	*(*(**T)(unsafe.Pointer(&address))) = v
}

// raise adds an event for an ID. Events with UID 0 are dropped.
func (k *fakeKernel) raise(handle uint32, t EventType, status int32, p uapi.CMConnParam) {
	id := k.ids[handle]
	if id == nil || id.uid == 0 || k.mute {
		return
	}
	e := uapi.CMEventResp{UID: id.uid, ID: handle, Event: uint32(t), Status: uint32(status)}
	copy(e.Param[:], uapi.Bytes(&p))
	id.node.events <- e
}

func (k *fakeKernel) handleOf(id *fakeID) uint32 {
	for handle, other := range k.ids {
		if other == id {
			return handle
		}
	}
	return 0
}

// destroy removes an ID and ends its connection or request.
func (k *fakeKernel) destroy(handle uint32) {
	id := k.ids[handle]
	delete(k.ids, handle)
	if id.peer != nil {
		kind, status := EventDisconnected, int32(0)
		if id.uid == 0 {
			kind, status = EventRejected, int32(RejectConsumer)
		}
		id.peer.peer = nil
		k.raise(k.handleOf(id.peer), kind, status, uapi.CMConnParam{})
	}
}

// command executes a command.
func (n *fakeNode) command(message []byte) error {
	h, body := n.parse(message)
	k := n.kernel
	k.lock.Lock()
	defer k.lock.Unlock()
	if n.closed {
		return fs.ErrClosed
	}
	if err := k.fail[h.Cmd]; err != nil {
		return err
	}
	find := func(handle uint32) (*fakeID, error) {
		id := k.ids[handle]
		switch {
		case id == nil:
			return nil, unix.ENOENT
		case id.node != n:
			return nil, unix.EINVAL
		}
		return id, nil
	}
	switch h.Cmd {
	case uapi.CMCmdCreateID:
		c := uapi.Decode[uapi.CMCreateID](body)
		if c.UID == 0 {
			k.t.Error("create ID: got UID 0")
		}
		respond(c.Response, uapi.CMIDResp{ID: k.newID(n, c.UID)})
		return nil
	case uapi.CMCmdDestroyID:
		c := uapi.Decode[uapi.CMDestroyID](body)
		if _, err := find(c.ID); err != nil {
			return err
		}
		k.destroy(c.ID)
		return nil
	case uapi.CMCmdMigrateID:
		c := uapi.Decode[uapi.CMMigrateID](body)
		id := k.ids[c.ID]
		if id == nil {
			return unix.ENOENT
		}
		if id.node != k.files[c.FD] {
			return unix.EINVAL
		}
		id.node = n
		return nil
	}
	// The other commands have an ID at different offsets.
	at := map[uint32]uintptr{
		uapi.CMCmdBind: unsafe.Offsetof(uapi.CMBind{}.ID), uapi.CMCmdListen: unsafe.Offsetof(uapi.CMListen{}.ID),
		uapi.CMCmdResolveAddr: unsafe.Offsetof(uapi.CMResolveAddr{}.ID), uapi.CMCmdResolveRoute: unsafe.Offsetof(uapi.CMResolveRoute{}.ID),
		uapi.CMCmdConnect: unsafe.Offsetof(uapi.CMConnect{}.ID), uapi.CMCmdAccept: unsafe.Offsetof(uapi.CMAccept{}.ID),
		uapi.CMCmdReject: unsafe.Offsetof(uapi.CMReject{}.ID), uapi.CMCmdDisconnect: unsafe.Offsetof(uapi.CMDisconnect{}.ID),
		uapi.CMCmdSetOption: unsafe.Offsetof(uapi.CMSetOption{}.ID),
		uapi.CMCmdQuery:     unsafe.Offsetof(uapi.CMQuery{}.ID), uapi.CMCmdJoinMcast: unsafe.Offsetof(uapi.CMJoinMcast{}.ID),
	}
	offset, known := at[h.Cmd]
	if !known {
		return unix.ENOSYS
	}
	handle := binary.NativeEndian.Uint32(body[offset:])
	id, err := find(handle)
	if err != nil {
		return err
	}
	return k.execute(h.Cmd, body, handle, id)
}

func (k *fakeKernel) newID(n *fakeNode, uid uint64) uint32 {
	k.lastID++
	k.ids[k.lastID] = &fakeID{node: n, uid: uid}
	return k.lastID
}

// bind binds an ID as cma_check_port in cma.c does for wildcard addresses. It selects
// ports from 1000.
func (k *fakeKernel) bind(id *fakeID, family, port uint16) error {
	id.afOnly = id.afOnly || family == unix.AF_INET
	if port == 0 {
		port = 1000 + k.ports
		k.ports++
	}
	for _, other := range k.ids {
		if other.bound && other.port == port && !(id.afOnly && other.afOnly && other.family != family) {
			return unix.EADDRNOTAVAIL
		}
	}
	id.family, id.port, id.bound = family, port, true
	return nil
}

// execute executes an ID command.
func (k *fakeKernel) execute(cmd uint32, body []byte, handle uint32, id *fakeID) error {
	switch cmd {
	case uapi.CMCmdBind:
		c := uapi.Decode[uapi.CMBind](body)
		return k.bind(id, binary.NativeEndian.Uint16(c.Addr[:]), binary.BigEndian.Uint16(c.Addr[2:]))
	case uapi.CMCmdSetOption:
		if c := uapi.Decode[uapi.CMSetOption](body); c.Level == uapi.CMOptionID && c.Name == uapi.CMOptionIDAFOnly {
			id.afOnly = true
		}
	case uapi.CMCmdListen:
		for _, other := range k.ids {
			if k.both && other.listening && other.port == id.port {
				return unix.EADDRINUSE
			}
		}
		id.listening, id.backlog = true, uapi.Decode[uapi.CMListen](body).Backlog
	case uapi.CMCmdResolveAddr:
		c := uapi.Decode[uapi.CMResolveAddr](body)
		id.family, id.port = binary.NativeEndian.Uint16(c.Dst[:]), binary.BigEndian.Uint16(c.Dst[2:])
		if k.late > 0 {
			k.late--
			k.raise(handle, EventAddrError, -int32(unix.ETIMEDOUT), uapi.CMConnParam{})
			break
		}
		k.raise(handle, EventAddrResolved, 0, uapi.CMConnParam{})
	case uapi.CMCmdResolveRoute:
		k.raise(handle, EventRouteResolved, 0, uapi.CMConnParam{})
	case uapi.CMCmdQuery:
		c := uapi.Decode[uapi.CMQuery](body)
		r := uapi.CMQueryAddrResp{PortNum: 1, SrcSize: sizeIPv6}
		binary.NativeEndian.PutUint16(r.Src[:], cmp.Or(id.family, unix.AF_INET6))
		binary.BigEndian.PutUint16(r.Src[2:], id.port)
		respond(c.Response, r)
	case uapi.CMCmdConnect:
		c := uapi.Decode[uapi.CMConnect](body)
		for listening, l := range k.ids {
			if l.listening && l.port == id.port && (l.family == id.family || l.family == unix.AF_INET6 && !l.afOnly) {
				child := k.newID(l.node, 0)
				k.ids[child].peer, id.peer = id, k.ids[child]
				if !k.mute {
					e := uapi.CMEventResp{UID: k.ids[listening].uid, ID: child, Event: uint32(EventConnectRequest)}
					copy(e.Param[:], uapi.Bytes(&c.Param))
					l.node.events <- e
				}
				return nil
			}
		}
		k.raise(handle, EventRejected, int32(RejectInvalidServiceID), uapi.CMConnParam{})
	case uapi.CMCmdAccept:
		c := uapi.Decode[uapi.CMAccept](body)
		if id.peer == nil {
			return unix.EINVAL
		}
		if c.Param.Valid == 0 {
			k.raise(k.handleOf(id.peer), EventEstablished, 0, uapi.CMConnParam{})
			return nil
		}
		id.uid = c.UID
		k.raise(k.handleOf(id.peer), EventConnectResponse, 0, c.Param)
	case uapi.CMCmdReject:
		c := uapi.Decode[uapi.CMReject](body)
		p := uapi.CMConnParam{PrivateData: c.PrivateData, PrivateDataLen: c.PrivateDataLen}
		k.raise(k.handleOf(id.peer), EventRejected, int32(c.Reason), p)
		id.peer.peer, id.peer = nil, nil
	case uapi.CMCmdDisconnect:
		if id.peer != nil {
			k.raise(handle, EventDisconnected, 0, uapi.CMConnParam{})
			k.raise(k.handleOf(id.peer), EventDisconnected, 0, uapi.CMConnParam{})
		}
	case uapi.CMCmdJoinMcast:
		c := uapi.Decode[uapi.CMJoinMcast](body)
		respond(c.Response, uapi.CMIDResp{ID: 7})
		id.node.events <- uapi.CMEventResp{UID: c.UID, ID: 7, Event: uint32(EventMulticastJoin)}
	}
	return nil
}
