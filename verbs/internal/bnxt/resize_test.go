package bnxt

import (
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// Completions before the cut-off are in the old ring, later ones in the new ring. The kernel
// learns when the old ring is empty, and the adapter gets the cut-off's toggle.
func TestResize(t *testing.T) {
	f := newFake(t, thor2, 0)
	c := f.newCQ(t, 3)
	q := f.newQP(t, rc(c))
	a := adapter{q: c}
	send := func(id uint64) {
		t.Helper()
		postSends(t, q, provider.SendSignaled, id)
		a.sent(q, uint64(q.send.next), 0)
	}
	send(1)
	poll(t, c, provider.Completion{ID: 1, QPN: 0x23})
	send(2)
	var in uapi.BNXTResizeCQReq
	resize := func(b []byte) (uint32, error) { in = uapi.Decode[uapi.BNXTResizeCQReq](b); return 0, f.err }
	if err := c.Resize(100, resize); err != nil || in.CQVA != c.resized.Addr() {
		t.Fatalf("got error %v and ring %#x", err, in.CQVA)
	}
	if err := c.Resize(200, resize); !errors.Is(err, unix.EBUSY) {
		t.Errorf("second change: got error %v, want %v", err, unix.EBUSY)
	}
	send(3)
	poll(t, c, provider.Completion{ID: 2, QPN: 0x23}, provider.Completion{ID: 3, QPN: 0x23})
	if len(f.polled) != 0 || c.resized == nil {
		t.Fatalf("got %v polled before the cut-off", f.polled)
	}
	a.put(entry{3: 3<<cqeToggle | typeCutoff<<cqeType})
	ring := view[entry](c.resized, 0, c.entries)
	a = adapter{q: &cq{ring: ring}}
	send(4)
	f.bell()
	poll(t, c, provider.Completion{ID: 4, QPN: 0x23})
	if want := bellOf(bellCQCutoff, 0x23, 1<<bellEpoch|3<<bellToggle); f.bell() != want {
		t.Errorf("got another doorbell than %#x", want)
	}
	if !slices.Equal(f.polled, []uint32{77}) || len(c.ring) != 256 || c.head != 1 {
		t.Errorf("got %v polled and entry %d of %d, want 77, 1 and 256", f.polled, c.head, len(c.ring))
	}
	f.err = errors.New("refused")
	if err := c.Resize(3, resize); !errors.Is(err, f.err) || c.resized != nil {
		t.Errorf("got error %v, want %v", err, f.err)
	}
	if err := c.Resize(1<<16, resize); !errors.Is(err, unix.EINVAL) {
		t.Errorf("too large: got error %v, want %v", err, unix.EINVAL)
	}
	f.err = nil
	if err := errors.Join(c.Resize(3, resize), q.Close(), c.Close()); err != nil {
		t.Errorf("Close during a change: got error %v", err)
	}
}
