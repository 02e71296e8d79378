package cmconn

import (
	"context"
	"sync"
	"time"
)

// A deadline limits the waits in one direction. The zero value does not limit them.
type deadline struct {
	lock   sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
}

// current returns the context that ends at the deadline, or when another deadline is set.
func (d *deadline) current() context.Context {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.ctx == nil {
		d.ctx, d.cancel = context.WithCancel(context.Background())
	}
	return d.ctx
}

// set sets the deadline; the zero time removes it.
func (d *deadline) set(t time.Time) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.cancel != nil {
		defer d.cancel()
	}
	if t.IsZero() {
		d.ctx, d.cancel = context.WithCancel(context.Background())
	} else {
		d.ctx, d.cancel = context.WithDeadline(context.Background(), t)
	}
}
