package query

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Run].
type Options struct {
	Source fabric.Source

	Attribute Attribute
	Targets   []lookup.Address
	Ports     Ports
	Modifier  *uint32  // for a single request to each target; nil: derived from the attribute
	Addresses []uint32 // words in the configuration space
	CCKey     mad.Key  // congestion control key
	OUI       uint32   // for text queries
	FromSA    bool     // query subnet administration in place of the nodes
	SMKey     mad.Key  // for queries to subnet administration
	Packets   bool     // keep the packets from all replies, not only from replies with errors
	Identify  bool     // request the names and GUIDs for nodes that are not known from the search

	Resolve lookup.Options
}

// Run requests an attribute from all targets, with many requests in flight. Failures in
// single requests are in the result; the returned error ended the whole run.
func Run(ctx context.Context, o Options) (result *Result, err error) {
	began := time.Now()
	s, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r := &run{Options: o, client: s.Client, ctx: ctx}
	r.result = &Result{Began: began, Attribute: o.Attribute, Local: s.Local()}
	err = r.run()
	r.result.Stats = r.client.Stats()
	return r.result, err
}

// run is a Run's state.
type run struct {
	Options
	ctx    context.Context
	client *umad.Client
	result *Result

	waiting []*target // not started
	started int       // targets with requests
	long    []func()  // requests for replies with several segments, sequentially

	redirected []redirected
}

// A target is a destination with the replies to its requests, in order.
type target struct {
	*run
	address lookup.Address
	port    *lookup.Port
	ports   Ports
	replies []Reply

	*progress // nil before the start and after the last reply
}

// progress is the state for a target with requests.
type progress struct {
	facts    facts
	wants    needs
	requests int // submitted and not answered
}

// maxStarted limits the memory for targets with requests. It is much more than the requests
// in flight, because targets that do not respond wait for their timeouts at the same time.
const maxStarted = 4096

func (r *run) run() error {
	resolver := lookup.New(r.client, r.result.Local, r.Resolve)
	var targets []*target
	for _, a := range r.Targets {
		ports, numbers, err := r.find(resolver, a)
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			t := &target{run: r, address: a}
			t.fail(err, nil)
			targets = append(targets, t)
		}
		for _, p := range ports {
			targets = append(targets, &target{run: r, address: a, port: p, ports: numbers})
		}
	}
	r.result.Missed = resolver.Missed()
	r.waiting = targets
	r.startTargets()
	err := r.client.Run(r.ctx)
	for err == nil && r.followRedirected() {
		err = r.client.Run(r.ctx)
	}
	for _, finish := range r.long {
		finish()
	}
	r.result.Replies = make([]Reply, 0, len(targets))
	for _, t := range targets {
		if err != nil && (t.progress != nil || t.replies == nil) {
			t.fail(err, nil)
		}
		t.replies = mergeFailures(t.replies)
		for i := range t.replies {
			if t.replies[i].Err != nil {
				r.result.Failed++
			}
		}
		r.result.Replies = append(r.result.Replies, t.replies...)
		t.replies = nil
	}
	return err
}

// find returns the destinations with an address and the ports to query there: for an
// address such as leaf1[3], port 3 on the switch.
func (r *run) find(resolver *lookup.Resolver, a lookup.Address) ([]*lookup.Port, Ports, error) {
	ports, err := resolver.Find(r.ctx, a)
	failed, ok := errors.AsType[*lookup.PortError](err)
	if !ok || !failed.External || r.Ports.Given() || !r.Attribute.HasPorts() {
		return ports, r.Ports, err
	}
	numbers, err := ParsePorts(strconv.Itoa(failed.Number))
	if err != nil {
		return nil, numbers, err
	}
	a.Name = failed.Node
	ports, err = resolver.Find(r.ctx, a)
	return ports, numbers, err
}

// startTargets starts targets up to the limit.
func (r *run) startTargets() {
	for r.started < maxStarted && len(r.waiting) > 0 {
		t := r.waiting[0]
		r.waiting = r.waiting[1:]
		if t.port == nil {
			continue
		}
		r.started++
		t.progress = &progress{requests: 1} // until start returns
		t.start()
		t.answered()
	}
}

// send submits a request. done is called with the reply.
func (t *target) send(q *umad.Request, done func(*umad.Reply)) {
	t.requests++
	end := func(reply *umad.Reply) {
		done(reply)
		t.answered()
		t.startTargets()
	}
	q.Done = func(_ *umad.Request, reply *umad.Reply) {
		if info := umad.Redirection(reply); info != nil && q.To.Redirect == nil {
			t.redirected = append(t.redirected, redirected{q, *info, end})
			return
		}
		end(reply)
	}
	t.client.Submit(q)
}

