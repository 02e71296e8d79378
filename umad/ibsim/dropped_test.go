package ibsim

import (
	"runtime"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/ibsimproto"
)

// A port that is dropped without Close gives its slot back.
func TestPort_Dropped(t *testing.T) {
	s := newFakeServer(t)
	if _, err := Open(t.Context(), Options{SockName: s.name}); err != nil {
		t.Fatal(err)
	}
	end := time.After(time.Minute)
	for {
		runtime.GC()
		select {
		case c := <-s.control:
			if c.Kind() != ibsimproto.Disconnect {
				continue
			}
			if c.Slot() != testSlot {
				t.Errorf("got the end of slot %d, want %d", c.Slot(), testSlot)
			}
			return
		case <-end:
			t.Fatal("got no request to disconnect")
		case <-time.After(time.Millisecond):
		}
	}
}
