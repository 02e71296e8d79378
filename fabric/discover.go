package fabric

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// DiscoverOptions steer a discovery. The zero value scans the whole subnet
// from the local port.
type DiscoverOptions struct {
	// From is where the scan begins. The zero value is the local port.
	From umad.Target

	// MaxHops ends the scan that many links away from the start; 0: nowhere.
	MaxHops int

	// NoExtendedPortInfo leaves out the vendor attribute that tells FDR10
	// from QDR.
	NoExtendedPortInfo bool

	// Progress, where set, is called now and then with what was found so far.
	Progress func(Progress)
}

// Progress is how far a discovery has come.
type Progress struct {
	Nodes    int
	Ports    int
	Answered int // requests that ended, well or not
	Waiting  int // requests queued or in flight
}

// progressEvery is how many requests end between two calls of Progress.
const progressEvery = 256

// Discover scans a subnet over c by directed route: NodeInfo of the start,
// PortInfo of every port of each switch found, NodeInfo through every port
// whose link is up, and so on outward.
//
// A node or port that does not answer costs its own time-out, side by side with
// everything else, and is listed in the result's Failures. Discover returns an
// error where the start itself does not answer, and together with what was
// found so far, where ctx ends or the way out breaks in the middle.
func Discover(ctx context.Context, c *umad.Client, o DiscoverOptions) (*Fabric, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &scan{
		client: c,
		stop:   stop,
		opts:   o,
		fabric: &Fabric{Bounded: o.MaxHops > 0},
		nodes:  map[ib.GUID][]*scanNode{},
	}
	s.askNodeInfo(nil, 0, o.From)
	err := c.Run(ctx)
	for round := 0; err == nil && s.recheck(round); round++ {
		err = c.Run(ctx)
	}
	err = cmp.Or(s.tooMany, err)
	s.linkInvalid()
	switch {
	case s.fabric.Start == nil && err != nil:
		return nil, fmt.Errorf("scan fabric: %w", err)
	case s.fabric.Start == nil:
		return nil, fmt.Errorf("scan fabric: start of the scan: %w", s.fabric.Failures[0].Err)
	case err != nil:
		err = fmt.Errorf("scan fabric: ended early, with %d nodes found: %w", len(s.order), err)
		s.fabric.Aborted = err
	}
	for _, n := range s.order {
		s.fabric.Nodes = append(s.fabric.Nodes, n.Node)
	}
	s.fabric.Stats = c.Stats()
	s.fabric.finish()
	return s.fabric, err
}

// scan is the state of one discovery. It lives in the goroutine that runs the
// client: all of its methods are called from Done functions, one at a time.
type scan struct {
	client *umad.Client
	opts   DiscoverOptions
	fabric *Fabric

	nodes map[ib.GUID][]*scanNode // by GUID; more than one: duplicates
	order []*scanNode             // in order of discovery
	ports int

	sweeps []sweep // switches whose ports are still to be asked for

	suspects []suspect // to be looked at again
	looked   []suspect // being looked at

	invalid []invalidEnd // links to ports that do not exist

	stop    func() // ends the scan early
	tooMany error  // why the scan itself did so

	free              []*ask // requests to be used again
	answered, waiting int
}

// scanNode is a node while it is being scanned.
type scanNode struct {
	*Node
	target umad.Target // how the scan reaches it
	depth  int         // links between it and the start
	probed []bool      // by port number: NodeInfo was asked for through it

	checked []bool // by port number: PortInfo was asked a second time

	ports []Port         // backing of Node.Ports, one allocation a node
	infos []mad.PortInfo // backing of Port.Info
}

// ask is one request of a scan and what its answer is about.
type ask struct {
	req  umad.Request
	scan *scan
	node *scanNode // whose attribute, or behind whose port; nil: the start
	port uint8
	then func(*scan, *ask, *umad.Reply)
}

// submit sends a request; then is called with its answer unless the scan as a
// whole broke off.
func (s *scan) submit(to umad.Target, attr mad.AttrID, modifier uint32, node *scanNode, port uint8, then func(*scan, *ask, *umad.Reply)) {
	var a *ask
	if last := len(s.free) - 1; last >= 0 {
		a, s.free = s.free[last], s.free[:last]
	} else {
		a = &ask{scan: s}
		a.req.Done = a.done
	}
	a.req.To, a.req.Attr, a.req.Modifier = to, attr, modifier
	a.node, a.port, a.then = node, port, then
	s.waiting++
	s.client.Submit(&a.req)
}

func (a *ask) done(_ *umad.Request, r *umad.Reply) {
	s := a.scan
	s.waiting--
	s.answered++
	if errors.Is(r.Err, umad.ErrDeviceRemoved) || errors.Is(r.Err, context.Canceled) || errors.Is(r.Err, context.DeadlineExceeded) {
		s.sweeps = nil // the scan as a whole broke off, and Run says why
	} else {
		a.then(s, a, r)
	}
	s.sweep()
	if s.opts.Progress != nil && s.answered%progressEvery == 0 {
		s.opts.Progress(Progress{Nodes: len(s.order), Ports: s.ports, Answered: s.answered, Waiting: s.waiting})
	}
	s.free = append(s.free, a)
}

// fail keeps what a asked for and did not get.
func (s *scan) fail(a *ask, err error) {
	f := Failure{
		Route:    a.req.To.Route,
		LID:      a.req.To.LID,
		Attr:     a.req.Attr,
		Modifier: a.req.Modifier,
		Err:      err,
	}
	if a.node != nil {
		f.NodeGUID, f.Port = a.node.GUID, a.port
	}
	s.fabric.Failures = append(s.fabric.Failures, f)
}

// decode reads an attribute out of a reply. Where there is none, or it is cut
// short, it keeps the failure and reports false.
func (s *scan) decode(a *ask, r *umad.Reply, attr mad.Attribute) bool {
	err := r.Err
	if err == nil {
		err = mad.Decode(attr, r.MAD.Data())
	}
	if err != nil {
		s.fail(a, err)
		return false
	}
	return true
}
