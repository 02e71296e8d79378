package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/sweep"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/umad"

	"github.com/ibkit/ibkit/internal/interrupt"
)

const (
	// trapRetry is the time between attempts to subscribe to notices.
	trapRetry = 10 * time.Second

	// minScan is the time between scans that notices cause.
	minScan = time.Second
)

// A fabricWatch is the sources that a local port serves, in sequence: a simulated fabric in
// this process has a single user at a time.
type fabricWatch struct {
	*run
	client  *umad.Client
	sweeper *sweep.Sweeper
	notices *trap.Subscription // nil: the port cannot receive notices

	known *fabric.Fabric // from the last scan, also before the port was opened again
	gaps
	raised   map[portKey][]raised
	gone     map[ib.GUID]*fabric.Node // that left the fabric, by port GUID
	down     map[Source]bool          // sources that were reported as lost
	began    bool                     // the sources work, or were reported
	subbed   bool                     // Begin for the notices succeeded
	lookSoon bool                     // a notice is about a link
	scanSoon bool                     // a notice is about a node

	nextCheck, nextScan, nextPass, nextBegin time.Time // the zero time never comes
}

// watchFabric watches the fabric until ctx ends. It opens the local port again after an
// error.
func (r *run) watchFabric(ctx context.Context) error {
	w := &fabricWatch{run: r, down: map[Source]bool{}, gaps: newGaps(), gone: map[ib.GUID]*fabric.Node{}}
	for {
		err := w.session(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case !w.began:
			return w.unavailable(err)
		}
		for _, s := range []Source{Links, Traps, Counters} {
			w.lose(s, err)
		}
		_ = interrupt.Sleep(ctx, w.Interval) // the next scan fails if ctx has ended
	}
}

// unavailable returns the error for a fabric that could not be scanned at the start. If its
// sources are not required, they are reported instead.
func (w *fabricWatch) unavailable(err error) error {
	for _, s := range []Source{Links, Traps, Counters} {
		if w.requires(s) {
			return &requiredError{err}
		}
	}
	for _, s := range []Source{Links, Traps, Counters} {
		if w.has(s) {
			w.lost(s, err)
		}
	}
	return err
}

// lose reports a source that stopped working, once.
func (w *fabricWatch) lose(s Source, err error) {
	if w.has(s) && !w.down[s] {
		w.down[s] = true
		w.losses.Add(1)
		w.lost(s, err)
	}
}

// works reports a source that works at the start or again.
func (w *fabricWatch) works(s Source, text string) {
	if down, known := w.down[s]; w.has(s) && (down || !known) {
		w.down[s] = false
		w.up(s, text)
	}
}

// session opens the local port and watches the fabric until an error.
func (w *fabricWatch) session(ctx context.Context) (err error) {
	session, err := w.Fabric.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	w.client = session.Client
	defer func() { w.summary.Stats = w.client.Stats() }()
	options := sweep.Options{NoExtendedPortInfo: w.Fabric.NoExtendedPortInfo, Counters: w.Limits.WindowOptions()}
	w.sweeper = sweep.New(w.client, options)
	w.notices, w.subbed, w.nextBegin = nil, false, time.Time{}
	if err := w.scan(ctx); err != nil {
		return err
	}
	if w.has(Traps) {
		if err := w.listen(ctx); err != nil {
			return err
		}
		if w.notices != nil {
			defer w.notices.End(ctx)
		}
	}
	if w.has(Counters) {
		if err := w.readCounters(ctx); err != nil {
			return err
		}
	}
	w.began = true
	return w.loop(ctx)
}

