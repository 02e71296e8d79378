package verbs

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"github.com/ibkit/ibkit/internal/dmamem"
)

// resources are a context's file descriptors and mappings. They have no
// pointer to the Context, so that a cleanup can release them after the garbage
// collector has found the Context and all its objects unreachable.
type resources struct {
	kernel  kernel
	fd      int // device node
	eventFD int // asynchronous events; -1 if not open

	eventFile *os.File       // owns eventFD if not nil
	scratch   *dmamem.Memory // for responses to doorbells; nil without a provider

	queueLock sync.Mutex
	queues    map[*byte][]byte // mapped queues by their first byte
}

// mapQueue maps driver memory at a device node offset, with a protection (unix.PROT_*).
func (r *resources) mapQueue(offset int64, length, protection int) ([]byte, error) {
	b, err := r.kernel.Mmap(r.fd, offset, length, protection)
	if err != nil {
		return nil, err
	}
	r.queueLock.Lock()
	defer r.queueLock.Unlock()
	if r.queues == nil {
		r.queues = map[*byte][]byte{}
	}
	r.queues[unsafe.SliceData(b)] = b
	return b, nil
}

// unmapQueue undoes mapQueue.
func (r *resources) unmapQueue(b []byte) error {
	r.queueLock.Lock()
	defer r.queueLock.Unlock()
	delete(r.queues, unsafe.SliceData(b))
	return r.kernel.Munmap(b)
}

// release closes the files and unmaps the memory. The kernel destroys the objects
// of the context with its file.
func (r *resources) release() error {
	r.queueLock.Lock()
	defer r.queueLock.Unlock()
	var errs []error
	switch {
	case r.eventFile != nil:
		errs = append(errs, r.eventFile.Close())
	case r.eventFD >= 0:
		errs = append(errs, r.kernel.Close(r.eventFD))
	}
	errs = append(errs, r.kernel.Close(r.fd))
	for _, b := range r.queues {
		errs = append(errs, r.kernel.Munmap(b))
	}
	if r.scratch != nil {
		errs = append(errs, r.scratch.Close())
	}
	return errors.Join(errs...)
}
