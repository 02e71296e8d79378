package umad

import (
	"errors"
	"sync/atomic"
)

var (
	errNested = errors.New("run client: already running; submit from Done instead")
	errShared = errors.New("run client: in use by another goroutine")
)

// A use is what a client does at present. It detects concurrent use, which a client does not
// support, without a lock.
type use struct{ state atomic.Uint32 }

const (
	free    uint32 = iota
	busy           // runs, or takes a request
	calling        // runs, and has called a function of the program
)

// enter begins a run.
func (u *use) enter() error {
	switch {
	case u.state.CompareAndSwap(free, busy):
		return nil
	case u.state.Load() == calling:
		return errNested
	}
	return errShared
}

// submit begins a Submit. It reports whether leave ends it: a function that the client has
// called submits during a run.
func (u *use) submit() bool {
	if u.state.CompareAndSwap(free, busy) {
		return true
	}
	if u.state.Load() == busy {
		panic("umad: concurrent use of a Client: Submit while another goroutine runs it")
	}
	return false
}

// leave ends what enter or submit has begun.
func (u *use) leave() { u.state.Store(free) }

// call precedes the call of a function of the program; restore follows with its result.
func (u *use) call() (was uint32) { return u.state.Swap(calling) }

func (u *use) restore(was uint32) { u.state.Store(was) }
