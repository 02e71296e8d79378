package perftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/verbs"
)

// A Session is a test with a program at the other side.
type Session struct {
	Local, Remote []Key
	Agreed        Layout

	conn   *Conn
	test   Test
	place  Place
	end    *endpoint.Endpoint
	ctx    context.Context
	posted bool // receives are

	result Result // of the size that runs
}

// cacheLine is what this side says its cache lines have. A program whose lines are
// larger has both take those.
const cacheLine = 64

// Place is the port that the session uses.
func (s *Session) Place() Place { return s.place }

// Start tells the other side about this one, and makes queue pairs and memory. The
// port is the session's from then on; Close closes it.
func Start(ctx context.Context, conn *Conn, place Place, test Test) (*Session, error) {
	s := &Session{conn: conn, test: test, place: place, ctx: ctx}
	if err := s.start(); err != nil {
		return nil, errors.Join(s.cause(err), s.Close())
	}
	return s, nil
}

func (s *Session) start() error {
	if err := s.test.Check(); err != nil {
		return err
	}
	mtu := s.place.Port.Attr.ActiveMTU
	if s.test.MTU > mtu {
		return fmt.Errorf("use an MTU of %v: the port's is %v", s.test.MTU, mtu)
	}
	if s.test.MTU != 0 {
		mtu = s.test.MTU
	}
	stop := s.abort()
	defer stop()
	var err error
	s.Agreed, err = s.conn.Begin(Layout{Page: uint32(os.Getpagesize()), CacheLine: cacheLine, MTU: uint8(mtu)})
	if err != nil {
		return err
	}
	if largest := slices.Max(s.test.Sizes); s.test.Type == verbs.QPTypeUD && largest > ib.MTU(s.Agreed.MTU).Bytes() {
		return fmt.Errorf("send datagrams of %d bytes: the MTU of both sides is %v", largest, ib.MTU(s.Agreed.MTU))
	}
	if s.end, err = endpoint.New(s.place.Port, s.options()); err != nil {
		return err
	}
	for _, a := range s.end.Addresses() {
		s.Local = append(s.Local, Key{
			LID: uint16(s.place.Port.Attr.LID), OutReads: uint32(s.reads()), QPN: a.QPN, PSN: a.PSN, RKey: a.RKey, VAddr: a.Addr, GID: s.place.GID.GID,
		})
	}
	return nil
}

// abort has exchanges return when the context ends, until what it returns is
// called.
func (s *Session) abort() (stop func() bool) {
	return context.AfterFunc(s.ctx, func() { _ = s.conn.Abort() })
}

// sameFlags are what both programs have to be started with.
const sameFlags = "flags for size, iterations, duration, queue pairs and connection"

// cause is why something did not go on: the context's end, if it has ended. Of
// another side that does not do what it should it says what that may be.
func (s *Session) cause(err error) error {
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case errors.Is(err, ErrHungUp):
		return fmt.Errorf("%w: see what it says; it has to be %s with the same %s", err, s.test.Program(), sameFlags)
	case errors.As(err, new(*verbs.CompletionError)):
		return fmt.Errorf("%w; the other side has to be %s with the same %s", err, s.test.Program(), sameFlags)
	case errors.Is(err, ErrSilent), errors.Is(err, loop.ErrStalled):
		return fmt.Errorf("%w: is it there, as %s with the same %s?", err, s.test.Program(), sameFlags)
	}
	return err
}

// reads is how many reads or atomics this side answers at a time; 1 where the test
// has none.
func (s *Session) reads() uint8 {
	if s.test.Verb != Read && s.test.Verb != Atomic {
		return 1
	}
	n := int(min(s.place.Port.Limits.MaxQPRdAtom, math.MaxUint8))
	if s.test.OutReads > 0 {
		n = min(n, s.test.OutReads)
	}
	return uint8(n)
}

// receives is how many receives are posted to a queue pair.
func (s *Session) receives() int {
	switch {
	case s.test.Verb != Send, s.test.Bandwidth && !s.test.Bidirectional && s.conn.client:
		return 0
	}
	return s.test.RxDepth
}

// slots is how much memory a queue pair has on each side. Programs lay out theirs
// alike: a page to walk through, or the largest message.
func (s *Session) slots() int {
	return max(int(s.Agreed.Page), slices.Max(s.test.Sizes))
}

func (s *Session) options() endpoint.Options {
	o := endpoint.Options{
		Type: s.test.Type, Groups: 1, Lanes: s.test.QueuePairs, Depth: s.test.depth(), RecvDepth: s.receives(),
		Out: s.slots(), In: s.slots() + int(s.Agreed.CacheLine), Inline: s.test.Inline, Events: s.test.Events,
		OutAccess: verbs.AccessLocalWrite, InAccess: verbs.AccessLocalWrite,
	}
	switch s.test.Verb {
	case Write:
		o.InAccess |= verbs.AccessRemoteWrite
		o.QPAccess = verbs.AccessRemoteWrite
	case Read:
		o.InAccess |= verbs.AccessRemoteRead
		o.QPAccess = verbs.AccessRemoteRead
	case Atomic:
		o.InAccess |= verbs.AccessRemoteAtomic
		o.QPAccess = verbs.AccessRemoteAtomic
	}
	return o
}

// link is how the queue pairs are connected.
func (s *Session) link(remote Key) endpoint.Link {
	return endpoint.Link{
		GID: remote.GID, GIDIndex: uint8(s.place.GID.Index), LID: remote.LID, MTU: ib.MTU(s.Agreed.MTU),
		SL: s.test.SL, TrafficClass: s.test.TrafficClass, HopLimit: HopLimit, PKeyIndex: s.test.PKeyIndex,
		Timeout: s.test.Timeout, RetryCount: s.test.RetryCount, RNRRetry: 7, MinRNRTimer: 12,
		ReadsOut: uint8(min(uint32(s.reads()), remote.OutReads)), ReadsIn: s.reads(), QKey: QKey,
	}
}

// Run does the test. It tells of each size as it is done; where it ends with an
// error, of the one that was under way, as far as that came.
func (s *Session) Run(done func(Result)) error {
	stop := s.abort()
	defer stop()
	err := s.conn.Session(s.test.Order, s.Local, driver{s}, func(size int, theirs *Report) {
		r := s.result
		if r.Size == 0 { // a server that only served
			r.Size = size
		}
		r.Theirs = theirs
		s.result = Result{}
		done(r)
	})
	if err != nil && s.result.Messages > 0 {
		done(s.result)
	}
	return s.cause(err)
}

// Close gives everything back, and hangs up.
func (s *Session) Close() error {
	if s.end == nil {
		return errors.Join(s.place.Port.Close(), s.conn.Close())
	}
	return errors.Join(s.end.Close(), s.conn.Close())
}
