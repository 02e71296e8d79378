package cm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/event"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
)

// DefaultPort is the port used by ucmatose and cmtime.
const DefaultPort = 7471

// Options are the options for Run.
type Options struct {
	Target   string        // "host:port"
	Local    string        // "host:port" to connect from; "": selected by the kernel
	Count    int           // connections (default 1)
	Parallel int           // connections at a time (default 1)
	Rate     float64       // connections that start per second; 0: no limit
	Timeout  time.Duration // limit for each step (default 10 s)
}

// Schema identifies the JSON object from `ibkit cm`, which schema/cm.json describes.
const Schema = "ibkit/cm/2"

// A Result has the steps for at least one connection. It is the command's JSON object.
type Result struct {
	report.Head
	Target      string       `json:"target"`
	Address     string       `json:"address"` // IP address and port
	Path        *Path        `json:"path"`    // nil if no connection came that far, or the kernel does not report it
	Connections int          `json:"connections"`
	Established int          `json:"established"`
	Seconds     float64      `json:"seconds"`
	Steps       []StepResult `json:"steps"`
	Failed      []FailedStep `json:"failed"`
}

// A Path is the local port and the route to the peer.
type Path struct {
	Device    string `json:"device"`
	Port      uint8  `json:"port"`
	Local     string `json:"local"` // address and port
	LocalGID  ib.GID `json:"local_gid"`
	PeerGID   ib.GID `json:"peer_gid"`
	ServiceID uint64 `json:"service_id"`

	// For the route, nil if the kernel has none.
	MTU  *int    `json:"mtu"` // bytes
	SL   *uint8  `json:"sl"`
	PKey *uint16 `json:"pkey"`
	DLID *ib.LID `json:"dlid"` // nil on RoCE
}

// A FailedStep is a step in which connections failed, and the cause.
type FailedStep struct {
	Step        rdmacm.Step `json:"step"`
	Cause       Cause       `json:"cause"`
	Error       string      `json:"error"` // for the first failed connection
	Count       int         `json:"count"`
	PrivateData []byte      `json:"private_data"` // from the first rejection, without trailing zeros
}

// Run connects to the target and disconnects, as often as the options demand. The
// result includes failed connections. An error means that it could not connect at all:
// the name is unknown, or the connection manager is not accessible.
func Run(ctx context.Context, o Options) (*Result, error) {
	began := time.Now()
	peer, err := rdmacm.ResolveAddr(ctx, o.Target)
	if err != nil {
		return nil, err
	}
	r := &runner{
		peer:    peer,
		timeout: cmp.Or(o.Timeout, defaultTimeout),
		result:  Result{Head: report.NewHead(Schema, began), Target: o.Target, Address: peer.String(), Failed: []FailedStep{}},
		steps:   make([]recorder, len(rdmacm.Steps())),
	}
	if o.Local != "" {
		local, err := rdmacm.ResolveAddr(ctx, o.Local)
		if err != nil {
			return nil, err
		}
		r.local = local
	}
	began = time.Now()
	err = r.run(ctx, cmp.Or(o.Count, 1), cmp.Or(o.Parallel, 1), o.Rate)
	r.result.Seconds = time.Since(began).Seconds()
	if err = errors.Join(err, r.devices.Close()); err != nil {
		return nil, err
	}
	for i, step := range rdmacm.Steps() {
		r.result.Steps = append(r.result.Steps, r.steps[i].result(step))
	}
	for _, f := range r.result.Failed {
		r.result.Add(report.New(report.FailedConnection, o.Target, fmt.Sprintf("%d × %s", f.Count, f.Error)))
	}
	return &r.result, nil
}

// A runner makes a run's connections. A single goroutine does all its work, which waits
// for events in a system call: a goroutine for each connection would spend more time on
// waking others than on the connection.
type runner struct {
	peer    rdmacm.IPAddr
	local   rdmacm.Addr // nil: selected by the kernel
	timeout time.Duration
	channel *rdmacm.Channel
	batch   event.Batch
	devices device.Set
	base    time.Time // for all times
	result  Result
	steps   []recorder

	active map[*rdmacm.ID]*attempt
	limits []limit // in time order, since all steps have the same timeout
}

// An attempt is a connection in progress.
type attempt struct {
	id          *rdmacm.ID
	qp          *verbs.QP
	step        rdmacm.Step
	began       time.Duration // of the step
	established bool
	err         error // from the step; an event will name its reason
}

// A limit is a step's deadline.
type limit struct {
	of   *attempt
	step rdmacm.Step
	at   time.Duration
}

// defaultTimeout is the step limit unless given. The kernel repeats a request after
// about 4 s for the first time.
const defaultTimeout = 10 * time.Second

// now returns the time since the base. It reads a single clock; time.Now reads two.
func (r *runner) now() time.Duration { return time.Since(r.base) }

