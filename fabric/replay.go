package fabric

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Replay is the discovery of a fabric by libibnetdisc: a queue of requests, each sent
// when its turn comes, with responses in request order (rdma-core,
// libibnetdisc/ibnetdisc.c and query_smp.c). The infiniband-diags tools print nodes in
// an order that results from it.
type Replay struct {
	// Nodes contains the nodes in the order in which libibnetdisc lists them: the
	// node found last is the first. Nodes that the replay does not reach follow.
	Nodes []*Node

	// Requests is the request count; 0 if the fabric is from a cache.
	Requests int

	// MaxHops is the length of the longest route on which libibnetdisc sends a
	// request.
	MaxHops int

	ports []*Port // in a cache's order
}

// A Visit is a NodeInfo response in a [Replay].
type Visit struct {
	Route mad.Route
	Port  *Port // the port through which the request arrived
	New   bool  // the node was unknown before
	LID   ib.LID
	LMC   uint8
	Desc  mad.NodeDescription // zero before its response
}

// replayStep is a replay request: NodeInfo for the node behind a port if attr is
// AttrNodeInfo, otherwise a node attribute.
type replayStep struct {
	attr mad.AttrID
	port uint8     // node's port number
	node *replayed // nil for NodeInfo
	from *Port     // port that a NodeInfo request leaves through last; nil for the start
}

// replayed is a node's state during a replay.
type replayed struct {
	*Node
	route mad.Route
	entry uint8 // port through which the first request arrived
	desc  bool  // the description is known
	info  []bool
}

// Replay replays the discovery of the fabric. visit, if not nil, is called for each
// NodeInfo response. For a fabric from a cache, the node order is the file's order, and
// visit is not called.
func (f *Fabric) Replay(visit func(Visit)) Replay {
	if f.stored != nil {
		return f.replayStored()
	}
	r := replayer{fabric: f, visit: visit, nodes: make(map[*Node]*replayed, len(f.Nodes))}
	r.Nodes = make([]*Node, 0, len(f.Nodes))
	if f.Start != nil {
		r.push(replayStep{attr: mad.AttrNodeInfo})
	}
	for len(r.queue) > r.next {
		s := r.queue[r.next]
		r.next++
		r.respond(s)
	}
	r.Requests = r.next + r.dropped
	slices.Reverse(r.Nodes)
	r.ports = hashOrder(r.ports)
	if len(r.Nodes) < len(f.Nodes) {
		for _, n := range f.Nodes {
			if r.nodes[n] == nil {
				r.Nodes = append(r.Nodes, n)
			}
		}
	}
	return r.Replay
}

// replayStored returns the order in a cache file.
func (f *Fabric) replayStored() Replay {
	return Replay{Nodes: f.stored.nodes, MaxHops: f.stored.maxHops, ports: f.stored.ports}
}

// store keeps a cache's order, for which libibnetdisc adds the ports to its hash table
// from the last node to the first.
func (f *Fabric) store(maxHops int) {
	var ports []*Port
	for _, n := range slices.Backward(f.Nodes) {
		ports = append(ports, n.Ports...)
	}
	f.stored = &storedOrder{nodes: slices.Clone(f.Nodes), ports: hashOrder(ports), maxHops: maxHops}
}

type replayer struct {
	Replay
	fabric *Fabric
	visit  func(Visit)
	nodes  map[*Node]*replayed

	queue   []replayStep
	next    int // index in queue of the next request to respond to
	dropped int // requests that were removed from queue
}

// push queues a request. Before the queue grows, it drops the requests that have a
// response: a fabric with 10,400 adapters takes 133,000 requests with 24 bytes each.
func (r *replayer) push(s replayStep) {
	if len(r.queue) == cap(r.queue) && r.next > len(r.queue)/2 {
		n := copy(r.queue, r.queue[r.next:])
		r.dropped += r.next
		r.queue, r.next = r.queue[:n], 0
	}
	r.queue = append(r.queue, s)
}

func (r *replayer) respond(s replayStep) {
	switch s.attr {
	case mad.AttrNodeInfo:
		r.nodeInfo(s.from)
	case mad.AttrNodeDescription:
		s.node.desc = true
	case mad.AttrPortInfo:
		r.portInfo(s.node, s.port)
	case mad.AttrMlnxExtPortInfo:
		r.expand(s.node, s.port)
	}
}

