package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/uapi"
)

// sendEvent sends a completion queue event.
func (f *fake) sendEvent(t *testing.T, id uint64) {
	t.Helper()
	if _, err := f.events.Write(binary.NativeEndian.AppendUint64(nil, id)); err != nil {
		t.Fatal(err)
	}
}

func TestChannel(t *testing.T) {
	c, f, _ := openMaker(t)
	ch := must(c.NewCompChannel())(t)

	cq, other := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t), must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
	gone := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	f.sendEvent(t, gone.ID())
	f.sendEvent(t, 1<<60)
	f.sendEvent(t, other.ID())
	f.sendEvent(t, cq.ID())
	for _, want := range []*CQ{other, cq} {
		if got, err := ch.Wait(t.Context()); got != want || err != nil {
			t.Errorf("got event of %v, error %v, want %v", got, err, want)
		}
	}

	// A context that ends before or during a wait ends only waits with this context.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ch.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	for range 3 {
		ctx := testenv.UntilSoon(t)
		for range 2 {
			if _, err := ch.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
			}
		}
		f.sendEvent(t, cq.ID())
		if got, err := ch.Wait(t.Context()); got != cq || err != nil {
			t.Errorf("after a timeout: got event of %v, error %v, want %v", got, err, cq)
		}
		cancel()
	}

	waited := make(chan error)
	go func() {
		_, err := ch.Wait(t.Context())
		waited <- err
	}()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-waited; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got error %v, want %v", err, fs.ErrClosed)
	}
	if _, err := ch.Wait(t.Context()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got error %v, want %v", err, fs.ErrClosed)
	}
}

// A queue's Close ends a wait for it at any time, and no other wait.
func TestWaitClosed(t *testing.T) {
	c, f, _ := openMaker(t)
	ch := must(c.NewCompChannel())(t)
	other := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
	for range 200 {
		cq := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
		waited := make(chan error)
		go func() {
			_, err := cq.Wait(t.Context(), make([]Completion, 1))
			waited <- err
		}()
		if err := cq.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; !errors.Is(err, fs.ErrClosed) {
			t.Fatalf("got error %v, want %v", err, fs.ErrClosed)
		}
	}
	f.sendEvent(t, other.ID())
	if got, err := ch.Wait(t.Context()); got != other || err != nil {
		t.Errorf("got event of %v, error %v, want %v", got, err, other)
	}
	// A wait context's end is not lost by it.
	for range 200 {
		cq := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error)
		go func() {
			_, err := other.Wait(ctx, make([]Completion, 1))
			waited <- err
		}()
		go cancel()
		if err := cq.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v, want %v", err, context.Canceled)
		}
	}
}

// A wait with the previous wait's context does not allocate.
func TestChannelAllocations(t *testing.T) {
	c, f, _ := openMaker(t)
	ch := must(c.NewCompChannel())(t)
	cq := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	event := binary.NativeEndian.AppendUint64(nil, cq.ID())
	if n := testing.AllocsPerRun(10, func() {
		if _, err := f.events.Write(event); err != nil {
			t.Error(err)
		}
		if _, err := ch.Wait(ctx); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// CQ.Wait arms the queue and polls again before it waits.
func TestCQWait(t *testing.T) {
	c, f, _ := openMaker(t)
	ch := must(c.NewCompChannel())(t)
	cq := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
	alone := must(c.CreateCQ(CQInit{Entries: 1}))(t)
	var done [1]Completion
	if _, err := alone.Wait(t.Context(), done[:]); err == nil {
		t.Error("wait without a channel: got no error")
	}
	f.sendEvent(t, cq.ID()) // without a completion: it keeps waiting
	if n, err := cq.Wait(testenv.UntilSoon(t), done[:]); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %d completions, error %v, want 0 and %v", n, err, context.DeadlineExceeded)
	}
	if len(f.written) != 2 {
		t.Errorf("got %d commands, want 2", len(f.written))
	}
	for _, message := range f.written {
		if head := uapi.Decode[uapi.CmdHeader](message); head.Command != uapi.CmdReqNotifyCQ {
			t.Errorf("got command %d, want REQ_NOTIFY_CQ", head.Command)
		}
	}
}
