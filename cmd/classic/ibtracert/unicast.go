package ibtracert

import "github.com/ibkit/ibkit/mad"

// maxHops is the hop count after which ibtracert ends.
const maxHops = 63

// follow follows a LID's route from a place, which moves to the route's end.
func (t *tracer) follow(from, to *place, l level) error {
	const function = "find_route"
	var first, next, target node
	var firstPort, nextPort, targetPort port
	if !t.node(&first, &firstPort, from) || !t.node(&target, &targetPort, to) {
		t.Ibwarn(function, "can't reach to/from ports")
		if !t.force {
			return errRoute
		}
		if to.lid > 0 {
			targetPort.lid = to.lid
		}
		t.Ibwarn(function, "Force: look for lid %d", to.lid)
	}
	n, p := &first, &firstPort
	number, output := p.number, 255
	nextOutput := 255
	var table forwarding
	invalid := func() error {
		t.Ibwarn(function, "Bad forwarding table entry found at: node \"%s\" lid entry %d is %d (top %d)", n.desc.Clean(), to.lid, output, table.top)
		return errRoute
	}
	t.printEnd(l, "From", n, p)
	if n.kind == mad.NodeTypeSwitch {
		if nextOutput = t.lookup(&table, from, to.lid); nextOutput < 0 || nextOutput > n.ports {
			output = nextOutput
			return invalid()
		}
	}
	for hops := 0; ; hops++ {
		if hops == maxHops {
			t.Ibwarn(function, "no route found after %d hops", maxHops)
			return errRoute
		}
		if isInactive(n, p, &table) {
			t.Ibwarn(function, "Bad port state found: node \"%s\" port %d state %d", n.desc.Clean(), number, uint8(p.state))
			return errRoute
		}
		if t.same(p, &targetPort) {
			break
		}
		switch n.kind {
		case mad.NodeTypeSwitch:
			output = nextOutput
			if !from.extend(output) {
				t.Ibwarn(function, "Direct path too long!")
				return errRoute
			}
			if !t.node(&next, &nextPort, from) {
				t.Ibwarn(function, "can't reach port at %s", from.id().Text)
				return errRoute
			}
			if output == 0 {
				if !t.same(&nextPort, &targetPort) {
					return invalid()
				}
				t.printEnd(l, "To", n, p)
				return nil
			}
		case mad.NodeTypeCA, mad.NodeTypeRouter:
			output = number
			if !t.same(p, &firstPort) {
				t.Ibwarn(function, "can't continue: reached CA or router port %x, lid %d", uint64(p.guid), p.lid)
				return errRoute
			}
			if err := t.leave(from, number, &next, &nextPort); err != nil {
				return err
			}
		}
		if next.kind == mad.NodeTypeSwitch {
			if nextOutput = t.lookup(&table, from, to.lid); nextOutput < 0 || nextOutput > next.ports {
				output = nextOutput
				return invalid()
			}
		}
		p = &nextPort
		if isInactive(&next, p, &table) {
			t.Ibwarn(function, "Bad out port state found: node \"%s\" outport %d state %d", n.desc.Clean(), output, uint8(p.state))
			return errRoute
		}
		n, number = &next, p.number
		t.printHop(l, n, output, p)
	}
	t.printEnd(l, "To", n, p)
	return nil
}

// leave moves from an adapter or router at a route's start to the node that it is linked
// to: a hop back, or through its port if it is the local node.
func (t *tracer) leave(from *place, number int, next *node, nextPort *port) error {
	exit := -1
	if from.route.Hops() > 0 {
		exit = int(from.route.Exit())
		from.route = from.route.Parent()
	} else if number != 0 && !from.extend(number) {
		t.Ibwarn("find_route", "Direct path too long!")
		return errRoute
	}
	if !t.node(next, nextPort, from) {
		t.Ibwarn("find_route", "can't reach port at %s", from.id().Text)
		return errRoute
	}
	if exit >= 0 {
		nextPort.number = exit
	}
	return nil
}