// A redirected request is to be sent to the address in info.
type redirected struct {
	request *umad.Request
	info    mad.ClassPortInfo
	end     func(*umad.Reply)
}

// followRedirected submits the requests that agents redirected, each once. It reports whether
// there were any. The client must not be running.
func (r *run) followRedirected() bool {
	all := r.redirected
	r.redirected = nil
	for _, q := range all {
		to, err := r.client.Redirect(r.ctx, &q.info)
		if err != nil {
			q.end(&umad.Reply{Err: &umad.Error{
				To: q.request.To, Class: q.request.Class, Method: mad.MethodGet, Attr: q.request.Attr, Modifier: q.request.Modifier, Err: err,
			}})
			continue
		}
		q.request.To.Redirect = to
		r.client.Submit(q.request)
	}
	return len(all) > 0
}

// answered ends a request, and the target with its last request.
func (t *target) answered() {
	if t.requests--; t.requests == 0 {
		t.progress = nil
		t.started--
	}
}

// identify requests the node and its description if they are unknown. A node that does not
// reply has no name.
func (t *target) identify() {
	for _, known := range []struct {
		attr Attribute
		ok   bool
	}{{nodeInfo, t.port.Node != nil}, {nodeDescription, t.port.Description != nil}} {
		if known.ok {
			continue
		}
		c, err := t.callFor(known.attr, part{port: -1})
		if err != nil {
			continue // the query itself has the same error
		}
		t.send(c.request, func(reply *umad.Reply) {
			if reply.Err != nil {
				return
			}
			switch a, err := c.decode(reply.Data()); a := a.(type) {
			case *mad.NodeInfo:
				if err == nil {
					t.port.Node = a
				}
			case *mad.NodeDescription:
				if err == nil {
					t.port.Description = a
				}
			}
		})
	}
}

// The attributes that identify a node.
var (
	nodeInfo        = attribute(mad.ClassSMPLIDRouted, mad.AttrNodeInfo)
	nodeDescription = attribute(mad.ClassSMPLIDRouted, mad.AttrNodeDescription)
)

// start submits a target's first request.
func (t *target) start() {
	if t.Identify {
		t.identify()
	}
	if t.Modifier != nil {
		p := part{port: -1, modifier: *t.Modifier, block: -1}
		t.submit([]part{p})
		return
	}
	if t.Attribute.HasAddresses() {
		t.submit(addressParts(t.Addresses))
		return
	}
	t.wants = t.Attribute.scope.needs(t.ports)
	t.wants.agent = t.Attribute.Class == mad.ClassMlnx && t.ports.Given()
	t.wants.node = t.wants.node || t.FromSA && (t.wants.port || t.Attribute.scope == ofPort) // an adapter's agent knows its port
	if node := t.port.Node; node != nil {
		t.facts.node, t.wants.node = *node, false
	}
	t.next()
}

// next requests the next attribute that is needed, or submits the requests for the query's
// attribute.
func (t *target) next() {
	switch w := &t.wants; {
	case w.agent:
		w.agent = false
		t.agent()
	case w.node:
		w.node = false
		t.fact(&t.facts.node, 0)
	case w.sw && t.facts.node.IsSwitch():
		w.sw = false
		t.fact(&t.facts.sw, 0)
	case w.port:
		w.port = false
		t.fact(&t.facts.port, t.Attribute.scope.representative(t.ports, &t.facts))
	case w.adaptive:
		w.adaptive = false
		t.fact(&t.facts.adaptive, 0)
	case w.limit:
		w.limit = false
		t.limit()
	default:
		t.submit(t.Attribute.scope.parts(t.ports, &t.facts))
	}
}

// fact requests a subnet management attribute that is needed.
func (t *target) fact(a mad.Attribute, number uint32) {
	if t.FromSA && number == 0 && !t.facts.node.IsSwitch() {
		number = uint32(t.facts.node.LocalPort)
	}
	c, err := t.callFor(attribute(mad.ClassSMPLIDRouted, a.Spec().ID), part{port: int(number), modifier: number})
	if err != nil {
		t.continueWith(err, &umad.Reply{})
		return
	}
	t.send(c.request, func(reply *umad.Reply) {
		err := reply.Err
		if err == nil {
			a, err = c.decode(reply.Data())
		}
		switch a := a.(type) {
		case *mad.NodeInfo:
			t.facts.node = *a
		case *mad.SwitchInfo:
			t.facts.sw = *a
		case *mad.PortInfo:
			t.facts.port = *a
		case *mad.AdaptiveRoutingInfo:
			t.facts.adaptive = *a
		}
		t.continueWith(err, reply)
	})
}