// loop repeats the tasks.
func (w *fabricWatch) loop(ctx context.Context) error {
	for ctx.Err() == nil {
		if w.scanSoon && w.has(Links) {
			w.nextScan = earliest(w.nextScan, w.sweeper.Scanned().Add(minScan))
		}
		if err := w.wait(ctx, w.next()); err != nil {
			return err
		}
		if w.lookSoon && w.has(Links) {
			w.nextCheck = earliest(w.nextCheck, time.Now())
		}
		var err error
		switch next := w.next(); {
		case next.IsZero() || time.Now().Before(next):
		case next.Equal(w.nextScan):
			err = w.scan(ctx)
		case next.Equal(w.nextCheck):
			w.lookSoon = false
			err = w.check(ctx)
		case next.Equal(w.nextBegin):
			err = w.subscribe(ctx)
		default:
			err = w.readCounters(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next returns the time for the task that is due first: scans that notices cause do not
// delay the others for ever.
func (w *fabricWatch) next() time.Time {
	return earliest(w.nextCheck, w.nextScan, w.nextPass, w.nextBegin)
}

// earliest returns the earliest among some times.
func earliest(times ...time.Time) time.Time {
	return slices.MinFunc(times, func(a, b time.Time) int {
		switch {
		case a.IsZero() && b.IsZero():
			return 0
		case a.IsZero():
			return 1
		case b.IsZero():
			return -1
		}
		return a.Compare(b)
	})
}

// wait receives notices until a time, or until some have arrived.
func (w *fabricWatch) wait(ctx context.Context, until time.Time) error {
	if !w.subbed {
		_ = interrupt.Sleep(ctx, time.Until(until)) // the end of ctx is no failure
		return nil
	}
	err := w.notices.Receive(ctx, until)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// flushNotices reports the notices that arrived during another task, before its events.
func (w *fabricWatch) flushNotices(ctx context.Context) error {
	if !w.subbed {
		return nil
	}
	err := w.notices.Flush(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// check scans the fabric if a link state has changed.
func (w *fabricWatch) check(ctx context.Context) error {
	changes, changed, err := w.sweeper.Changed(ctx)
	if err != nil {
		return err
	}
	if err := w.flushNotices(ctx); err != nil {
		return err
	}
	w.reportDown(changes)
	if changed {
		return w.scan(ctx)
	}
	w.nextCheck = time.Now().Add(w.Interval)
	return nil
}

// scan scans the fabric and reports the differences to the scan before. A scan that fails
// because the local port has no peer is repeated.
func (w *fabricWatch) scan(ctx context.Context) error {
	_, err := w.sweeper.Scan(ctx)
	switch {
	case err != nil && (!w.began || errors.Is(err, umad.ErrDeviceRemoved) || ctx.Err() != nil):
		return err
	case err != nil:
		w.lose(Links, err)
		w.nextScan = time.Now().Add(w.Interval)
		return nil
	}
	w.lookSoon, w.scanSoon = false, false
	if err := w.flushNotices(ctx); err != nil {
		return err
	}
	f := w.sweeper.Fabric()
	if blind := f.Blind(); blind != nil { // the other nodes have not left the fabric
		w.lose(Links, blind)
		w.nextCheck, w.nextScan = time.Time{}, time.Now().Add(w.Interval)
		return nil
	}
	w.keepNames(f)
	if w.Known != nil && w.known == nil {
		w.Known(f)
	}
	if w.has(Links) {
		w.works(Links, fabricText(f))
		if w.known != nil {
			w.reportChanges(w.known, f)
		}
		w.nextCheck = time.Now().Add(w.Interval)
	}
	w.known = f
	w.nextScan = time.Now().Add(w.Rescan)
	return nil
}

func fabricText(f *fabric.Fabric) string {
	links := 0
	for _, n := range f.Nodes {
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil {
				links++
			}
		}
	}
	text := plural.Count(len(f.Nodes), "node", "nodes") + ", " + plural.Count(links/2, "link", "links")
	if n := len(f.Failures); n > 0 {
		text += ", " + plural.Count(n, "request", "requests") + " without a response"
	}
	return text
}

// listen makes the port receive notices.
func (w *fabricWatch) listen(ctx context.Context) (err error) {
	w.notices, err = trap.NewSubscription(w.client, trap.Options{
		SMLID: w.SMLID, SMKey: w.SMKey,
	}, func(e *trap.Event) error { w.notice(e); return nil })
	if err == nil {
		return w.subscribe(ctx)
	}
	w.notices = nil
	if w.requires(Traps) && !w.began {
		return err
	}
	w.unsubscribed(err)
	return nil
}

// subscribe subscribes to notices, or repeats that later: a subnet manager may start.
func (w *fabricWatch) subscribe(ctx context.Context) error {
	err := w.notices.Begin(ctx)
	w.subbed, w.nextBegin = err == nil, time.Time{}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, umad.ErrDeviceRemoved), w.requires(Traps) && !w.began:
		return err
	}
	w.unsubscribed(err)
	w.nextBegin = time.Now().Add(trapRetry)
	return nil
}

// unsubscribed reports once that there is no subscription to notices.
func (w *fabricWatch) unsubscribed(err error) {
	if !w.down[Traps] {
		w.down[Traps] = true
		w.lost(Traps, err)
	}
}
