package trap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Watch].
type Options struct {
	Source fabric.Source
	SMLID  ib.LID  // of subnet administration; 0: the local port's subnet manager's LID
	SMKey  mad.Key // 0: as an untrusted subscriber, who may not subscribe to single security traps

	Traps  []uint16           // trap numbers to subscribe to; nil: all, and vendor notices
	Accept func(*Notice) bool // nil: all notices; others are not passed on and do not count

	// Renew is the time between subscription renewals (default 5 s), after which a change
	// or the end of the subnet manager is noticed.
	Renew time.Duration

	Count    int           // notice count after which Watch ends; 0: unlimited
	Duration time.Duration // after which Watch ends; 0: unlimited

	// Known, if not nil, is called with all nodes once their names have been read.
	Known func([]*Node)

	// Names selects the source for node names: subnet administration, a scan, or a scan if
	// the administration has not returned all nodes.
	Names lookup.Mode

	NameMap  *fabric.NameMap // node names in events
	ShowKeys bool            // M_Keys are not hidden in the data of events
}

// A Summary has the counts for [Watch].
type Summary struct {
	Notices   int // passed on
	Duplicate int // reports that were sent again, because a response was lost
	Malformed int // packets that are not notice reports
	Foreign   int // reports that did not come from subnet administration
	Dropped   int // notices that were not stored
	Losses    int // times that subnet administration went away
	Elapsed   time.Duration
	Stats     umad.Stats
}

// Complete reports whether no notice can have been missed.
func (s *Summary) Complete() bool { return s.Dropped == 0 && s.Losses == 0 }

const (
	defaultRenew = 5 * time.Second

	// retry is the time between attempts to subscribe after the subscription was lost.
	retry = time.Second

	// maxSeen is how many reports are compared with a new report, as subnet administration
	// repeats a report soon.
	maxSeen = 256

	// maxPending limits the notices that wait for their node names.
	maxPending = 4096
)

// Watch subscribes to notices and passes them to a function, until ctx ends, the options'
// count or time is reached, or the function returns an error, which it returns. It then
// ends its subscriptions. A ctx that ends is not an error.
func Watch(ctx context.Context, o Options, emit func(*Event) error) (_ *Summary, err error) {
	s, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w := newWatcher(s.Client, o, emit)
	err = w.run(ctx)
	w.summary.Elapsed, w.summary.Stats = time.Since(w.start), w.client.Stats()
	return &w.summary, err
}

func newWatcher(c *umad.Client, o Options, emit func(*Event) error) *watcher {
	o.Renew = cmp.Or(o.Renew, defaultRenew)
	w := &watcher{Options: o, client: c, emit: emit, start: time.Now()}
	w.names.init(w.Names)
	return w
}

// A watcher is a call to Watch, or a Subscription.
type watcher struct {
	Options
	client  *umad.Client
	emit    func(*Event) error
	start   time.Time
	summary Summary
	names   names

	sa            umad.Target
	subscriptions []mad.InformInfo // confirmed by the administration
	lost          bool
	renewAt       time.Time
	pending       []*Notice
	dropped       int    // since the last event
	seen          []seen // the last reports, up to maxSeen
	oldest        int    // in seen, once it is full
	number        uint64 // of the last event
}

// A seen report is a recent report.
type seen struct {
	tid    uint64
	report mad.Report
}

