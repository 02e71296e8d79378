package trap

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// SendOptions are the options for [Send].
type SendOptions struct {
	Source fabric.Source
	SMLID  ib.LID // 0: the local port's subnet manager's LID

	Kind Kind
	Port uint8 // in traps about a link

	// NoWait sends the trap once and does not wait for its repression.
	NoWait bool
}

// Sent describes a trap that was sent.
type Sent struct {
	Notice mad.Notice
	To     umad.Target
	RTT    time.Duration // until the subnet manager repressed the trap; 0: not known
}

// Send sends a trap with example details to the subnet manager. It repeats the trap until the
// manager represses it, as agents do (InfiniBand Architecture, Volume 1, 13.4.9).
func Send(ctx context.Context, o SendOptions) (_ *Sent, err error) {
	session, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	local, c := session.Local(), session.Client
	var node mad.NodeInfo
	var info mad.PortInfo
	for _, a := range []mad.Attribute{&node, &info} {
		if err := c.Get(ctx, umad.Target{Route: mad.Local}, a); err != nil {
			return nil, err
		}
	}
	s := Source{
		NodeType: node.NodeType, LID: info.LID, GID: ib.MakeGID(info.GIDPrefix, local.PortGUID), CapMask: info.CapMask, Port: o.Port,
	}
	details := s.Details(o.Kind.Number)
	if details == nil {
		return nil, fmt.Errorf("build trap %v: the specification does not define its details", o.Kind)
	}
	n, err := s.Notice(o.Kind.Number, details)
	if err != nil {
		return nil, err
	}
	sent := &Sent{Notice: *n, To: umad.Target{LID: o.SMLID, SL: info.SMSL}}
	if sent.To.LID == 0 {
		sent.To.LID = info.SMLID
	}
	switch {
	case sent.To.LID == 0:
		err = umad.ErrNoSM
	case o.NoWait:
		err = SendOnce(session.Port, sent.To, n)
	default:
		var reply umad.Reply
		reply, err = c.Call(ctx, &umad.Request{To: sent.To, Method: mad.MethodTrap, Value: n})
		sent.RTT = reply.RTT
	}
	if err != nil {
		return nil, fmt.Errorf("send trap %d: %w", n.TrapNumber, err)
	}
	return sent, nil
}

// SendOnce sends a trap and does not wait for its repression.
func SendOnce(port umad.Port, to umad.Target, n *mad.Notice) error {
	m := &umad.Message{Addr: umad.Addr{LID: to.LID, SL: to.SL}}
	m.MAD.PutSMP(mad.SMPRequest{TID: uint64(rand.Uint32()), Method: mad.MethodTrap, Attr: n.Spec().ID})
	if err := mad.Encode(n, m.MAD.Data()); err != nil {
		return err
	}
	return port.Send(m)
}
