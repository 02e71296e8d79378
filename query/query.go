package query

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options of [Run].
type Options struct {
	Open   func(context.Context) (umad.Port, error)
	Client umad.ClientOptions

	Attribute Attribute
	Targets   []resolve.Address
	Ports     Ports
	Modifier  *uint32 // of a single request to each target; nil: derived from the attribute
	CCKey     uint64  // key of congestion control
	FromSA    bool    // query subnet administration in place of the nodes
	SMKey     uint64  // of queries of subnet administration
	Packets   bool    // keep the packets of all replies, not only of those with errors

	Resolve resolve.Options
}

// A Reply is the reply to one request, or the reason why there is none.
type Reply struct {
	Target resolve.Address
	Port   *resolve.Port // the destination; nil: it was not found

	Number   int // of the port that the attribute belongs to; -1: none
	Modifier uint32
	Block    int // index of the first entry of a table; -1: not a table

	Attr   mad.Attribute // decoded; nil: unknown attribute, or an error
	Packet *mad.Packet   // that was received, as far as it is kept; nil: none
	RTT    time.Duration
	Err    error
}

// A Result is the result of [Run].
type Result struct {
	Attribute Attribute
	Local     umad.PortAttr
	Replies   []Reply
	Failed    int // replies with an error
	Stats     umad.Stats
}

// Run requests an attribute from all targets, with many requests in flight. Failures of
// single requests are in the result; the error is one that ended the whole run.
func Run(ctx context.Context, o Options) (result *Result, err error) {
	port, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, port.Close()) }()
	r := &run{Options: o, client: umad.NewClient(port, o.Client), ctx: ctx}
	r.result = &Result{Attribute: o.Attribute, Local: port.Attr()}
	err = r.run()
	r.result.Stats = r.client.Stats()
	return r.result, err
}

// run is the state of one Run.
type run struct {
	Options
	ctx    context.Context
	client *umad.Client
	result *Result
}

// A target is a destination and its requests, of which the replies are stored in order.
type target struct {
	*run
	address resolve.Address
	port    *resolve.Port
	facts   facts
	wants   needs
	parts   []part
	replies []Reply
}

func (r *run) run() error {
	resolver := resolve.New(r.client, r.result.Local, r.Resolve)
	var targets []*target
	for _, a := range r.Targets {
		ports, err := resolver.Find(r.ctx, a)
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			targets = append(targets, &target{run: r, address: a, replies: []Reply{{Target: a, Number: -1, Block: -1, Err: err}}})
		}
		for _, p := range ports {
			targets = append(targets, &target{run: r, address: a, port: p})
		}
	}
	for _, t := range targets {
		if t.port != nil {
			t.start()
		}
	}
	err := r.client.Run(r.ctx)
	for _, t := range targets {
		for _, reply := range t.replies {
			if reply.Err != nil {
				r.result.Failed++
			}
		}
		r.result.Replies = append(r.result.Replies, t.replies...)
	}
	return err
}

// start submits the first request of a target.
func (t *target) start() {
	if t.Modifier != nil {
		p := part{port: -1, modifier: *t.Modifier, block: -1}
		t.submit([]part{p})
		return
	}
	t.wants = t.Attribute.scope.needs(t.Ports)
	t.wants.node = t.wants.node || t.FromSA && (t.wants.port || t.Attribute.scope == ofPort) // the agent of an adapter knows its port
	if node := t.port.Node; node != nil {
		t.facts.node, t.wants.node = *node, false
	}
	t.next()
}

// next requests the next attribute that is needed, or submits the requests for the
// attribute of the query.
func (t *target) next() {
	switch w := &t.wants; {
	case w.node:
		w.node = false
		t.fact(&t.facts.node, 0)
	case w.sw && t.facts.isSwitch():
		w.sw = false
		t.fact(&t.facts.sw, 0)
	case w.port:
		w.port = false
		t.fact(&t.facts.port, t.Attribute.scope.representative(t.Ports, &t.facts))
	case w.limit:
		w.limit = false
		t.limit()
	default:
		t.submit(t.Attribute.scope.parts(t.Ports, &t.facts))
	}
}

// fact requests an attribute of subnet management that is needed.
func (t *target) fact(a mad.Attribute, number uint32) {
	if t.FromSA && number == 0 && !t.facts.isSwitch() {
		number = uint32(t.facts.node.LocalPort)
	}
	c, err := t.ask(attribute(mad.ClassSMPLIDRouted, a.ID()), part{port: int(number), modifier: number})
	if err != nil {
		t.continueWith(err, &umad.Reply{})
		return
	}
	c.request.Done = func(_ *umad.Request, reply *umad.Reply) {
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
		}
		t.continueWith(err, reply)
	}
	t.client.Submit(c.request)
}