// run makes count connections. It ends early with the first error that is not from a
// step, and with ctx.
func (r *runner) run(ctx context.Context, count, parallel int, rate float64) (err error) {
	if r.channel, err = rdmacm.NewChannel(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.base, r.active = time.Now(), map[*rdmacm.ID]*attempt{}
	begun := 0
	// nextStart returns the time at which the next connection begins, if a connection may
	// begin.
	nextStart := func() (at time.Duration, ok bool) {
		if begun == count || len(r.active) >= parallel {
			return 0, false
		}
		if rate > 0 {
			at = time.Duration(float64(begun) / rate * float64(time.Second))
		}
		return at, true
	}
	w := waiter{ctx: ctx, base: r.base}
	defer w.stop()
	for begun < count || len(r.active) > 0 {
		if ctx.Err() != nil {
			return nil // the result has the connections so far
		}
		at, ok := nextStart()
		for ok && at <= r.now() {
			begun++
			if err := r.begin(); err != nil {
				return err
			}
			at, ok = nextStart()
		}
		if len(r.active) == 0 && !ok {
			continue
		}
		if err := r.next(w.until(r.deadline(at, ok))); err != nil {
			return err
		}
	}
	return nil
}

// deadline returns the time when work is next due without an event: a connection start,
// if any, or a step's deadline.
func (r *runner) deadline(begin time.Duration, begins bool) time.Duration {
	for len(r.limits) > 0 && r.limits[0].over() {
		r.limits = r.limits[1:]
	}
	switch {
	case len(r.limits) == 0:
		return begin
	case begins:
		return min(begin, r.limits[0].at)
	}
	return r.limits[0].at
}

// over reports whether the step has ended.
func (l limit) over() bool { return l.of.id == nil || l.of.step != l.step }

// A waiter has a context with a deadline, which it replaces when the deadline has passed
// and not before: a new context for each event would take as long as the event.
type waiter struct {
	ctx     context.Context
	base    time.Time
	limited context.Context
	at      time.Duration
	cancel  context.CancelFunc
}

// until returns a context that ends at a time since the base, or earlier.
func (w *waiter) until(at time.Duration) context.Context {
	if w.limited == nil || at < w.at || w.limited.Err() != nil {
		w.stop()
		w.limited, w.cancel = context.WithDeadline(w.ctx, w.base.Add(at))
		w.at = at
	}
	return w.limited
}

func (w *waiter) stop() {
	if w.cancel != nil {
		w.cancel()
	}
}

// close ends the connections in progress. Established connections count.
func (r *runner) close() error {
	var errs []error
	for _, a := range r.active {
		if a.established {
			r.result.Connections++
			r.result.Established++
		}
		errs = append(errs, r.free(a))
	}
	return errors.Join(append(errs, r.channel.Close())...)
}

// free destroys a connection's objects.
func (r *runner) free(a *attempt) error {
	delete(r.active, a.id)
	err := a.id.Close()
	a.id = nil
	if a.qp != nil {
		err = errors.Join(err, a.qp.Close())
	}
	return err
}

// begin begins a connection.
func (r *runner) begin() error {
	id, err := r.channel.NewID(rdmacm.PortSpaceTCP, verbs.QPTypeRC)
	if err != nil {
		return err
	}
	a := &attempt{id: id}
	r.active[id] = a
	return r.start(a, rdmacm.StepAddress, r.now(), func() error { return r.resolve(id) })
}

// resolve begins to resolve the peer's address.
func (r *runner) resolve(id *rdmacm.ID) error {
	return id.ResolveAddr(r.local, r.peer, min(rdmacm.AddressAttempt, r.timeout))
}

// start begins a step that an event completes.
func (r *runner) start(a *attempt, step rdmacm.Step, now time.Duration, f func() error) error {
	a.step, a.began = step, now
	return r.await(a, now, f())
}

// await waits for a step's event after its command, unless that has failed. If the
// command failed because the peer has given up, an event will name the reason.
func (r *runner) await(a *attempt, now time.Duration, err error) error {
	if err != nil && !peerGone(err) {
		return r.fail(a, err)
	}
	a.err = err
	r.limits = append(r.limits, limit{a, a.step, now + r.timeout})
	return nil
}

// peerGone reports whether the connection manager has rejected a command in the ID's
// state, which the peer has changed.
func peerGone(err error) bool {
	call, ok := errors.AsType[*rdmacm.CallError](err)
	return ok && errors.Is(call.Err, unix.EINVAL)
}

// next handles the next event, or the steps past their deadline.
func (r *runner) next(ctx context.Context) error {
	switch err := r.batch.Wait(ctx, r.channel); {
	case err == nil:
		return r.batch.Handle(r.dispatch)
	case ctx.Err() == nil:
		return err
	}
	for now := r.now(); len(r.limits) > 0 && r.limits[0].at <= now; {
		l := r.limits[0]
		r.limits = r.limits[1:]
		if l.over() {
			continue
		}
		if err := r.fail(l.of, cmp.Or[error](l.of.err, &rdmacm.TimeoutError{After: r.timeout})); err != nil {
			return err
		}
	}
	return nil
}

// dispatch handles an event, unless its connection has ended.
func (r *runner) dispatch(e rdmacm.Event) error {
	if a := r.active[e.ID]; a != nil {
		return r.handle(a, e)
	}
	return nil
}

// handle handles a connection event.
func (r *runner) handle(a *attempt, e rdmacm.Event) error {
	wanted := func(step rdmacm.Step, kind rdmacm.EventType) bool {
		return a.step == step && e.Type == kind && e.Status == 0
	}
	switch {
	case wanted(rdmacm.StepAddress, rdmacm.EventAddrResolved):
		return r.start(a, rdmacm.StepRoute, r.done(a), func() error { return a.id.ResolveRoute(r.timeout) })
	case wanted(rdmacm.StepRoute, rdmacm.EventRouteResolved):
		return r.connect(a)
	case wanted(rdmacm.StepConnect, rdmacm.EventConnectResponse), wanted(rdmacm.StepConnect, rdmacm.EventEstablished):
		return r.establish(a, e.Type == rdmacm.EventConnectResponse)
	case wanted(rdmacm.StepDisconnect, rdmacm.EventDisconnected):
		r.done(a)
		return r.succeed(a)
	}
	err := e.Err()
	if a.step == rdmacm.StepAddress && rdmacm.IsAddressTimeout(err) {
		err = r.resolve(a.id) // until the step's limit
	}
	if err != nil {
		return r.fail(a, err)
	}
	return nil
}

// done completes a connection's step and returns the time.
func (r *runner) done(a *attempt) time.Duration {
	now := r.now()
	r.steps[a.step].add(now - a.began)
	return now
}

// connect creates the queue pair and sends the request.
func (r *runner) connect(a *attempt) error {
	a.step, a.began = rdmacm.StepSetup, r.done(a)
	qp, name, err := r.devices.NewQP(a.id)
	if err == nil {
		a.qp = qp
		if qp.IWARP() { // otherwise ReadyQP does it, as there are no receives to post
			err = a.id.InitQP(qp)
		}
	}
	if err != nil {
		return r.fail(a, err)
	}
	now := r.done(a)
	if r.result.Path == nil {
		r.result.Path = pathOf(a.id, name) // between two steps, which its queries do not prolong
		now = r.now()
	}
	p := rdmacm.DefaultParam
	p.QPN = qp.Number()
	return r.start(a, rdmacm.StepConnect, now, func() error { return a.id.Connect(r.peer, p) })
}

// establish completes a connection after the reply, and ends it. On iWARP the reply
// needs no confirmation.
func (r *runner) establish(a *attempt, confirm bool) error {
	a.step, a.began = rdmacm.StepEstablish, r.done(a)
	err := a.id.ReadyQP(a.qp, nil)
	switch {
	case peerGone(err):
	case err != nil && confirm:
		err = errors.Join(err, a.id.Reject(nil))
	case err == nil && confirm:
		err = a.id.Establish()
	}
	if err != nil {
		return r.await(a, a.began, err)
	}
	a.established = true
	return r.start(a, rdmacm.StepDisconnect, r.done(a), func() error { return hangUp(a.id, a.qp) })
}

// hangUp sends the request to disconnect, or the reply to the peer's request. On iWARP,
// the queue pair drains before.
func hangUp(id *rdmacm.ID, qp *verbs.QP) error {
	if qp.IWARP() && qp.State() == verbs.QPStateRTS {
		if err := qp.Modify(verbs.QPStateSQD, verbs.QPAttr{}); err != nil {
			return err
		}
	}
	return id.Disconnect()
}

// succeed counts a connection.
func (r *runner) succeed(a *attempt) error {
	r.result.Connections++
	r.result.Established++
	return r.free(a)
}

// fail counts a connection with a failed step. After a connection has started, the peer
// may end it first.
func (r *runner) fail(a *attempt, err error) error {
	if ended, ok := errors.AsType[*rdmacm.EventError](err); ok && a.established && ended.Type == rdmacm.EventDisconnected {
		return r.succeed(a)
	}
	r.result.Connections++
	if a.established {
		r.result.Established++
	}
	r.steps[a.step].failed++
	r.count(&rdmacm.StepError{Step: a.step, Peer: r.peer, Err: err})
	_ = r.free(a) // a removed device's objects are gone
	return nil
}

// count adds a failure to the failures with its kind.
func (r *runner) count(e *rdmacm.StepError) {
	cause := causeOf(e)
	all := r.result.Failed
	i := slices.IndexFunc(all, func(f FailedStep) bool { return f.Step == e.Step && f.Cause == cause })
	if i < 0 {
		i = len(all)
		f := FailedStep{Step: e.Step, Cause: cause, Error: e.Error()}
		if rejected, ok := errors.AsType[*rdmacm.RejectError](e); ok {
			f.PrivateData = trimZeros(rejected.PrivateData)
		}
		all = append(all, f)
	}
	all[i].Count++
	r.result.Failed = all
}

// trimZeros removes the zeros that fill up private data. It returns nil if nothing is
// left.
func trimZeros(b []byte) []byte {
	if b = bytes.TrimRight(b, "\x00"); len(b) == 0 {
		return nil
	}
	return b
}

// pathOf queries a connection's path. It returns nil if the kernel does not report it:
// the connection does not depend on it.
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
