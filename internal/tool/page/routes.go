package page

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/umad"
)

// Limits for reads of forwarding tables.
const (
	maxWaiting = 8           // requests that wait for a read, or read
	maxKept    = 64          // results that are kept until the next sweep
	readPause  = time.Second // between two reads
)

// errBusy is the error above the limits.
var errBusy = errors.New("too many requests for paths: repeat it later")

// routes read the paths between two ports, a pair at a time, and keep the results until the
// next sweep.
type routes struct {
	waiting chan bool // has an element for each request
	reading chan bool // has an element during a read and the pause after it

	mu   sync.Mutex
	kept map[[2]string]*top.Report

	tables atomic.Pointer[tables] // nil: never read
}

func newRoutes() *routes {
	return &routes{waiting: make(chan bool, maxWaiting), reading: make(chan bool, 1)}
}

// reset forgets the results.
func (r *routes) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = nil
}

// find returns a result that was kept.
func (r *routes) find(ends [2]string) *top.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept[ends]
}

// keep keeps a result.
func (r *routes) keep(ends [2]string, result *top.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || len(r.kept) >= maxKept {
		r.kept = map[[2]string]*top.Report{}
	}
	r.kept[ends] = result
}

// begin waits until a read may begin, and returns a function that ends it.
func (r *routes) begin(ctx context.Context) (end func(), err error) {
	select {
	case r.waiting <- true:
	default:
		return nil, errBusy
	}
	select {
	case r.reading <- true:
		return func() {
			<-r.waiting
			time.AfterFunc(readPause, func() { <-r.reading })
		}, nil
	case <-ctx.Done():
		<-r.waiting
		return nil, ctx.Err()
	}
}

// paths returns the paths between two ports of the last sweep in both directions.
func (p *Page) paths(ctx context.Context, s *state, ends [2]string) (*top.Report, error) {
	var ports [2]*fabric.Port
	for i, text := range ends {
		if ports[i] = s.endPort(text); ports[i] == nil {
			return nil, fmt.Errorf("%w: %q", errNotFound, text)
		}
	}
	if found := p.routes.find(ends); found != nil {
		return found, nil
	}
	end, err := p.routes.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	var found *top.Paths
	err = p.opts.Visit(ctx, func(ctx context.Context, c *umad.Client) (err error) {
		found, err = top.Follow(ctx, c, s.sweep.Result.Fabric, func(r *route.Routing) (route.Pair, error) { return pairOf(r, ports), nil })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read forwarding tables: %w", err)
	}
	result := query{}.monitor(s.sample).ReportPath(found, s.sample.Names)
	if p.state.Load() == s {
		p.routes.keep(ends, result)
	}
	return result, nil
}

// pairOf returns the ports of a routing for two ports of its fabric.
func pairOf(r *route.Routing, ends [2]*fabric.Port) route.Pair {
	port := func(p *fabric.Port) *route.Port { return &r.NodeByGUID(p.Node.GUID).Ports[p.Number] }
	return route.Pair{From: port(ends[0]), To: port(ends[1]), FromLID: ends[0].LID(), ToLID: ends[1].LID()}
}

// endPort returns the port that a text names, by a node's name or GUID and perhaps a port
// number as in "node01[1]": without a number a node's first port with a LID. nil: there is
// no such port.
func (s *state) endPort(text string) *fabric.Port {
	if n := s.nodeOf(text); n != nil {
		for _, p := range n.Ports {
			if p != nil && p.LID() != 0 {
				return p
			}
		}
		return nil
	}
	name, number, ok := fabric.CutPort(text)
	n := s.nodeOf(name)
	if !ok || n == nil || number >= len(n.Ports) || n.IsSwitch() && number != 0 {
		return nil
	}
	if p := n.Ports[number]; p != nil && p.LID() != 0 {
		return p
	}
	return nil
}

// nodeOf returns the first node with a name or a GUID.
func (s *state) nodeOf(text string) *fabric.Node {
	guid, err := ib.ParseGUID(text)
	for i := range s.sample.Nodes {
		if n := &s.sample.Nodes[i]; n.Name == text || err == nil && n.GUID == guid {
			return n.Node
		}
	}
	return nil
}
