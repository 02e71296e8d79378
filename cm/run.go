package cm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/ibkit/ibkit/cm/internal/device"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// DefaultPort is the port of ucmatose and cmtime.
const DefaultPort = 7471

// Options are the options of Run.
type Options struct {
	Target   string        // "host:port"
	Local    string        // "host:port" to connect from; "": selected by the kernel
	Count    int           // connections (default 1)
	Parallel int           // connections at a time (default 1)
	Rate     float64       // connections that start per second; 0: no limit
	Timeout  time.Duration // limit of each step (default 10 s)
}

// Schema identifies the JSON object of `ibkit cm`, which schema/cm.json describes.
const Schema = "ibkit/cm/1"

// A Result has the steps of one or more connections. It is the JSON object of the
// command.
type Result struct {
	Schema      string       `json:"schema"`
	Target      string       `json:"target"`
	Address     string       `json:"address"` // IP address and port
	Path        *Path        `json:"path"`    // nil if no connection came that far, or the kernel does not report it
	Connections int          `json:"connections"`
	Established int          `json:"established"`
	Seconds     float64      `json:"seconds"`
	Steps       []StepResult `json:"steps"`
	Failures    []Failure    `json:"failures"`
}

// A Path is the local port and the route to the peer.
type Path struct {
	Device    string `json:"device"`
	Port      uint8  `json:"port"`
	Local     string `json:"local"` // address and port
	LocalGID  ib.GID `json:"local_gid"`
	PeerGID   ib.GID `json:"peer_gid"`
	ServiceID uint64 `json:"service_id"`

	// Of the route, nil if the kernel has none.
	MTU  *int    `json:"mtu"` // bytes
	SL   *uint8  `json:"sl"`
	PKey *uint16 `json:"pkey"`
	DLID *ib.LID `json:"dlid"` // nil on RoCE
}

// A Failure is a kind of failed connections.
type Failure struct {
	Step        rdmacm.Step `json:"step"`
	Cause       Cause       `json:"cause"`
	Error       string      `json:"error"` // of the first one
	Count       int         `json:"count"`
	PrivateData []byte      `json:"private_data"` // of the first rejection, without trailing zeros
}

// Run connects to the target and disconnects, as often as the options demand. Failed
// connections are part of the result. An error means that it could not connect at
// all: the name is unknown, or the connection manager is not accessible.
func Run(ctx context.Context, o Options) (*Result, error) {
	peer, err := rdmacm.ResolveAddr(ctx, o.Target)
	if err != nil {
		return nil, err
	}
	r := &runner{
		peer:   peer,
		dialer: rdmacm.Dialer{Timeouts: rdmacm.Timeouts{Address: o.Timeout, Route: o.Timeout, Connect: o.Timeout, Establish: o.Timeout, Disconnect: o.Timeout}},
		result: Result{Schema: Schema, Target: o.Target, Address: peer.String(), Failures: []Failure{}},
		steps:  make([]recorder, len(rdmacm.Steps())),
	}
	if o.Local != "" {
		local, err := rdmacm.ResolveAddr(ctx, o.Local)
		if err != nil {
			return nil, err
		}
		r.dialer.Local = local
	}
	began := time.Now()
	err = r.run(ctx, cmp.Or(o.Count, 1), cmp.Or(o.Parallel, 1), o.Rate)
	r.result.Seconds = time.Since(began).Seconds()
	if err = errors.Join(err, r.devices.Close()); err != nil {
		return nil, err
	}
	for i, step := range rdmacm.Steps() {
		r.result.Steps = append(r.result.Steps, r.steps[i].result(step))
	}
	return &r.result, nil
}

// A runner makes the connections of a run.
type runner struct {
	peer    rdmacm.IPAddr
	dialer  rdmacm.Dialer
	devices device.Set
	path    sync.Once // of the first connection with a queue pair

	lock   sync.Mutex // protects the fields below
	result Result
	steps  []recorder
}

