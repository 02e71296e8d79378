package verbs

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A second is a provider that records how it is called.
type second struct {
	t      *testing.T
	maker  *maker
	inside [3]atomic.Int32 // concurrent calls: CQ, send queue and receive queue
	resets int
	closed []uint16
	fails  error // from New…, after the kernel has created the object
}

func (s *second) NewCQ(_ provider.CQAttr, create provider.Create) (provider.CQ, error) {
	_, err := create([]byte("CQ's in.."), make([]byte, 8))
	return secondCQ{s}, cmp.Or(err, s.fails)
}

func (s *second) NewQP(_ provider.QPAttr, create provider.Create) (provider.QP, error) {
	_, err := create(nil, nil)
	return secondQP{s}, cmp.Or(err, s.fails)
}

func (s *second) NewSRQ(_ provider.SRQAttr, create provider.Create) (provider.SRQ, error) {
	_, err := create(nil, nil)
	return secondSRQ{s}, cmp.Or(err, s.fails)
}

func (s *second) NewAH(_ provider.Path, _ uint32, create provider.Create) (any, error) {
	_, err := create(nil, nil)
	return "provided", err
}

func (s *second) Close() error { return nil }

// alone fails the test if two goroutines are in the same queue.
func (s *second) alone(queue int) {
	if s.inside[queue].Add(1) != 1 {
		s.t.Error("got concurrent calls of one queue")
	}
	s.inside[queue].Add(-1)
}

// close fails the test unless the kernel's object is destroyed.
func (s *second) close(kind uint16) error {
	if !slices.Contains(s.maker.closed, kind) {
		s.t.Errorf("%v: got Close before the kernel's object was destroyed", ObjectKind(kind))
	}
	s.closed = append(s.closed, kind)
	return nil
}

type secondCQ struct{ *second }

func (q secondCQ) Poll(into []Completion) (int, error) { q.alone(0); return len(into), nil }
func (q secondCQ) Arm(bool) error                      { q.alone(0); return nil }
func (q secondCQ) Delivered()                          {}
func (q secondCQ) Close() error                        { return q.close(uapi.ObjectCQ) }

type secondQP struct{ *second }

func (q secondQP) Cap() QPCap                         { return QPCap{} }
func (q secondQP) PostSend(wrs []SendWR) (int, error) { q.alone(1); return len(wrs), nil }
func (q secondQP) PostRecv(wrs []RecvWR) (int, error) { q.alone(2); return len(wrs), nil }
func (q secondQP) Reset()                             { q.alone(1); q.alone(2); q.resets++ }
func (q secondQP) Close() error                       { q.alone(1); q.alone(2); return q.close(uapi.ObjectQP) }

type secondSRQ struct{ *second }

func (q secondSRQ) PostRecv(wrs []RecvWR) (int, error) { return len(wrs), nil }
func (q secondSRQ) ModifyIn() []byte                   { return nil }
func (q secondSRQ) Close() error                       { return q.close(uapi.ObjectSRQ) }

