package ping

import (
	"bytes"
	"context"
	"errors"
	"math"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options say how to ping.
type Options struct {
	Via      Via
	OUI      uint32        // of ViaVendor
	Count    int           // probes to each target; negative: until the context ends
	Interval time.Duration // from one probe to a target to the next; 0: as soon as the reply is in

	// Done, where set, is called for each probe that ended. What it is given
	// is valid until it returns.
	Done func(*Probe)
}

// A Probe is one request and how it ended.
type Probe struct {
	Target *Target
	Seq    int // counted from 0, for each target
	RTT    time.Duration
	Host   []byte // what a ping server calls itself
	Node   uint64 // GUID of the node, of ViaSMA
	Err    error  // nil: a good reply
}

// ErrCorrupted is a reply of a vendor that was not asked.
var ErrCorrupted = errors.New("reply has another OUI")

// A Target is what is pinged.
type Target struct {
	To    umad.Target
	Name  string // for people
	Stats Stats
}

// A Result is the account of a run.
type Result struct {
	Targets []*Target
	Total   Stats
	Took    time.Duration
}

// digits of a target's round trips: 1 % takes a tenth of the memory of 0.1 %,
// which counts where there are thousands of targets.
const (
	targetDigits = 2
	totalDigits  = 3
)

// Run pings targets over c, one probe in flight to each, until Count probes to
// each have ended or ctx has: the result is there in either case. An error is
// the port's.
func Run(ctx context.Context, c *umad.Client, targets []*Target, o Options) (*Result, error) {
	p := &pinger{client: c, o: o, result: &Result{Targets: targets, Total: newStats(totalDigits)}}
	if o.Count < 0 {
		p.o.Count = math.MaxInt
	}
	p.ctx = ctx
	probers := make([]prober, len(targets))
	for i, t := range targets {
		t.Stats = newStats(targetDigits)
		probers[i] = prober{pinger: p, target: t, request: umad.Request{To: t.To}}
		o.Via.request(&probers[i].request, o.OUI)
		probers[i].request.Done = probers[i].done
	}
	start := time.Now()
	err := p.run(ctx, probers, start)
	p.result.Took = time.Since(start)
	if ctx.Err() != nil {
		err = nil
	}
	return p.result, err
}

type pinger struct {
	ctx    context.Context
	client *umad.Client
	o      Options
	result *Result
	probe  Probe
}

// run sends a round, and with an interval the next ones when they are due: in
// between the replies of a round are waited for.
func (p *pinger) run(ctx context.Context, probers []prober, start time.Time) error {
	rounds := p.o.Count
	if p.o.Interval <= 0 {
		rounds = min(rounds, 1)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for round := range rounds {
		timer.Reset(time.Until(start.Add(time.Duration(round) * p.o.Interval)))
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		for i := range probers {
			probers[i].submit()
		}
		if err := p.client.Run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prober has the one probe to a target that is in flight.
type prober struct {
	pinger  *pinger
	target  *Target
	request umad.Request
}

func (b *prober) submit() {
	b.target.Stats.Sent++
	b.pinger.result.Total.Sent++
	b.pinger.client.Submit(&b.request)
}

// done takes in how a probe ended and, in a flood, sends the next.
func (b *prober) done(_ *umad.Request, r *umad.Reply) {
	p := b.pinger
	if r.MAD == nil && !errors.Is(r.Err, umad.ErrTimeout) {
		return // the run ends, and this probe with it
	}
	p.probe = Probe{Target: b.target, Seq: b.target.Stats.Sent - 1, RTT: r.RTT, Err: r.Err}
	if r.Err == nil && p.o.Via == ViaVendor {
		if ouiOf(r.MAD) != p.o.OUI {
			p.probe.Err = ErrCorrupted
		}
		p.probe.Host, _, _ = bytes.Cut(r.MAD[offData:], []byte{0})
	}
	if r.Err == nil && p.o.Via == ViaSMA {
		var info mad.NodeInfo
		if p.probe.Err = mad.Decode(&info, r.Data()); p.probe.Err == nil {
			p.probe.Node = info.NodeGUID
		}
	}
	p.count(&b.target.Stats)
	p.count(&p.result.Total)
	if p.o.Done != nil {
		p.o.Done(&p.probe)
	}
	if p.o.Interval <= 0 && b.target.Stats.Sent < p.o.Count && p.ctx.Err() == nil {
		b.submit()
	}
}

// count adds the probe that just ended to s.
func (p *pinger) count(s *Stats) {
	var refused mad.StatusError
	switch err := p.probe.Err; {
	case err == nil:
		s.add(p.probe.RTT)
	case errors.Is(err, ErrCorrupted):
		s.Corrupted++
	case errors.As(err, &refused):
		s.Refused++
	default:
		s.Lost++
	}
}