// run makes count connections. It ends early with the first error that is not of a
// step, and with ctx.
func (r *runner) run(ctx context.Context, count, parallel int, rate float64) error {
	stopped, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	turns := make(chan struct{})
	var workers sync.WaitGroup
	for range min(parallel, count) {
		workers.Go(func() {
			for range turns {
				if err := r.connect(stopped); err != nil {
					stop(err)
					return
				}
			}
		})
	}
	began := time.Now()
	for i := range count {
		if rate > 0 {
			wait(stopped, time.Until(began.Add(time.Duration(float64(i)/rate*float64(time.Second)))))
		}
		select {
		case turns <- struct{}{}:
			continue
		case <-stopped.Done():
		}
		break
	}
	close(turns)
	workers.Wait()
	if ctx.Err() != nil {
		return nil // the result has the connections so far
	}
	return context.Cause(stopped)
}

// wait waits for a time or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// connect makes one connection and records its steps.
func (r *runner) connect(ctx context.Context) error {
	d := r.dialer
	var (
		qp   *verbs.QP
		id   *rdmacm.ID
		name string
	)
	d.Setup = func(_ context.Context, of *rdmacm.ID) (_ *verbs.QP, err error) {
		id = of
		qp, name, err = r.devices.NewQP(id)
		return qp, err
	}
	d.Trace = func(s rdmacm.Step, t time.Duration) {
		r.lock.Lock()
		r.steps[s].add(t)
		r.lock.Unlock()
		if s == rdmacm.StepSetup {
			r.path.Do(func() { r.result.Path = pathOf(id, name) }) // between two steps, which its queries do not prolong
		}
	}
	conn, err := d.DialAddr(ctx, r.peer)
	established := err == nil
	if conn != nil {
		err = conn.Disconnect(ctx)
		err = errors.Join(err, conn.Close())
	}
	if qp != nil {
		err = errors.Join(err, qp.Close())
	}
	return r.record(ctx, established, err)
}

// record counts a connection. It returns an error that is not of a step.
func (r *runner) record(ctx context.Context, established bool, err error) error {
	if ctx.Err() != nil && !established {
		return nil // interrupted
	}
	failed, ok := errors.AsType[*rdmacm.StepError](err)
	if err != nil && !ok {
		return err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.result.Connections++
	if established {
		r.result.Established++
	}
	if failed != nil {
		r.steps[failed.Step].failed++
		r.fail(failed)
	}
	return nil
}

// fail adds a failure to those of its kind. The caller holds the lock.
func (r *runner) fail(e *rdmacm.StepError) {
	cause := causeOf(e)
	all := r.result.Failures
	i := slices.IndexFunc(all, func(f Failure) bool { return f.Step == e.Step && f.Cause == cause })
	if i < 0 {
		i = len(all)
		f := Failure{Step: e.Step, Cause: cause, Error: e.Error()}
		if rejected, ok := errors.AsType[*rdmacm.RejectError](e); ok {
			f.PrivateData = trimZeros(rejected.PrivateData)
		}
		all = append(all, f)
	}
	all[i].Count++
	r.result.Failures = all
}

// trimZeros removes the zeros that fill up private data. It returns nil if nothing is
// left.
func trimZeros(b []byte) []byte {
	if b = bytes.TrimRight(b, "\x00"); len(b) == 0 {
		return nil
	}
	return b
}

// pathOf queries the path of a connection. It returns nil if the kernel does not report
// it: the connection does not depend on it.
func pathOf(id *rdmacm.ID, name string) *Path {
	a, errAddresses := id.Addresses()
	gids, errGIDs := id.GIDs()
	routes, errRoutes := id.Routes()
	if errors.Join(errAddresses, errGIDs, errRoutes) != nil {
		return nil
	}
	p := &Path{Device: name, Port: a.Port, Local: a.Local.String()}
	if local, ok := gids.Local.(rdmacm.IBAddr); ok {
		p.LocalGID = local.GID
	}
	if peer, ok := gids.Peer.(rdmacm.IBAddr); ok {
		p.PeerGID, p.ServiceID = peer.GID, peer.ServiceID
	}
	if len(routes) > 0 {
		first := routes[0]
		p.MTU, p.SL, p.PKey = new(first.MTU.Bytes()), &first.SL, &first.PKey
		if first.DLID != 0 {
			p.DLID = &first.DLID
		}
	}
	return p
}
