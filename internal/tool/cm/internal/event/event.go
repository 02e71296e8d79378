// Package event reads events of connections in batches.
package event

import (
	"context"
	"iter"

	"github.com/ibkit/ibkit/rdmacm"
)

// most is the number of events of a batch.
const most = 64

// A Batch is a number of events that have been read before the first one is handled. The
// kernel holds a lock of a connection while it reports an event. A command for that
// connection at once would wait for the lock, and with it for another thread.
type Batch struct {
	events []rdmacm.Event
	next   int // the first event that is not handled
}

// Wait waits for an event, and reads those that follow it at once.
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

// Handle removes the events of the batch and calls f with each of them, until f returns an
// error.
func (b *Batch) Handle(f func(rdmacm.Event) error) error {
	for e := range b.All() {
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}

// All removes the events of the batch.
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