// limit requests the size of the congestion control table.
func (t *target) limit() {
	q := t.request(t.Attribute, part{})
	q.Done = func(_ *umad.Request, reply *umad.Reply) {
		var table mad.CongestionControlTable
		err := reply.Err
		if err == nil {
			err = mad.Decode(&table, reply.Data())
		}
		t.facts.limit = table.Limit
		t.continueWith(err, reply)
	}
	t.client.Submit(q)
}

// continueWith goes on after a needed attribute, or ends with its error.
func (t *target) continueWith(err error, reply *umad.Reply) {
	if err == nil {
		t.next()
		return
	}
	t.replies = []Reply{{Target: t.address, Port: t.port, Number: -1, Block: -1, Packet: clone(reply.MAD), Err: err}}
}

// submit submits the requests for the attribute.
func (t *target) submit(parts []part) {
	t.parts = parts
	t.replies = make([]Reply, len(parts))
	for i, p := range parts {
		reply := &t.replies[i]
		*reply = Reply{Target: t.address, Port: t.port, Number: p.port, Modifier: p.modifier, Block: p.block}
		if t.FromSA && p.port == 0 && !t.facts.isSwitch() {
			p.port = int(t.facts.node.LocalPort)
			reply.Number = p.port
		}
		c, err := t.ask(t.Attribute, p)
		if err != nil {
			reply.Err = err
			continue
		}
		c.request.Done = func(_ *umad.Request, received *umad.Reply) { t.receive(reply, received, c.decode) }
		t.client.Submit(c.request)
	}
	if len(parts) == 0 {
		t.replies = []Reply{{Target: t.address, Port: t.port, Number: -1, Block: -1, Err: errEmpty}}
	}
}

// errEmpty is the error of a node whose attributes report that it has no such table.
var errEmpty = errors.New("the node has no such table")

// request returns the request of a part.
func (t *target) request(a Attribute, p part) *umad.Request {
	q := &umad.Request{To: t.port.To, Class: a.Class, Attr: a.ID, Modifier: p.modifier}
	if q.Class == mad.ClassSMPLIDRouted {
		q.Class = 0 // according to the destination
		return q
	}
	offset, _ := q.Class.DataRange()
	const headerSize = 24
	q.Payload = make([]byte, offset-headerSize+4)
	switch {
	case a.scope == ofCounters:
		q.Payload[offset-headerSize+1] = uint8(p.port) // PortSelect
	case q.Class == mad.ClassCC:
		binary.BigEndian.PutUint64(q.Payload, t.CCKey) // first in the packet (A10.4.1)
	}
	return q
}

// receive stores a reply.
func (t *target) receive(reply *Reply, received *umad.Reply, decode func([]byte) (mad.Attribute, error)) {
	reply.Err, reply.RTT = received.Err, received.RTT
	if received.MAD == nil {
		return
	}
	if reply.Err == nil {
		reply.Attr, reply.Err = decode(received.Data())
	}
	if t.Packets || reply.Attr == nil || reply.Err != nil {
		reply.Packet = clone(received.MAD)
	}
}

func clone(p *mad.Packet) *mad.Packet {
	if p == nil {
		return nil
	}
	return new(*p)
}

// Name returns the name of the node that replied, or "" if it is unknown.
func (r *Reply) Name(names *fabric.NameMap) string {
	if r.Port == nil || r.Port.Node == nil || r.Port.Description == nil {
		return ""
	}
	return names.NameOf(r.Port.Node.NodeGUID, *r.Port.Description)
}

// Heading returns the attribute, the destination and the part of a table in a reply.
// name is the name of the node, or "".
func (r *Result) Heading(reply *Reply, name string) string {
	s := r.Attribute.Name + " of " + reply.place()
	if name != "" {
		s += fmt.Sprintf(" %q", name)
	}
	if reply.Block >= 0 {
		s += fmt.Sprintf(", %s %d", r.Attribute.scope.label(), reply.Block)
	}
	return s
}

// place returns the destination and the port.
func (r *Reply) place() string {
	if r.Port == nil {
		return r.Target.String()
	}
	s := fmt.Sprintf("LID %d", r.Port.To.LID)
	if r.Port.To.Route != "" || r.Port.To.LID == 0 {
		s = "route " + r.Port.To.Route.String()
		if r.Port.To.LID != 0 {
			s = fmt.Sprintf("route %d,%s", r.Port.To.LID, r.Port.To.Route)
		}
	}
	if r.Number >= 0 {
		s += fmt.Sprintf(" port %d", r.Number)
	}
	return s
}