// A provider is all that a new driver needs, and verbs follows the rules in package
// provider.
func TestSecondProvider(t *testing.T) {
	m := &maker{t: t, handle: 100}
	s := &second{t: t, maker: m}
	providers[DriverERDMA] = func(provider.Device, []byte) (provider.Provider, error) { return s, nil }
	defer delete(providers, DriverERDMA)
	c, _ := openFake(t, DriverERDMA, m.answer)
	o := newSet(t, c)
	if o.ah.Destination().Provided() != "provided" {
		t.Errorf("AH: got %v, want provided", o.ah.Destination().Provided())
	}
	if in := m.last(uapi.ObjectCQ, uapi.MethodCQCreate).Attr(uapi.AttrUHWIn); in == nil || in.Len != 9 {
		t.Errorf("got driver's data %+v, want 9 bytes", in)
	}
	if m.last(uapi.ObjectQP, uapi.MethodQPCreate).Attr(uapi.AttrUHWOut) != nil {
		t.Error("got room for a response, want none")
	}
	qp := must(o.pd.CreateQP(QPInit{Type: QPTypeUD, SendCQ: o.cq, RecvCQ: o.cq}))(t)
	up := func() {
		if err := qp.Connect(RemoteQP{Path: Path{Port: 1}}, ConnParam{}); err != nil {
			t.Fatal(err)
		}
	}
	up()
	var group sync.WaitGroup
	for range 2 {
		for _, call := range []func() (int, error){
			func() (int, error) { return qp.PostSend(make([]SendWR, 1)) },
			func() (int, error) { return qp.PostRecv(make([]RecvWR, 1)) },
			func() (int, error) { return o.cq.Poll(make([]Completion, 1)) },
			func() (int, error) { return 1, o.cq.Arm(false) },
		} {
			group.Go(func() {
				for {
					if _, err := call(); errors.Is(err, fs.ErrClosed) {
						return
					} else if err != nil && !errors.Is(err, ErrState) {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	for range 20 {
		if err := qp.Modify(QPStateReset, QPAttr{}); err != nil {
			t.Error(err)
		}
		up()
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
	if want := []uint16{uapi.ObjectQP, uapi.ObjectQP, uapi.ObjectSRQ, uapi.ObjectCQ}; s.resets != 20 || !slices.Equal(s.closed, want) {
		t.Errorf("got %d resets, closed %v, want 20, %v", s.resets, s.closed, want)
	}
}

// A queue that the provider returns with an error is closed after the kernel's object, and
// stays if the kernel does not destroy the object.
func TestSecondProvider_Fails(t *testing.T) {
	m := &maker{t: t, handle: 100, refuse: map[uint16]unix.Errno{}}
	s := &second{t: t, maker: m}
	providers[DriverERDMA] = func(provider.Device, []byte) (provider.Provider, error) { return s, nil }
	defer delete(providers, DriverERDMA)
	c, _ := openFake(t, DriverERDMA, m.answer)
	o := newSet(t, c)
	s.fails = errors.New("inconsistent")
	for kind, create := range map[uint16]func() error{
		uapi.ObjectCQ:  func() error { _, err := c.CreateCQ(CQInit{Entries: 1, Channel: o.channel}); return err },
		uapi.ObjectSRQ: func() error { _, err := o.pd.CreateSRQ(SRQInit{MaxWR: 1}); return err },
		uapi.ObjectQP: func() error {
			_, err := o.pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: o.cq, RecvCQ: o.cq})
			return err
		},
	} {
		t.Run(ObjectKind(kind).String(), func(t *testing.T) {
			for errno, closes := range map[unix.Errno]bool{0: true, unix.EIO: true, unix.EBUSY: false} {
				m.closed, s.closed, m.refuseClose = nil, nil, errno
				if err := create(); !errors.Is(err, s.fails) {
					t.Errorf("got error %v, want %v", err, s.fails)
				}
				if got := slices.Equal(s.closed, []uint16{kind}); got != closes || len(m.closed) != 1 {
					t.Errorf("destruction returns %v: got closed %v, want %v", errno, s.closed, closes)
				}
			}
			m.refuseClose = 0
		})
	}
	s.fails = nil
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestPollContended checks that Poll returns at once while another goroutine uses the
// queue, and its error after Close.
func TestPollContended(t *testing.T) {
	cq := &CQ{queue: secondCQ{&second{t: t}}}
	cq.context = &Context{name: "rxe0"}
	into := make([]Completion, 1)
	cq.lock.Lock()
	if n, err := cq.Poll(into); n != 0 || err != nil {
		t.Errorf("locked: got %d, %v, want 0, no error", n, err)
	}
	cq.lock.Unlock()
	if n, err := cq.Poll(into); n != 1 || err != nil {
		t.Errorf("unlocked: got %d, %v, want 1, no error", n, err)
	}
	cq.queue = nil
	_, err := cq.Poll(into)
	if want := "poll CQ of rxe0: file already closed"; !errors.Is(err, fs.ErrClosed) || err.Error() != want {
		t.Errorf("closed: got %v, want %s", err, want)
	}
}
