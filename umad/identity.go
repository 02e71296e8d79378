package umad

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// An Identity is the port that a change is meant for. Before the client sends a Set, it reads
// NodeInfo at the destination, and ends the request with a [*WrongPortError] if another port
// is there: links move, LIDs are assigned again, and routes change between a plan and its
// execution. The zero value accepts each port.
type Identity struct {
	// At is where NodeInfo is read, if it is not the request's destination: the
	// destination of an agent to which another agent redirects.
	At Target

	NodeGUID ib.GUID // 0: not compared
	PortGUID ib.GUID // port 0's GUID on a switch; 0: not compared

	// Port is the port number, which a switch must have and which another node must be
	// entered by; 0: not compared.
	Port uint8
}

// IdentityOf returns the identity of a port on the node with a NodeInfo that was read at
// the port. port is the port number on a switch, and otherwise not used.
func IdentityOf(info *mad.NodeInfo, port uint8) Identity {
	id := Identity{NodeGUID: info.NodeGUID, PortGUID: info.PortGUID, Port: port}
	if !info.IsSwitch() {
		id.Port = info.LocalPort
	}
	return id
}

// Identify reads the identity of the port at a target. number is the port number
// on a switch. It reads NodeInfo, so the target must be the destination of
// subnet management packets.
func (c *Client) Identify(ctx context.Context, to Target, number uint8) (Identity, error) {
	var info mad.NodeInfo
	if err := c.Get(ctx, Target{LID: to.LID, Route: to.Route}, &info); err != nil {
		return Identity{}, err
	}
	return IdentityOf(&info, number), nil
}

// Check returns a [*WrongPortError] if NodeInfo at a target belongs to another port.
func (id Identity) Check(at Target, info *mad.NodeInfo) error {
	isSwitch := info.IsSwitch()
	if id.NodeGUID != 0 && id.NodeGUID != info.NodeGUID || id.PortGUID != 0 && id.PortGUID != info.PortGUID ||
		id.Port != 0 && (isSwitch && id.Port > info.NumPorts || !isSwitch && id.Port != info.LocalPort) {
		return &WrongPortError{At: at, Got: IdentityOf(info, min(id.Port, info.NumPorts)), Want: id}
	}
	return nil
}

// String returns the GUIDs and the port as far as they are known.
func (id Identity) String() string {
	text := "a port"
	if id.Port != 0 {
		text = fmt.Sprintf("port %d", id.Port)
	}
	if id.NodeGUID != 0 {
		text += fmt.Sprintf(" of node 0x%016x", uint64(id.NodeGUID))
	}
	if id.PortGUID != 0 {
		text += fmt.Sprintf(" with port GUID 0x%016x", uint64(id.PortGUID))
	}
	return text
}

// A WrongPortError is the reason why a Set was not sent: a port other than the intended
// port is at its destination.
type WrongPortError struct {
	At        Target
	Got, Want Identity
}

func (e *WrongPortError) Error() string {
	return fmt.Sprintf("another port is at %s: got %v, want %v", e.At.Place(), e.Got, e.Want)
}

// errNoIdentity is the error for a Set without the port that it is meant for.
var errNoIdentity = errors.New("the request changes a port and does not identify it")

// needsIdentity reports whether a request changes the port at its destination. Subnet
// administration is a service: what it changes is not the port.
func (r *Request) needsIdentity() bool {
	return r.method() == mad.MethodSet && r.class() != mad.ClassSA
}

// confirm reads NodeInfo at the destination of a Set, and queues the Set if the port is the
// intended port.
func (c *Client) confirm(r *Request) {
	if r.Expect == nil {
		c.refuse(r, errNoIdentity)
		return
	}
	at := r.Expect.At
	if at == (Target{}) {
		at = Target{LID: r.To.LID, Route: r.To.Route}
	}
	if *r.Expect == (Identity{At: r.Expect.At}) {
		c.dispatch(r)
		return
	}
	r.flight.state = queued
	var info mad.NodeInfo
	c.dispatch(&Request{To: at, Value: &info, Done: func(_ *Request, reply *Reply) {
		err := reply.Err
		if err == nil {
			err = r.Expect.Check(at, &info)
		} else {
			err = fmt.Errorf("identify the port before the change: %v", err) // not a lost Set
		}
		if err != nil {
			c.end(r, Reply{Err: r.fail(err)})
			return
		}
		r.flight = flight{}
		c.dispatch(r)
	}})
}

// refuse ends a request, without sending it, when the client runs.
func (c *Client) refuse(r *Request, err error) { c.enqueue(r, flight{unsent: err}) }
