package peers

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/internal/tool/cm/internal/event"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// Options are a peer's settings.
type Options struct {
	Local      rdmacm.Addr // nil: any, for a connecting peer
	Controller string      // address of the TCP connections
	Peers      int         // of the test
	Listens    bool        // otherwise the peer connects to all listening peers

	// Server, if valid, selects the protocol of releases 52 to 58: this listening peer and a
	// connecting peer, without a controller. Its TCP and RDMA ports have the same number.
	Server netip.AddrPort

	Count   int // connections for each pair of a connecting and a listening peer
	Threads int
	Timeout time.Duration // for address and route
	Retries int           // for these steps

	// Simulated replaces queue pairs by numbers from BaseQPN on, and each of their calls by
	// Delay.
	Simulated bool
	Delay     time.Duration
	BaseQPN   uint32

	Print func(format string, args ...any)
	Show  func(r Round)
}

// A Round is the times of a measured round.
type Round struct {
	QueuePairs bool // otherwise simulated
	Count      int
	Threads    int
	Times      []Times
}

// Run runs a peer's side of a test: a round to warm up, a measured round, and with two peers
// another without queue pairs.
func Run(ctx context.Context, o Options) (err error) {
	channel, err := rdmacm.NewChannel()
	if err != nil {
		return err
	}
	r := &run{Options: o, channel: channel}
	defer func() { err = errors.Join(err, r.close()) }()
	own := participant{Listens: o.Listens}
	if o.Listens {
		if own.Addr, err = r.listen(); err != nil {
			return err
		}
	}
	all, err := r.meet(ctx, own)
	if err != nil {
		return failed("synchronize with the peers", err)
	}
	defer context.AfterFunc(ctx, func() { _ = r.group.close() })()
	for _, p := range all {
		if p.Listens {
			r.listeners = append(r.listeners, p.Addr)
		}
	}
	switch others := len(r.listeners); {
	case others == o.Peers:
		return &exchange.Error{Op: "cannot have all listeners", Code: 1}
	case others == 0:
		return &exchange.Error{Op: "need at least 1 listener", Code: 1}
	}
	return r.rounds(ctx)
}

// meet connects to the other peers and returns all peers.
func (r *run) meet(ctx context.Context, own participant) (all []participant, err error) {
	if r.Server.IsValid() {
		if r.Listens {
			r.group, err = lead(ctx, r.Server.String(), r.Peers, func() {})
		} else {
			r.group, err = follow(ctx, r.Server.String())
		}
		return []participant{{Listens: true, Addr: r.Server}, {}}, err
	}
	if r.group, err = join(ctx, r.Controller, r.Peers, func() { r.Print("Running as OOB root\n") }); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = r.group.close() })()
	return r.group.exchange(own, r.Peers)
}

// prepared waits until all peers are ready to connect.
func (r *run) prepared() error {
	if r.Server.IsValid() { // a server accepts connections at once
		return nil
	}
	return r.group.sync(StepInit)
}

func failed(op string, err error) error { return &exchange.Error{Op: op, Err: err, Code: 1} }

// A run is a peer's side of a test in progress.
type run struct {
	Options
	channel   *rdmacm.Channel
	batch     event.Batch
	devices   device.Set
	group     *group
	listener  *rdmacm.ID
	listeners []netip.AddrPort
	allocated sync.Once
	nextQPN   atomic.Uint32 // 0: queue pairs

	conns []*conn
	whole [stepCount]span
	lock  sync.Mutex // protects failure
	fail  error
	byID  map[*rdmacm.ID]*conn
}

// A conn is a connection.
type conn struct {
	id      *rdmacm.ID
	peer    netip.AddrPort
	qp      *verbs.QP
	qpn     uint32
	retries int
	ended   bool
	spans   [stepCount]span
}

func (r *run) close() error {
	var err error
	if r.group != nil {
		_ = r.group.close() // the peers may have closed it
	}
	return errors.Join(err, r.channel.Close(), r.devices.Close())
}

// listen listens at a free port.
func (r *run) listen() (at netip.AddrPort, err error) {
	if r.listener, err = r.channel.NewID(rdmacm.PortSpaceTCP, verbs.QPTypeRC); err != nil {
		return at, failed("rdma_create_id", err)
	}
	if err := r.listener.Bind(r.Local); err != nil {
		return at, failed("rdma_bind_addr", err)
	}
	if err := r.listener.Listen(0); err != nil {
		return at, failed("rdma_listen", err)
	}
	a, err := r.listener.Addresses()
	if err != nil {
		return at, failed("rdma_listen", err)
	}
	ip, ok := a.Local.(rdmacm.IPAddr)
	if !ok {
		return at, failed("rdma_listen", fmt.Errorf("the address %v is no IP address", a.Local))
	}
	return ip.AddrPort, nil
}

