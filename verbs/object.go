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

// ErrBusy is returned by an object's Close if other objects use it.
var ErrBusy = errors.New("still in use")

// object is the common part in all the context's objects.
type object struct {
	context *Context
	kind    ObjectKind
	handle  uint32
	id      uint64    // unique in the context; the object's user handle
	parents []*object // objects that it uses

	// Guarded by the context's objects.lock.
	users  int // objects that use it, including objects being created
	closed bool
}

// objects are a context's open objects.
type objects struct {
	creating sync.WaitGroup // objects being created
	lock     sync.Mutex
	last     uint64
	open     map[uint64]closer
	closed   bool // no further objects can be created
}

type closer interface{ Close() error }

// ID identifies the object within its context: it is its events' Element. IDs
// are not reused.
func (o *object) ID() uint64 { return o.id }

// String returns the object name for errors: "QP 3 of rxe0".
func (o *object) String() string {
	return fmt.Sprintf("%v %d of %s", o.kind, o.handle, o.context.name)
}

// newObject returns an object that the kernel has not created yet. It uses its
// parents until it is closed. The caller must call register or fail.
func (c *Context) newObject(op string, kind ObjectKind, parents ...*object) (object, error) {
	c.objects.lock.Lock()
	defer c.objects.lock.Unlock()
	if c.objects.closed {
		return object{}, closedError(op, c.name)
	}
	for _, p := range parents {
		switch {
		case p.context != c:
			return object{}, fmt.Errorf("%s of %s: %v belongs to another device", op, c.name, p)
		case p.closed:
			return object{}, fmt.Errorf("%s: %w", op, closedError("use "+p.kind.String(), c.name))
		}
	}
	c.objects.creating.Add(1)
	for _, p := range parents {
		p.users++
	}
	c.objects.last++
	return object{context: c, kind: kind, handle: noHandle, id: c.objects.last, parents: parents}, nil
}

// noHandle is the handle for an object that the kernel has not created.
const noHandle = ^uint32(0)

// fail undoes an object's creation after err, whether or not the kernel has
// created it.
func (o *object) fail(destroy func() error, err error) error {
	if o.handle != noHandle {
		err = errors.Join(err, destroy())
	}
	o.context.objects.lock.Lock()
	defer o.context.objects.lock.Unlock()
	o.release()
	o.context.objects.creating.Done()
	return err
}

// undo returns a function that destroys the kernel's object after the provider failed. If
// the provider has returned a queue for it, finish releases it, unless the kernel still has
// the object.
func undo(destroy func() error, returned bool, finish func() error) func() error {
	return func() error {
		err := destroy()
		if returned && (err == nil || errors.Is(err, ErrDeviceRemoved)) {
			err = errors.Join(err, finish())
		}
		return err
	}
}

// register adds a created object to its context's objects. A concurrent Close
// of the context waits for it and closes the object too.
func register[T closer](o *object, created T) T {
	objects := &o.context.objects
	objects.lock.Lock()
	defer objects.lock.Unlock()
	if objects.open == nil {
		objects.open = map[uint64]closer{}
	}
	objects.open[o.id] = created
	objects.creating.Done()
	return created
}

// release ends the parents' use. The caller holds objects.lock.
func (o *object) release() {
	for _, p := range o.parents {
		p.users--
	}
	delete(o.context.objects.open, o.id)
}

// close destroys the kernel's object with destroy and releases the rest with finish.
// If the device was removed or the context is closed, the kernel's object does not
// exist any more, which is not an error. While the context is closing, finish runs
// even if destroy fails: the kernel destroys the object with the file.
func (o *object) close(destroy func() error, finish func() error) error {
	objects := &o.context.objects
	objects.lock.Lock()
	switch {
	case o.closed:
		objects.lock.Unlock()
		return closedError("close "+o.kind.String(), o.context.name)
	case o.users > 0 && !objects.closed:
		objects.lock.Unlock()
		return fmt.Errorf("close %v of %s: %w by %d objects", o.kind, o.context.name, ErrBusy, o.users)
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

// destroy sends the request that destroys the object. The response, the reported event
// count, is not needed: events carry IDs, which are not reused.
func (o *object) destroy(method uint16, attr, respAttr uint16, resp []byte) error {
	r := newRequest("close "+o.kind.String(), uint16(o.kind), method)
	r.handle(attr, o.handle)
	r.out(respAttr, resp)
	return o.context.call(r)
}

// closeObjects closes all objects, the newest first, since an object is older than
// its users. No object can be created afterwards.
func (c *Context) closeObjects() error {
	objects := &c.objects
	objects.lock.Lock()
	objects.closed = true
	objects.lock.Unlock()
	objects.creating.Wait()

	objects.lock.Lock()
	ids := slices.SortedFunc(maps.Keys(objects.open), func(a, b uint64) int { return cmp.Compare(b, a) })
	all := make([]closer, len(ids))
	for i, id := range ids {
		all[i] = objects.open[id]
	}
	objects.lock.Unlock()
	var errs []error
	for _, o := range all {
		if err := o.Close(); !errors.Is(err, fs.ErrClosed) { // otherwise another goroutine closes it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// invoke sends a command that creates or changes an object.
func (o *object) invoke(op string, cmd uint32, core, resp, vendorIn, vendorOut []byte) error {
	return o.context.call(writeRequest(op, cmd, core, resp, vendorIn, vendorOut))
}
