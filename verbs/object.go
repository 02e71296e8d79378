package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
)

// ErrBusy means that others need the object that is to be closed.
var ErrBusy = errors.New("it is still in use")

// object is what all objects of a context have.
type object struct {
	context *Context
	kind    ObjectKind
	handle  uint32
	id      uint64    // tells it from all others of the context, and is its user handle
	parents []*object // what it needs

	// The context's objects.lock is held for these.
	users  int // objects that need it, those being made too
	closed bool
}

// objects are those of a context that are open.
type objects struct {
	making sync.WaitGroup // those under way
	lock   sync.Mutex
	last   uint64
	open   map[uint64]closer
	closed bool // there will be no more
}

type closer interface{ Close() error }

// ID tells the object from all others of its kind on the context: it is the
// Element of events that happen to it. No ID is used twice.
func (o *object) ID() uint64 { return o.id }

// String names the object in errors: "QP 3 of rxe0".
func (o *object) String() string {
	return fmt.Sprintf("%v %d of %s", o.kind, o.handle, o.context.name)
}

// newObject returns one that is not yet known to the kernel. It holds its parents
// until it is closed. A call of register or fail follows.
func (c *Context) newObject(op string, kind ObjectKind, parents ...*object) (object, error) {
	c.objects.lock.Lock()
	defer c.objects.lock.Unlock()
	if c.objects.closed {
		return object{}, closedError(op, c.name)
	}
	for _, p := range parents {
		switch {
		case p.context != c:
			return object{}, fmt.Errorf("%s of %s: %v is another device's", op, c.name, p)
		case p.closed:
			return object{}, fmt.Errorf("%s: %w", op, closedError("use "+p.kind.String(), c.name))
		}
	}
	c.objects.making.Add(1)
	for _, p := range parents {
		p.users++
	}
	c.objects.last++
	return object{context: c, kind: kind, handle: noHandle, id: c.objects.last, parents: parents}, nil
}

// noHandle is the handle of an object that the kernel did not make.
const noHandle = ^uint32(0)

// fail undoes the making of an object that failed with err, before the kernel
// made it or after.
func (o *object) fail(destroy func() error, err error) error {
	if o.handle != noHandle {
		err = errors.Join(err, destroy())
	}
	o.context.objects.lock.Lock()
	defer o.context.objects.lock.Unlock()
	o.release()
	o.context.objects.making.Done()
	return err
}

// register takes an object that was made into the context's list. A Close of the
// context that is under way waits for it and closes it as the others.
func register[T closer](o *object, made T) T {
	objects := &o.context.objects
	objects.lock.Lock()
	defer objects.lock.Unlock()
	if objects.open == nil {
		objects.open = map[uint64]closer{}
	}
	objects.open[o.id] = made
	objects.making.Done()
	return made
}

// release lets go of the parents. The lock is held.
func (o *object) release() {
	for _, p := range o.parents {
		p.users--
	}
	delete(o.context.objects.open, o.id)
}

// close destroys the object, by destroy what the kernel has of it and by finish
// the rest. Of a device that is gone, and of a context that is closed, the kernel
// has nothing left. While the context closes nothing holds up finish: what destroy
// left the kernel frees with the file.
func (o *object) close(destroy func() error, finish func() error) error {
	objects := &o.context.objects
	op := "close " + o.kind.String()
	objects.lock.Lock()
	switch {
	case o.closed:
		objects.lock.Unlock()
		return closedError(op, o.context.name)
	case o.users > 0 && !objects.closed:
		objects.lock.Unlock()
		return fmt.Errorf("%s of %s: %w by %d others", op, o.context.name, ErrBusy, o.users)
	}
	o.closed = true
	objects.lock.Unlock()

	err := destroy()
	if errors.Is(err, ErrDeviceRemoved) || errors.Is(err, fs.ErrClosed) {
		err = nil
	}
	objects.lock.Lock()
	if err != nil && !objects.closed {
		o.closed = false
		objects.lock.Unlock()
		return err
	}
	o.release()
	objects.lock.Unlock()
	return errors.Join(err, finish())
}

// destroy is the request that ends the object. Its answer, how many events there
// were of it, nobody needs: events carry IDs, and none is used twice.
func (o *object) destroy(method uint16, attr, respAttr uint16, resp []byte) error {
	r := newRequest("close "+o.kind.String(), uint16(o.kind), method)
	r.handle(attr, o.handle)
	r.out(respAttr, resp)
	return o.context.call(r)
}

// closeObjects closes all objects, those first that were made last: each is older
// than all that need it. There are no more from then on.
func (c *Context) closeObjects() error {
	objects := &c.objects
	objects.lock.Lock()
	objects.closed = true
	objects.lock.Unlock()
	objects.making.Wait()

	objects.lock.Lock()
	ids := slices.SortedFunc(maps.Keys(objects.open), func(a, b uint64) int { return cmp.Compare(b, a) })
	all := make([]closer, len(ids))
	for i, id := range ids {
		all[i] = objects.open[id]
	}
	objects.lock.Unlock()
	var errs []error
	for _, o := range all {
		if err := o.Close(); !errors.Is(err, fs.ErrClosed) { // else another goroutine does it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// invoke sends a command that makes or changes an object.
func (o *object) invoke(op string, cmd uint32, core, resp, vendorIn, vendorOut []byte) error {
	return o.context.call(writeRequest(op, cmd, core, resp, vendorIn, vendorOut))
}