// rounds runs all rounds.
func (r *run) rounds(ctx context.Context) error {
	round, warmUp, verb := r.connect, len(r.listeners), "Connect"
	title := "Client"
	if r.Listens {
		round, warmUp, verb, title = r.accept, r.Peers-len(r.listeners), "Accept", "Server"
	}
	count := r.Count * warmUp
	r.Print("%s warmup\n", title)
	if err := round(ctx, warmUp); err != nil {
		return err
	}
	if r.Simulated {
		r.Print("%s (%d) simulated QPs test (delay %d us)\n", verb, count, r.Delay.Microseconds())
		r.simulate()
	} else {
		r.Print("%s (%d) QPs test\n", verb, count)
	}
	if err := round(ctx, count); err != nil {
		return err
	}
	r.show()
	if r.Peers > 2 {
		return nil
	}
	r.Print("%s (%d) test - no QPs\n", verb, count)
	r.simulate()
	r.Delay = 0
	if err := round(ctx, count); err != nil {
		return err
	}
	r.show()
	return nil
}

// simulate replaces queue pairs by numbers. A number is used once: the connection manager
// rejects a second connection for a while.
func (r *run) simulate() { r.nextQPN.CompareAndSwap(0, r.BaseQPN) }

func (r *run) show() {
	r.Show(Round{QueuePairs: r.nextQPN.Load() == 0, Count: len(r.conns), Threads: r.Threads, Times: summarize(r.whole, r.conns)})
}

// reset begins a round.
func (r *run) reset(count int) error {
	r.conns, r.byID, r.whole = make([]*conn, count), make(map[*rdmacm.ID]*conn, count), [stepCount]span{}
	for i := range r.conns {
		r.conns[i] = &conn{retries: r.Retries}
		if !r.Listens {
			r.conns[i].peer = r.listeners[i%len(r.listeners)]
		}
	}
	return r.group.sync(0)
}

// begin and end measure a step of all connections.
func (r *run) begin(s Step) { r.whole[s].begin = time.Now() }
func (r *run) end(s Step)   { r.whole[s].end = time.Now() }

// do measures a step of a connection.
func (c *conn) do(s Step, f func() error) error {
	c.spans[s].begin = time.Now()
	err := f()
	c.spans[s].end = time.Now()
	return err
}

// each runs a step for all connections, in several threads, until one fails.
func (r *run) each(f func(*conn) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	for range max(1, r.Threads) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(r.conns)) && r.failure() == nil; i = next.Add(1) - 1 {
				if err := f(r.conns[i]); err != nil {
					r.setFailure(err)
				}
			}
		})
	}
	all.Wait()
	return r.failure()
}

func (r *run) failure() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.fail
}

func (r *run) setFailure(err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.fail == nil {
		r.fail = err
	}
}

// createQP creates the queue pair, or waits in its place.
func (r *run) createQP(c *conn) error {
	r.allocated.Do(func() { r.Print("\tAllocating verbs resources\n") })
	return c.do(StepCreateQP, func() (err error) {
		if qpn := r.nextQPN.Load(); qpn != 0 {
			time.Sleep(r.Delay)
			return nil
		}
		if c.qp, _, err = r.devices.NewQP(c.id); err != nil {
			return failed("ibv_create_qp", err)
		}
		return nil
	})
}

// modify changes the queue pair's state, or waits in its place. On iWARP the kernel changes it
// with the connection.
func (r *run) modify(c *conn, state verbs.QPState, attrStep Step) error {
	if c.qp != nil && c.qp.IWARP() && state != verbs.QPStateInit {
		return nil
	}
	var attr verbs.QPAttr
	err := c.do(attrStep, func() (err error) {
		attr, err = c.id.InitQPAttr(state)
		return err
	})
	if err != nil {
		return failed("rdma_init_qp_attr", err)
	}
	err = c.do(attrStep+1, func() error {
		if c.qp == nil {
			time.Sleep(r.Delay)
			return nil
		}
		return c.qp.Modify(state, attr)
	})
	if err != nil {
		return failed("ibv_modify_qp", err)
	}
	return nil
}

// param returns the parameters of a request or a reply.
func (r *run) param(c *conn) rdmacm.ConnParam {
	if c.qpn = r.nextQPN.Load(); c.qp != nil {
		c.qpn = c.qp.Number()
	} else {
		c.qpn = r.nextQPN.Add(1) - 1
	}
	return rdmacm.ConnParam{QPN: c.qpn, ResponderResources: 1, InitiatorDepth: 1}
}

// destroy ends a round.
func (r *run) destroy(print bool) error {
	say := func(text string) {
		if print {
			r.Print("%s", text)
		}
	}
	say("\tDestroying QPs\n")
	r.begin(StepDestroyQP)
	for _, c := range r.conns {
		if err := c.do(StepDestroyQP, func() error {
			if c.qp == nil {
				return nil
			}
			return c.qp.Close()
		}); err != nil {
			return failed("ibv_destroy_qp", err)
		}
	}
	r.end(StepDestroyQP)
	say("\tDestroying IDs\n")
	r.begin(StepDestroy)
	for _, c := range r.conns {
		if c.id != nil {
			_ = c.do(StepDestroy, c.id.Close) // the connection has ended
		}
	}
	r.end(StepDestroy)
	return nil
}

// events handles events until done returns true.
func (r *run) events(ctx context.Context, done func() bool, handle func(rdmacm.Event) error) error {
	for !done() {
		if err := r.failure(); err != nil {
			return err
		}
		if err := r.batch.Wait(ctx, r.channel); err != nil {
			return failed("rdma_get_cm_event", err)
		}
		if err := r.batch.Handle(handle); err != nil {
			return err
		}
	}
	return r.failure()
}
