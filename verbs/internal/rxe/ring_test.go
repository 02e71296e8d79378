package rxe

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// plain returns memory with the kernel's layout: 2^shift-byte slots.
func plain(slots uint32, shift uint) []byte {
	words := make([]uint64, (uapi.RXEQueueBufSize+int(slots)<<shift)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	head(b).Log2ElemSize, head(b).IndexMask = uint32(shift), slots-1
	return b
}

func head(b []byte) *uapi.RXEQueueBuf {
	return (*uapi.RXEQueueBuf)(unsafe.Pointer(unsafe.SliceData(b)))
}

// newPlain returns a ring on plain memory.
func newPlain(t testing.TB, slots uint32, shift uint, element int) ring {
	t.Helper()
	r, err := newRing(plain(slots, shift), element)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A head that leads outside the mapping is rejected.
func TestNewRing(t *testing.T) {
	for name, change := range map[string]func(b []byte) []byte{
		"empty":            func([]byte) []byte { return nil },
		"short head":       func(b []byte) []byte { return b[:uapi.RXEQueueBufSize-8] },
		"a byte too short": func(b []byte) []byte { return b[:len(b)-1] },
		"no power of two":  func(b []byte) []byte { head(b).IndexMask = 2; return b },
		"more slots":       func(b []byte) []byte { head(b).IndexMask = 7; return b },
		"all slots":        func(b []byte) []byte { head(b).IndexMask = ^uint32(0); return b },
		"larger slots":     func(b []byte) []byte { head(b).Log2ElemSize = 7; return b },
		"huge slots":       func(b []byte) []byte { head(b).Log2ElemSize = 31; return b },
		"no slots":         func(b []byte) []byte { head(b).Log2ElemSize = 64; return b },
		"small slots":      func(b []byte) []byte { head(b).Log2ElemSize = 5; return b },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := newRing(change(plain(4, 6)), 48); !errors.Is(err, provider.ErrCorrupt) {
				t.Errorf("got error %v, want %v", err, provider.ErrCorrupt)
			}
		})
	}
	if _, err := newRing(plain(4, 6), 64); err != nil {
		t.Errorf("got error %v for a valid ring", err)
	}
}

// The process fills slots and the kernel takes them, past the ring's end
// several times.
func TestFill(t *testing.T) {
	r := newPlain(t, 8, 6, 8)
	taken := uint64(0)
	for value := range uint64(100) {
		slot, err := r.next()
		if full := value-taken == 7; errors.Is(err, provider.ErrFull) != full {
			t.Fatalf("got error %v with %d of 7 slots filled", err, value-taken)
		}
		if err != nil {
			for range 3 {
				if got := *(*uint64)(r.slot(uint32(taken))); got != taken {
					t.Fatalf("got %d, want %d", got, taken)
				}
				taken++
			}
			r.consumer.Store(uint32(taken) & r.mask)
			if slot, err = r.next(); err != nil {
				t.Fatal(err)
			}
		}
		*(*uint64)(slot) = value
		r.advance()
		if shown := r.producer.Load(); shown != uint32(value)&r.mask {
			t.Fatalf("got producer %d before publish, want %d", shown, uint32(value)&r.mask)
		}
		r.publish()
	}
}

// The kernel fills slots and the process takes them.
func TestTake(t *testing.T) {
	r := newPlain(t, 8, 6, 8)
	if n, err := r.ready(); n != 0 || err != nil {
		t.Fatalf("got %d slots, error %v, of an empty ring", n, err)
	}
	next, want := uint64(0), uint64(0)
	for round := range 50 {
		for range round % 8 {
			*(*uint64)(r.slot(uint32(next))) = next
			next++
		}
		r.producer.Store(uint32(next) & r.mask)
		n, err := r.ready()
		if err != nil || n != uint32(round%8) {
			t.Fatalf("got %d slots, error %v, want %d", n, err, round%8)
		}
		for i := range n {
			if got := *(*uint64)(r.slot(r.own + i)); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
			want++
		}
		r.release(n)
		if c := r.consumer.Load(); c != uint32(want)&r.mask {
			t.Fatalf("got consumer %d, want %d", c, uint32(want)&r.mask)
		}
	}
}

// The process ignores changes to its own index in the ring. An invalid index from the
// kernel is an error.
func TestHostile(t *testing.T) {
	for _, index := range []uint32{8, 9, 1 << 16, 1 << 31, ^uint32(0)} {
		r := newPlain(t, 8, 6, 8)
		r.consumer.Store(index)
		if _, err := r.next(); !errors.Is(err, provider.ErrCorrupt) {
			t.Errorf("consumer %d: got error %v, want %v", index, err, provider.ErrCorrupt)
		}
		r.producer.Store(index)
		if _, err := r.ready(); !errors.Is(err, provider.ErrCorrupt) {
			t.Errorf("producer %d: got error %v, want %v", index, err, provider.ErrCorrupt)
		}
		r.consumer.Store(0)
		if slot, err := r.next(); err != nil || slot != r.slots {
			t.Errorf("own index overwritten with %d: got slot %p, error %v, want slot %p", index, slot, err, r.slots)
		}
		// Later head changes have no effect.
		head(r.memory).IndexMask, head(r.memory).Log2ElemSize = index, index
		if r.slot(index) != unsafe.Add(r.slots, uintptr(index&7)<<6) {
			t.Errorf("got another slot %d after a change of the head", index)
		}
	}
}

// Two goroutines share a ring, as the process and the kernel do. The race detector
// verifies that a slot's contents are written before the index.
func TestTwoSides(t *testing.T) {
	memory := plain(8, 6)
	fills, err := newRing(memory, 8)
	if err != nil {
		t.Fatal(err)
	}
	takes, err := newRing(memory, 8)
	if err != nil {
		t.Fatal(err)
	}
	const count = 5000
	var group sync.WaitGroup
	group.Go(func() {
		for value := uint64(0); value < count; {
			slot, err := fills.next()
			if errors.Is(err, provider.ErrFull) {
				fills.publish()
				runtime.Gosched()
				continue
			} else if err != nil {
				t.Error(err)
				return
			}
			*(*uint64)(slot) = value
			fills.advance()
			value++
			if value%3 == 0 || value == count {
				fills.publish()
			}
		}
	})
	for want := uint64(0); want < count; {
		n, err := takes.ready()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got := *(*uint64)(takes.slot(takes.own + i)); got != want {
				t.Fatalf("got %d, want %d", got, want)
			}
			want++
		}
		takes.release(n)
		runtime.Gosched()
	}
	group.Wait()
}
