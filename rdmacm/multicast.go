package rdmacm

import (
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A Group is an ID's membership in a multicast group.
type Group struct {
	id     *ID
	uid    uint64
	handle uint32
	left   atomic.Bool
}

// JoinMode is the membership kind (flag enum for struct
// rdma_ucm_join_mcast).
type JoinMode uint16

// The membership kinds.
const (
	JoinFull     JoinMode = 0 // send and receive
	JoinSendOnly JoinMode = 1 // send; requires a subnet manager that supports it
)

// Join starts to join a multicast group, after the group's address or a local
// port has been resolved or bound. EventMulticastJoin with the datagrams follow
// destination, or EventMulticastError. To receive, the caller attaches its queue
// pair to the group's GID.
func (id *ID) Join(group Addr, mode JoinMode) (*Group, error) {
	op := fmt.Sprintf("join %v", group)
	g := &Group{id: id, uid: lastUID.Add(1)}
	join := uapi.CMJoinMcast{UID: g.uid, ID: id.handle, Flags: uint16(mode)}
	var err error
	if join.AddrSize, err = putAddr(&join.Addr, group); err != nil {
		return nil, callError(op, err)
	}
	err = id.with(op, func(c *Channel) error {
		// The event may come before the command returns.
		c.add(g.uid, owner{id: id, group: g})
		resp, err := request[uapi.CMIDResp](c, op, uapi.CMCmdJoinMcast, func(response uint64) uapi.CMJoinMcast {
			join.Response = response
			return join
		})
		if err != nil {
			c.leave(g)
		}
		g.handle = resp.ID
		return err
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Leave leaves the group. A second Leave returns fs.ErrClosed. The ID's Close leaves
// its groups.
func (g *Group) Leave() error {
	const op = "leave multicast group"
	if g.left.Swap(true) {
		return callError(op, fs.ErrClosed)
	}
	return g.id.with(op, func(c *Channel) error {
		c.leave(g)
		_, err := request[uapi.CMEventsResp](c, op, uapi.CMCmdLeaveMcast, func(response uint64) uapi.CMDestroyID {
			return uapi.CMDestroyID{Response: response, ID: g.handle}
		})
		return err
	})
}