// run receives notices.
func (w *watcher) run(ctx context.Context) error {
	if err := w.listen(); err != nil {
		return err
	}
	if err := w.begin(ctx); err != nil {
		return err
	}
	defer w.unsubscribe(ctx)
	err := w.announce(ctx)
	if err == nil {
		err = w.stream(ctx)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// listen makes the port pass on reports.
func (w *watcher) listen() error {
	return w.client.Listen(umad.Service{
		Class: mad.ClassSA, ClassVersion: mad.ClassSA.Version(), RMPP: true, Methods: []mad.Method{mad.MethodReport},
	}, w.receive)
}

// announce reads the node names and reports the confirmed subscriptions. Notices wait for
// the names: a node that leaves the fabric has no record any more.
func (w *watcher) announce(ctx context.Context) error {
	unnamed := w.names.load(ctx, w.client, w.sa)
	if err := w.subscribed(); err != nil {
		return err
	}
	if errors.Is(unnamed, umad.ErrDeviceRemoved) {
		return fmt.Errorf("read names of nodes: %w", unnamed)
	}
	if unnamed != nil && ctx.Err() == nil {
		if err := w.state(report.Unnamed, report.Warning, unnamed); err != nil {
			return err
		}
	}
	if w.Known != nil && ctx.Err() == nil {
		w.Known(w.names.nodes())
	}
	return nil
}

// stream passes notices on until the end.
func (w *watcher) stream(ctx context.Context) error {
	var end time.Time
	if w.Duration > 0 {
		end = w.start.Add(w.Duration)
	}
	w.renewAt = time.Now().Add(w.Renew)
	for {
		done, err := w.flush(ctx)
		if done || err != nil {
			return err
		}
		if !end.IsZero() && !time.Now().Before(end) {
			return nil
		}
		if err := w.step(ctx, end); err != nil {
			return err
		}
	}
}

// step renews the subscriptions if it is time, and otherwise receives packets until the
// next renewal, until a time, or until a packet has arrived. The zero time never comes.
func (w *watcher) step(ctx context.Context, end time.Time) error {
	if !time.Now().Before(w.renewAt) {
		if err := w.renew(ctx); err != nil {
			return err
		}
		w.renewAt = time.Now().Add(w.Renew)
		if w.lost {
			w.renewAt = time.Now().Add(min(retry, w.Renew))
		}
		return nil
	}
	until := w.renewAt
	if !end.IsZero() && end.Before(until) {
		until = end
	}
	if err := w.client.Wait(ctx, until); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

// flush passes on the notices that have arrived, and reports whether they were enough.
func (w *watcher) flush(ctx context.Context) (done bool, err error) {
	for len(w.pending) > 0 {
		n := w.pending[0]
		w.pending = w.pending[1:]
		w.names.complete(ctx, w.client, w.sa, n)
		if w.Accept != nil && !w.Accept(n) {
			continue
		}
		if err := w.pass(w.noticeEvent(n)); err != nil {
			return false, err
		}
		if w.summary.Notices++; w.Count > 0 && w.summary.Notices == w.Count {
			return true, nil
		}
	}
	if w.dropped > 0 {
		count := w.dropped
		w.dropped = 0
		e := w.newEvent(report.Dropped, report.Unknown, "notices came faster than they were processed")
		e.Data.Count = &count
		return false, w.pass(e)
	}
	return false, nil
}

// receive handles a report: it confirms the report, and stores the notice unless it is known.
func (w *watcher) receive(m *umad.Message) {
	now := time.Now()
	h := m.MAD.Header()
	var r mad.Report
	switch {
	case h.Attr != mad.AttrNotice || h.ClassVersion != mad.ClassSA.Version() || h.Status != 0 ||
		m.MAD.RMPP().Flags.Has(mad.RMPPActive) || m.MAD.Decode(&r) != nil:
		w.summary.Malformed++
		return
	case m.Addr.LID != w.sa.LID:
		w.summary.Foreign++
		return
	}
	response := umad.Message{Addr: m.Addr, MAD: m.MAD}
	response.MAD.SetMethod(mad.MethodReportResp)
	// A response that is lost makes the sender repeat the report.
	_ = w.client.Respond(&response)
	if w.isRepeated(seen{h.TID, r}) {
		w.summary.Duplicate++
		return
	}
	if len(w.pending) == maxPending {
		w.dropped++
		w.summary.Dropped++
		return
	}
	w.pending = append(w.pending, newNotice(r, now))
}

// isRepeated reports whether a report equals a recent report, and remembers it.
func (w *watcher) isRepeated(s seen) bool {
	if slices.Contains(w.seen, s) {
		return true
	}
	if len(w.seen) < maxSeen {
		w.seen = append(w.seen, s)
		return false
	}
	w.seen[w.oldest] = s
	w.oldest = (w.oldest + 1) % maxSeen
	return false
}

// isSilent reports whether there is no reply from subnet administration.
func isSilent(err error) bool { return errors.Is(err, umad.ErrTimeout) || errors.Is(err, umad.ErrNoSM) }

// begin finds subnet administration and subscribes.
func (w *watcher) begin(ctx context.Context) error {
	if err := w.locate(ctx); err != nil {
		return fmt.Errorf("subscribe to notices: %w", err)
	}
	var refused []error
	for _, s := range wanted(w.Traps) {
		switch err := w.set(ctx, s, 1); {
		case err == nil:
			w.subscriptions = append(w.subscriptions, s)
		case isRefusal(err):
			refused = append(refused, err)
		default:
			return fmt.Errorf("subscribe to notices: %w", err)
		}
	}
	if len(w.subscriptions) == 0 {
		return fmt.Errorf("subscribe to notices: %w", errors.Join(refused...))
	}
	for _, err := range refused {
		if err := w.state(report.Refused, report.Warning, err); err != nil {
			return err
		}
	}
	return nil
}

// isRefusal reports whether subnet administration replied with a status.
func isRefusal(err error) bool {
	_, ok := errors.AsType[mad.StatusError](err)
	return ok
}

// wanted returns a subscription for each trap, or two for all notices.
func wanted(traps []uint16) []mad.InformInfo {
	s := mad.InformInfo{
		LIDBegin: all, Type: all, Generic: 1, QPN: 1, RespTime: respTime, ProducerType: anyProducer,
	}
	if len(traps) == 0 {
		s.TrapNumber = all
		vendors := s
		vendors.Generic = 0
		return []mad.InformInfo{s, vendors}
	}
	var each []mad.InformInfo
	for _, number := range traps {
		s.TrapNumber = number
		each = append(each, s)
	}
	return each
}

const (
	anyProducer = 0xffffff
	respTime    = 18 // 1 s: the time in which reports are confirmed
)

// set begins (1) or ends (0) a subscription.
func (w *watcher) set(ctx context.Context, s mad.InformInfo, subscribe uint8) error {
	s.Subscribe = subscribe
	return w.client.Set(ctx, w.sa, &s, umad.Key(w.SMKey))
}

// locate finds subnet administration: the subnet manager may have changed since the port was
// opened.
func (w *watcher) locate(ctx context.Context) error {
	if w.SMLID != 0 {
		w.sa.LID = w.SMLID
		return nil
	}
	var info mad.PortInfo
	if err := w.client.Get(ctx, umad.Target{Route: mad.Local}, &info); err != nil {
		return err
	}
	if info.SMLID == 0 {
		return umad.ErrNoSM
	}
	w.sa = umad.Target{LID: info.SMLID, SL: info.SMSL}
	return nil
}

// renew repeats the subscriptions, which has no effect if subnet administration knows them.
func (w *watcher) renew(ctx context.Context) error {
	before := w.sa
	err := w.locate(ctx)
	for _, s := range w.subscriptions {
		if err != nil {
			break
		}
		err = w.set(ctx, s, 1)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && (w.lost || w.sa != before):
		w.lost = false
		return w.subscribed()
	case err == nil || w.lost:
		return nil
	case isSilent(err) || isRefusal(err):
		w.lost = true
		w.summary.Losses++
		return w.state(report.SourceLost, report.Unknown, err)
	}
	return fmt.Errorf("renew subscriptions: %w", err)
}

// unsubscribe ends the subscriptions, also after ctx ends. Subnet administration removes
// subscriptions that it does not end when it cannot deliver a report.
func (w *watcher) unsubscribe(ctx context.Context) {
	if w.lost {
		return
	}
	for _, s := range w.subscriptions {
		if err := w.set(context.WithoutCancel(ctx), s, 0); err != nil {
			return
		}
	}
}