// nodeInfo handles NodeInfo from the node behind a port, or from the start.
func (r *replayer) nodeInfo(from *Port) {
	n, port := r.fabric.Start, r.fabric.StartPort
	if from != nil {
		n, port = from.Peer.Node, from.Peer.Number
	}
	state, known := r.nodes[n]
	isSwitch := n.IsSwitch()
	var route mad.Route
	if !known || r.visit != nil {
		route = r.routeThrough(from)
	}
	if !known {
		state = &replayed{Node: n, route: route, entry: port, info: make([]bool, len(n.Ports))}
		r.nodes[n] = state
		r.Nodes = append(r.Nodes, n)
	}
	if r.visit != nil {
		r.visit(state.visit(port, route, !known))
	}
	if !known {
		r.push(replayStep{attr: mad.AttrNodeDescription, node: state})
		if isSwitch {
			r.push(replayStep{attr: mad.AttrSwitchInfo, node: state})
			r.push(replayStep{attr: mad.AttrPortInfo, node: state})
		}
	}
	if !isSwitch {
		r.push(replayStep{attr: mad.AttrPortInfo, node: state, port: port})
	}
}

// routeThrough returns a NodeInfo request's route through a port, or to the start.
func (r *replayer) routeThrough(from *Port) mad.Route {
	if from == nil {
		return r.fabric.Start.Route
	}
	near := r.nodes[from.Node].route
	if !from.Node.IsSwitch() && near.Hops() > 1 {
		return near.Parent()
	}
	return near.Append(from.Number)
}

func (n *replayed) visit(port uint8, route mad.Route, isNew bool) Visit {
	v := Visit{Route: route, Port: cmp.Or(n.PortAt(port), &Port{Node: n.Node, Number: port}), New: isNew}
	if int(port) < len(n.info) && n.info[port] {
		v.LID = v.Port.LID()
		if base := v.Port.Caps(); base != nil {
			v.LMC = base.LMC
		}
	}
	if n.desc {
		v.Desc = n.Desc
	}
	return v
}

// portInfo handles a port's PortInfo. The response from a switch's port 0 comes before
// the requests for the other ports.
func (r *replayer) portInfo(n *replayed, number uint8) {
	p := n.PortAt(number)
	if p == nil || p.Info == nil {
		if number == 0 && n.IsSwitch() {
			r.sweep(n)
		}
		return
	}
	if !n.info[number] {
		n.info[number] = true
		r.ports = append(r.ports, p)
	}
	if r.fabric.hasExtPort(p) {
		r.push(replayStep{attr: mad.AttrMlnxExtPortInfo, node: n, port: number})
	} else {
		r.expand(n, number)
	}
	if number == 0 {
		r.sweep(n)
	}
}

// sweep requests PortInfo for all external switch ports.
func (r *replayer) sweep(n *replayed) {
	for port := 1; port <= int(n.Info.NumPorts); port++ {
		r.push(replayStep{attr: mad.AttrPortInfo, node: n, port: uint8(port)})
	}
}

// hasExtPort reports whether the discovery queries a port's ExtendedPortInfo.
func (f *Fabric) hasExtPort(p *Port) bool {
	if f.noExtendedPortInfo || p.Info.PhysState != ib.PhysLinkUp || !HasExtendedPortInfo(&p.Node.Info) {
		return false
	}
	caps := p.Caps()
	return caps != nil && p.Info.ActiveSpeed(caps, nil) == ib.QDR
}

// expand requests NodeInfo from a port's peer, except at the port through which the
// node was found.
func (r *replayer) expand(n *replayed, number uint8) {
	p := n.Ports[number]
	if number == 0 || p == nil || p.Info == nil || p.Info.PhysState != ib.PhysLinkUp || p.Peer == nil {
		return
	}
	switch {
	case n.IsSwitch():
		if number == n.entry {
			return
		}
	case n.Node != r.fabric.Start || number != r.fabric.StartPort:
		return
	}
	r.MaxHops = max(r.MaxHops, n.route.Hops()+1-r.fabric.Start.Route.Hops())
	r.push(replayStep{attr: mad.AttrNodeInfo, from: p})
}
