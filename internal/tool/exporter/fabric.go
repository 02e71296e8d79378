package exporter

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A fabricSource sweeps a fabric.
type fabricSource struct {
	options counters.Options
	names   *fabric.NameMap
	check   func(*fabric.Fabric, []*fabric.Node) error // nil: all nodes are expected
	write   func(*encoder, *fabricSweep)
	all     bool // also metrics without a known user

	registers *registerSource // nil: not read
	pings     *pingSource     // nil: not collected
}

// sweep scans the fabric and reads all counters. It compares them with the sweep before.
func (s *fabricSource) sweep(ctx context.Context, before sweep) (sweep, error) {
	o := s.options
	o.Data, o.Window = true, 0
	last, _ := before.(*fabricSweep)
	if last != nil {
		o.Before = last.result
	}
	began := time.Now()
	r, err := counters.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	if s.check != nil {
		nodes := make([]*fabric.Node, len(r.Nodes))
		for i, n := range r.Nodes {
			nodes[i] = n.Node
		}
		if err := s.check(r.Fabric, nodes); err != nil {
			return nil, cmp.Or(r.Fabric.Blind(), err)
		}
	}
	f := &fabricSweep{result: r, names: s.names, details: o.DetailsOf, began: began, took: time.Since(began), writeAll: s.write, all: s.all}
	f.summarize()
	f.findMissing(last, s.options.Want)
	if s.registers != nil && r.Fabric.Blind() == nil {
		if err := s.registers.read(ctx, f, phy.Options{Source: s.options.Source, Selected: s.options.Want}); err != nil {
			return nil, err
		}
	}
	if s.pings != nil && r.Fabric.Blind() == nil {
		f.verdict, err = s.pings.judge(ctx, func(*mesh.Results) (*mesh.Wiring, error) { return s.wire(ctx, r.Fabric) })
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// A fabricSweep is a fabric sweep's result.
type fabricSweep struct {
	result   *counters.Result
	seen     *fabric.Fabric // from the last sweep that was not blind
	names    *fabric.NameMap
	details  counters.DetailSet
	began    time.Time
	took     time.Duration
	devices  []*device
	summary  sweepInfo
	writeAll func(*encoder, *fabricSweep)
	all      bool // also metrics without a known user

	registers *phy.Result  // nil: not read
	verdict   *pingVerdict // nil: no standing probes
}

// A role is a node's type in metric names.
type role struct {
	node      mad.NodeType
	subsystem string // also the label with the node's name
	class     string // in ibnetdiscover output
}

// roles are the node types. Types that the specification does not define count as adapters.
var roles = []role{
	{mad.NodeTypeSwitch, "switch", "SW"},
	{mad.NodeTypeCA, "hca", "CA"},
	{mad.NodeTypeRouter, "router", "RT"},
}

func roleOf(n *fabric.Node) *role {
	for i := range roles {
		if roles[i].node == n.Info.NodeType {
			return &roles[i]
		}
	}
	return &roles[1]
}

// A device is what the exporters that use ibnetdiscover regard as a device: a switch, or an
// adapter or router port.
type device struct {
	*role
	guid, name string
	lid        string // "": unknown
	node       *counters.Node
	ports      []*port

	// Failed requests for counters.
	errors, timeouts int
}

// A port is a device port.
type port struct {
	*counters.Port
	device   *device
	number   string
	peer     *fabric.Port // nil: unknown
	peerName string
	end      linkinfo.End // without findings if the port was omitted from the scan
	findings []counters.Finding
	counted  bool // the counters are exported
}

// up reports whether the port has a link.
func (p *port) up() bool { return p.Info != nil && p.Info.State != ib.PortDown }

// value returns a port's counter if it is to be exported: on ports without a link only if
// any counter is not 0, as many switch ports were never used.
func (p *port) value(c counters.Counter) (uint64, bool) {
	if !p.counted {
		return 0, false
	}
	v, ok := p.Now.Value(c)
	return v.N, ok
}

// hasCounts reports whether any counter on the port is not 0.
func (p *port) hasCounts() bool {
	for _, c := range exported {
		if v, ok := p.Now.Value(c.counter); ok && v.N > 0 {
			return true
		}
	}
	return false
}

// summarize derives the devices and the summary from the result.
func (s *fabricSweep) summarize() {
	s.addDevices()
	r, i := s.result, &s.summary
	i.nodes, i.partial, i.stats = len(r.Nodes), r.Partial(), r.Stats
	i.blind, i.failed = r.Fabric.Blind(), s.failedNodes()
	i.failures = r.Fabric.FailureErrors(s.names)
	for _, n := range r.Nodes {
		i.ports += n.NumRead()
		i.failures = append(i.failures, n.FailureErrors(s.names)...)
	}
}

func (s *fabricSweep) info() sweepInfo { return s.summary }

func (s *fabricSweep) write(e *encoder) {
	s.writeAll(e, s)
	writeOwn(e, s)
	writeRegisters(e, s)
}

// addDevices adds all nodes' devices. Each fabric port is there once, even if nodes have
// the same GUID: duplicate series would invalidate the whole scrape.
func (s *fabricSweep) addDevices() {
	type key struct {
		guid   ib.GUID
		number uint8
	}
	f := s.result.Fabric
	complete := f.Aborted == nil && !f.Bounded && !f.Sparse
	seen := map[key]bool{}
	devices := map[ib.GUID]*device{}
	for _, n := range s.result.Nodes {
		d := &device{role: roleOf(n.Node), name: s.names.Name(n.Node), node: n}
		d.count(n)
		add := func(guid ib.GUID, lid string) *device {
			if known := devices[guid]; known != nil {
				return known
			}
			added := *d
			added.guid, added.lid = guid.String(), lid
			devices[guid] = &added
			s.devices = append(s.devices, &added)
			return &added
		}
		isSwitch := d.role.node == mad.NodeTypeSwitch
		if isSwitch {
			add(n.GUID, lidText(&fabric.Port{Node: n.Node}))
		}
		for _, p := range portsOf(n) {
			k := key{p.GUID, p.Number}
			if isSwitch {
				k.guid = n.GUID
			}
			d := add(k.guid, lidText(p.Port))
			if p.Number == 0 || seen[k] || d.node != n { // a management port, or a duplicate GUID
				continue
			}
			seen[k] = true
			d.ports = append(d.ports, s.newPort(d, p, complete))
		}
	}
}

// portsOf returns a node's ports, also ports with unread counters.
func portsOf(n *counters.Node) []*counters.Port {
	read := map[uint8]*counters.Port{}
	for _, p := range n.Ports {
		read[p.Number] = p
	}
	all := make([]*counters.Port, 0, len(n.Node.Ports))
	for _, p := range n.Node.Ports {
		switch {
		case p == nil:
		case read[p.Number] != nil:
			all = append(all, read[p.Number])
		default:
			all = append(all, &counters.Port{Port: p})
		}
	}
	return all
}

func (s *fabricSweep) newPort(d *device, p *counters.Port, complete bool) *port {
	q := &port{Port: p, device: d, number: strconv.Itoa(int(p.Number)), peer: p.Peer}
	q.counted = p.Now != nil && (q.up() || q.hasCounts())
	if q.peer != nil {
		q.peerName = s.names.Name(q.peer.Node)
	}
	if !p.Omitted {
		q.end = linkinfo.NewEnd(p.Port, complete)
	}
	if p.Before != nil { // findings without a window would repeat old errors forever
		q.findings = s.result.Findings(p)
	}
	return q
}

// count counts a node's failures that concern the device.
func (d *device) count(n *counters.Node) {
	for _, f := range n.Failures {
		if errors.Is(f.Err, umad.ErrTimeout) {
			d.timeouts++
		} else {
			d.errors++
		}
	}
}

// allPorts calls f with the ports on devices with a role; nil: on all devices.
func (s *fabricSweep) allPorts(r *role, f func(*port)) {
	for _, d := range s.devices {
		if r != nil && d.role != r {
			continue
		}
		for _, p := range d.ports {
			f(p)
		}
	}
}

// detailOf has the attribute for counters that are not read on each port by default.
func detailOf(c counters.Counter) counters.DetailSet {
	switch {
	case !c.IsDetail():
		return 0
	case c <= counters.LoopingErrors:
		return counters.RcvErrorDetails
	case c <= counters.SwHOQLifetimeLimitDiscards:
		return counters.XmitDiscardDetails
	}
	return counters.FECDetails
}

// exports reports whether a counter is exported: counters with details only if they are
// read on all ports, as series must not end when errors do.
func (s *fabricSweep) exports(c counters.Counter) bool {
	part := detailOf(c)
	return s.details&part == part
}

// Collector names in treydock's exporter.
const collectScan = "ibnetdiscover"

var allCollectors = []string{collectScan, "switch", "hca"}

// failedNodes counts the nodes with failed requests, by collector.
func (s *fabricSweep) failedNodes() map[string]failedNodes {
	failed := map[string]failedNodes{}
	for _, c := range allCollectors {
		failed[c] = failedNodes{}
	}
	for _, d := range s.devices {
		f := failed[d.subsystem]
		f.errors += min(d.errors, 1)
		f.timeouts += min(d.timeouts, 1)
		failed[d.subsystem] = f
	}
	scan := failed[collectScan]
	for _, f := range s.result.Fabric.Failures {
		if errors.Is(f.Err, umad.ErrTimeout) {
			scan.timeouts++
		} else {
			scan.errors++
		}
	}
	failed[collectScan] = scan
	return failed
}
