// Package event reads connection events in batches.
package event

import (
	"context"
	"iter"

	"github.com/ibkit/ibkit/rdmacm"
)

// most is the event count per batch.
const most = 64

// A Batch is a set of events that have been read before the first is handled. The kernel
// holds a connection's lock while it reports an event. A command for that connection at
// once would wait for the lock, and with it for another thread.
type Batch struct {
	events []rdmacm.Event
	next   int // the first event that is not handled
}

// Wait waits for an event, and reads the events that follow it at once.
func (b *Batch) Wait(ctx context.Context, c *rdmacm.Channel) error {
	e, err := c.Next(ctx)
	if err != nil {
		return err
	}
	b.events = append(b.events, e)
	for len(b.events)-b.next < most {
		e, ok, err := c.TryNext()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		b.events = append(b.events, e)
	}
	return nil
}

// Handle removes the batch's events and calls f with each, until f returns an error.
func (b *Batch) Handle(f func(rdmacm.Event) error) error {
	for e := range b.All() {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// All removes the batch's events.
func (b *Batch) All() iter.Seq[rdmacm.Event] {
	return func(yield func(rdmacm.Event) bool) {
		for b.next < len(b.events) {
			e := b.events[b.next]
			b.events[b.next] = rdmacm.Event{} // keeps no ID in memory
			b.next++
			if !yield(e) {
				return
			}
		}
		b.events, b.next = b.events[:0], 0
	}
}
