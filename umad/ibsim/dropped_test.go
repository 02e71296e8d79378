package ibsim

import (
	"runtime"
	"testing"

	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/internal/testenv"
)

// A port that is dropped without Close gives its slot back.
func TestPort_Dropped(t *testing.T) {
	s := newFakeServer(t)
	if _, err := Open(t.Context(), Options{SockName: s.name}); err != nil {
		t.Fatal(err)
	}
	testenv.Await(t, "request to disconnect", func() bool {
		runtime.GC()
		select {
		case c := <-s.control:
			if c.Kind() == ibsimproto.Disconnect && c.Slot() != testSlot {
				t.Errorf("got the end of slot %d, want %d", c.Slot(), testSlot)
			}
			return c.Kind() == ibsimproto.Disconnect
		default:
			return false
		}
	})
}
