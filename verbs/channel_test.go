package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/uapi"
)

// tell writes an event of a completion queue.
func (f *fake) tell(t *testing.T, id uint64) {
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
	f.tell(t, gone.ID())
	f.tell(t, 1<<60)
	f.tell(t, other.ID())
	f.tell(t, cq.ID())
	for _, want := range []*CQ{other, cq} {
		if got, err := ch.Wait(t.Context()); got != want || err != nil {
			t.Errorf("event of %v: %v", got, err)
		}
	}

	// A context that ends, before or while, ends waits with it only.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ch.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		for range 2 {
			if _, err := ch.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
		f.tell(t, cq.ID())
		if got, err := ch.Wait(t.Context()); got != cq || err != nil {
			t.Errorf("event of %v after a time-out: %v", got, err)
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
		t.Error(err)
	}
	if _, err := ch.Wait(t.Context()); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// Close of a queue ends a wait for it, whenever it comes, and no other.
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
			t.Fatal(err)
		}
	}
	f.tell(t, other.ID())
	if got, err := ch.Wait(t.Context()); got != other || err != nil {
		t.Errorf("event of %v: %v", got, err)
	}
	// What ends the context of a wait is not lost by it.
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
			t.Fatal(err)
		}
	}
}

// A wait with the context of the last one allocates nothing.
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
		t.Errorf("%v allocations", n)
	}
}

// Wait of a CQ arms it and polls again before it waits.
func TestCQWait(t *testing.T) {
	c, f, _ := openMaker(t)
	ch := must(c.NewCompChannel())(t)
	cq := must(c.CreateCQ(CQInit{Entries: 1, Channel: ch}))(t)
	alone := must(c.CreateCQ(CQInit{Entries: 1}))(t)
	var done [1]Completion
	if _, err := alone.Wait(t.Context(), done[:]); err == nil {
		t.Error("wait without a channel")
	}
	f.tell(t, cq.ID()) // of nothing: it waits on
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if n, err := cq.Wait(ctx, done[:]); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d, %v", n, err)
	}
	if len(f.written) != 2 {
		t.Errorf("armed %d times", len(f.written))
	}
	for _, message := range f.written {
		if head := decode[uapi.CmdHeader](message); head.Command != uapi.CmdReqNotifyCQ {
			t.Errorf("command %d", head.Command)
		}
	}
}