// limit requests the congestion control table size.
func (t *target) limit() {
	t.send(t.request(t.Attribute, part{}), func(reply *umad.Reply) {
		var table mad.CongestionControlTable
		err := reply.Err
		if err == nil {
			err = reply.MAD.Decode(&table)
		}
		t.facts.limit = table.Limit
		t.continueWith(err, reply)
	})
}

// agent requests ClassPortInfo, which each agent in the class has, so that a node without
// an agent costs a single timeout.
func (t *target) agent() {
	q := t.request(attribute(t.Attribute.Class, mad.AttrClassPortInfo), part{})
	t.send(q, func(reply *umad.Reply) { t.continueWith(reply.Err, reply) })
}

// continueWith goes on after a needed attribute, or ends with its error.
func (t *target) continueWith(err error, reply *umad.Reply) {
	if err == nil {
		t.next()
		return
	}
	t.fail(err, clone(reply.MAD))
}

// fail replaces the replies by an error.
func (t *target) fail(err error, packet *mad.Packet) {
	t.replies = []Reply{{Target: t.address, Port: t.port, Number: -1, Block: -1, Packet: packet, Err: err}}
}

// submit submits the requests for the attribute.
func (t *target) submit(parts []part) {
	t.replies = make([]Reply, len(parts))
	for i, p := range parts {
		reply := &t.replies[i]
		*reply = Reply{Target: t.address, Port: t.port, Number: p.port, Modifier: p.modifier, Block: p.block}
		if t.FromSA && p.port == 0 && !t.facts.node.IsSwitch() {
			p.port = int(t.facts.node.LocalPort)
			reply.Number = p.port
		}
		c, err := t.callFor(t.Attribute, p)
		if err != nil {
			reply.Err = err
			continue
		}
		t.send(c.request, func(received *umad.Reply) { t.receive(reply, received, c.decode) })
	}
	if len(parts) == 0 {
		t.fail(errEmpty, nil)
	}
}

// errEmpty is the error for a node with attributes that report no such table.
var errEmpty = errors.New("the node has no such table")

// request returns a part's request.
func (t *target) request(a Attribute, p part) *umad.Request {
	q := &umad.Request{To: t.port.To, Class: a.Class, Attr: a.ID, Modifier: p.modifier}
	if q.Class == mad.ClassSMPLIDRouted {
		q.Class = 0 // according to the destination
		return q
	}
	switch {
	case a.scope == ofCounters:
		q.Data = []byte{0, uint8(p.port)} // PortSelect
	case q.Class == mad.ClassCC:
		q.Key = t.CCKey
	case a.scope == ofAddresses && t.Modifier == nil:
		q.Value = words(t.Addresses, p)
	case q.Class.HasOUI():
		q.OUI = t.OUI
	}
	return q
}

// receive stores a reply.
func (t *target) receive(reply *Reply, received *umad.Reply, decode func([]byte) (mad.Attribute, error)) {
	reply.Err, reply.RTT = received.Err, received.RTT
	if received.MAD == nil {
		return
	}
	switch {
	case reply.Err != nil:
	case t.Attribute.IsText():
		t.receiveText(reply, received)
	default:
		reply.Attr, reply.Err = decode(received.Data())
	}
	if t.Packets || reply.Attr == nil && reply.Text == nil || reply.Err != nil {
		reply.Packet = clone(received.MAD)
	}
}

// receiveText stores a reply's text. If there are more segments, the request is sent again
// when no other is in flight.
func (t *target) receiveText(reply *Reply, received *umad.Reply) {
	long, ok := received.Long()
	if ok {
		reply.Text, reply.Err = text(long)
		return
	}
	r := t.request(t.Attribute, part{})
	t.long = append(t.long, func() {
		long, err := t.client.CallLong(t.ctx, r, umad.LongOptions{Limit: maxText})
		if err == nil {
			reply.Text, err = text(long)
		}
		reply.Err = err
	})
}

// maxText is the maximum text size in bytes.
const maxText = 1 << 20

// text returns the text in a reply, which ends with a NUL.
func text(reply *umad.LongReply) (*string, error) {
	s, _, found := bytes.Cut(reply.Data, []byte{0})
	if !found && reply.Clipped {
		return new(string(s)), errClipped
	}
	return new(string(s)), nil
}

// errClipped is the error for a text in a single packet that may have more.
var errClipped = errors.New("the text is cut: the reply is a single packet")
