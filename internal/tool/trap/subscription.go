package trap

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// A Subscription receives notices between other requests on a client, which [Watch] does
// with its own client. Notices that arrive while the client runs are stored. It is not safe
// for concurrent use.
type Subscription struct{ w *watcher }

// NewSubscription makes a client's port receive notices. Open, Client, Count and Duration
// in the options do not apply. emit is called by the subscription's methods, which return
// its error.
func NewSubscription(c *umad.Client, o Options, emit func(*Event) error) (*Subscription, error) {
	o.Count, o.Duration = 0, 0
	s := &Subscription{newWatcher(c, o, emit)}
	return s, s.w.listen()
}

// Begin subscribes. After an error, it may be called again.
func (s *Subscription) Begin(ctx context.Context) error {
	w := s.w
	w.subscriptions = nil
	if err := w.begin(ctx); err != nil {
		return err
	}
	w.renewAt = time.Now().Add(w.Renew)
	return w.announce(ctx)
}

// Receive passes on the notices that have arrived, renews the subscriptions if it is time,
// and otherwise waits until a packet has arrived or until a time.
func (s *Subscription) Receive(ctx context.Context, until time.Time) error {
	if err := s.Flush(ctx); err != nil {
		return err
	}
	if err := s.w.step(ctx, until); err != nil {
		return err
	}
	return s.Flush(ctx)
}

// Flush passes on the notices that have arrived.
func (s *Subscription) Flush(ctx context.Context) error {
	_, err := s.w.flush(ctx)
	return err
}

// End ends the subscriptions, also after ctx ends.
func (s *Subscription) End(ctx context.Context) { s.w.unsubscribe(ctx) }
