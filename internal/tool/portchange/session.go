// Package portchange changes port states and settings. A [Session] scans the fabric,
// [Session.Plan] determines what a change does and what it cuts off, and [Session.Apply]
// carries it out port by port. [Show] reads a port and its peer.
package portchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [NewSession] and [Show].
type Options struct {
	Source  fabric.Source
	Resolve lookup.Options

	// Wait is the time limit for a link to come up after a change.
	Wait time.Duration

	// Log, if not nil, is called before and after each change. A change is not made if
	// the call before it fails.
	Log func(Entry) error
}

// An Entry is an event for the change log: a change that begins, or that has ended.
type Entry struct {
	Step  *Step
	Ended bool
}

// AddressedPort is the number in a [Target] for the port that has the address.
const AddressedPort = -1

// A Target is a node's port.
type Target struct {
	Address lookup.Address // of the node, or of any port on it
	Number  int            // of the port; AddressedPort: the port with the address

	// File and Line are the target's place in a list, for errors; "": another source.
	File string
	Line int
}

// A Session is access to a fabric that was scanned. It is not safe for concurrent use.
type Session struct {
	Options
	Fabric *fabric.Fabric

	began    time.Time
	source   *fabric.Session
	client   *umad.Client
	resolver *lookup.Resolver
	graph    *graph
}

// NewSession opens the local port and scans the fabric. The caller closes the session.
func NewSession(ctx context.Context, o Options) (s *Session, err error) {
	s, err = open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Close() // the first error is the cause
			s = nil
		}
	}()
	if err := s.scan(ctx); err != nil {
		return s, err
	}
	s.Resolve.Mode, s.Resolve.Scanned = lookup.ModeNodes, s.Fabric
	s.resolver = lookup.New(s.client, s.source.Local(), s.Resolve)
	return s, nil
}

func open(ctx context.Context, o Options) (*Session, error) {
	began := time.Now()
	source, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	s := &Session{Options: o, began: began, source: source, client: source.Client}
	if attr := source.Local(); attr.LinkLayer == lookup.Ethernet {
		return nil, errors.Join(fmt.Errorf("use %s/%d: its link layer is Ethernet, which has no subnet management", attr.Device, attr.Number), source.Close())
	}
	return s, nil
}

// Close closes the local port.
func (s *Session) Close() error { return s.source.Close() }

// Stats returns the client's counts.
func (s *Session) Stats() umad.Stats { return s.client.Stats() }

// scan scans the whole fabric.
func (s *Session) scan(ctx context.Context) (err error) {
	s.Fabric, err = s.source.Fabric(ctx, fabric.DiscoverOptions{NoExtendedPortInfo: true, OmitDownPorts: true})
	if err != nil {
		return err
	}
	s.graph = newGraph(s.Fabric, s.source.Local().SMLID)
	return nil
}

// lookUp finds the ports with a target's address. For a switch port such as leaf1[3], it
// returns the management port and sets the number.
func (s *Session) lookUp(ctx context.Context, t *Target) ([]*lookup.Port, error) {
	found, err := s.resolver.Find(ctx, t.Address)
	failed, ok := errors.AsType[*lookup.PortError](err)
	if !ok || !failed.External || t.Number != AddressedPort {
		return found, err
	}
	t.Address.Name, t.Number = failed.Node, failed.Number
	return s.resolver.Find(ctx, t.Address)
}

// ErrSeveralNodes reports a target that is not a single node.
var ErrSeveralNodes = errors.New("several nodes have this address")

// find returns a target's port in the scan.
func (s *Session) find(ctx context.Context, t Target) (*fabric.Port, error) {
	found, err := s.lookUp(ctx, &t)
	if err != nil {
		return nil, err
	}
	var at *fabric.Port
	for _, f := range found {
		p := s.located(f)
		switch {
		case p == nil && t.Address.Kind == lookup.LID:
			return nil, lookup.NotFound(t.Address, lookup.FromScan, nil, lookup.GapOf(s.Fabric, nil))
		case p == nil:
			return nil, fmt.Errorf("find %s: no such port in the scan of the fabric", t.Address)
		case at != nil && at.Node != p.Node:
			return nil, fmt.Errorf("find %s: %w", t.Address, ErrSeveralNodes)
		case at != nil && t.Number == AddressedPort:
			return nil, fmt.Errorf("find %s: the node has several ports", t.Address)
		}
		at = p
	}
	if at == nil {
		return nil, fmt.Errorf("find %s: no such port", t.Address)
	}
	if at.Node.Duplicate && t.Address.Kind != lookup.Route && t.Address.Kind != lookup.LID {
		return nil, fmt.Errorf("find %s: two nodes have this GUID", t.Address)
	}
	return numbered(at, t)
}

// numbered returns a target's port, given a port with its address.
func numbered(at *fabric.Port, t Target) (*fabric.Port, error) {
	n, number := at.Node, t.Number
	if number == AddressedPort {
		number = int(at.Number)
	}
	isSwitch := n.IsSwitch()
	switch {
	case t.Number == AddressedPort && isSwitch:
		return nil, fmt.Errorf("find %s: %w", t.Address, &NumberError{fmt.Sprint(t.Address)})
	case number > int(n.Info.NumPorts) || number < 1 && !isSwitch || number < 0:
		return nil, fabric.NoPortError(fmt.Sprint(t.Address), number, int(n.Info.NumPorts))
	case number < len(n.Ports) && n.Ports[number] != nil:
		return n.Ports[number], nil
	}
	return &fabric.Port{Node: n, Number: uint8(number), GUID: n.Info.PortGUID}, nil
}

// located returns the scan's port that a resolved port is, or nil.
func (s *Session) located(p *lookup.Port) *fabric.Port {
	f := s.Fabric
	if p.FoundBy == lookup.FromScan && p.PortGUID != 0 && p.Node != nil {
		for _, n := range f.Nodes { // nodes with the same GUID differ in their ports
			if number := int(p.Node.LocalPort); n.GUID == p.Node.NodeGUID && n.Desc == *p.Description && number < len(n.Ports) && n.Ports[number] != nil {
				return n.Ports[number]
			}
		}
	}
	at := portWithLID(f, p.To.LID)
	if p.To.LID == 0 {
		at = f.Start.PortAt(f.StartPort)
	}
	for _, exit := range p.To.Route.Ports() {
		if at == nil || at.Node.PortAt(exit) == nil {
			return nil
		}
		at = at.Node.PortAt(exit).Peer
	}
	return at
}

// A Link is a port and its peer, checked against each other.
type Link struct {
	Session *Session // closed

	Port *fabric.Port
	End  linkinfo.End
	Peer *linkinfo.End // nil: no link, or an unknown peer
}

// A NumberError reports a switch address without the port number that it requires.
type NumberError struct{ address string }

func (e *NumberError) Error() string { return "the address of a switch requires a port number" }

// Hint suggests a remedy.
func (e *NumberError) Hint() string {
	return fmt.Sprintf("a port is %s/3; all ports: ibkit port %[1]s", e.address)
}

// Show reads a port and its peer, or all ports of a switch and their peers if the target has
// no port number.
func Show(ctx context.Context, o Options, t Target) (links []*Link, err error) {
	s, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	p, err := s.near(ctx, t)
	if _, ok := errors.AsType[*NumberError](err); ok {
		t.Number = 0
		if p, err = s.near(ctx, t); err == nil {
			for _, external := range p.Node.Ports[min(1, len(p.Node.Ports)):] {
				if external != nil {
					links = append(links, s.link(external))
				}
			}
			return links, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if p.Info == nil {
		return nil, fmt.Errorf("read %s: no reply", fabric.PortName(fmt.Sprint(t.Address), int(p.Number)))
	}
	return []*Link{s.link(p)}, nil
}

// link checks a port and its peer against each other.
func (s *Session) link(p *fabric.Port) *Link {
	l := &Link{Session: s, Port: p, End: linkinfo.NewEnd(p, true)}
	if p.Peer != nil {
		peer := linkinfo.NewEnd(p.Peer, true)
		l.Peer = &peer
	}
	return l
}

// near finds a port with a scan limited to the node and its neighbours. If the route to the
// node is not known, or the port was not read, it scans the whole fabric.
func (s *Session) near(ctx context.Context, t Target) (*fabric.Port, error) {
	s.resolver = lookup.New(s.client, s.source.Local(), s.Resolve)
	found, err := s.lookUp(ctx, &t)
	if err != nil {
		return nil, err
	}
	if len(found) == 1 {
		if p, err := s.scanAt(ctx, found[0].To, t); p != nil || err != nil {
			return p, err
		}
	}
	if s.Fabric, err = s.source.Fabric(ctx, fabric.DiscoverOptions{}); err != nil {
		return nil, err
	}
	s.Resolve.Mode, s.Resolve.Scanned = lookup.ModeNodes, s.Fabric
	s.resolver = lookup.New(s.client, s.source.Local(), s.Resolve)
	return s.find(ctx, t)
}

// scanAt scans a node and its neighbours. It returns nil if the scan does not have the
// port.
func (s *Session) scanAt(ctx context.Context, to umad.Target, t Target) (*fabric.Port, error) {
	route := to.Route
	if to.LID != 0 {
		first, err := fabric.RouteTo(ctx, s.client, to.LID)
		if err != nil {
			return nil, ctx.Err()
		}
		route = to.RouteAfter(first)
	}
	f, err := fabric.Discover(ctx, s.client, fabric.DiscoverOptions{From: umad.Target{Route: route}, MaxHops: 1, NoExtendedPortInfo: s.Source.NoExtendedPortInfo})
	if err != nil {
		return nil, err
	}
	at := &fabric.Port{Node: f.Start, Number: f.StartPort}
	p, err := numbered(at, t)
	if err != nil {
		return nil, err
	}
	if p.Info == nil && p.Number != f.StartPort && !f.Start.IsSwitch() {
		return nil, nil
	}
	s.Fabric = f
	return p, nil
}

// managed reports whether a subnet manager serves the local port.
func (s *Session) managed() bool { return s.source.Local().State == ib.PortActive }
