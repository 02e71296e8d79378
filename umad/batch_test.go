package umad_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// The ports that carry several messages per call.
var _, _ umad.BatchPort = (*umadtest.BatchPort)(nil), (*ibsim.Port)(nil)

// inBatchBubble runs a client test over a port that carries batches.
func inBatchBubble(t *testing.T, room int, test func(t *testing.T, p *umadtest.BatchPort, c *umad.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &umadtest.BatchPort{Port: newPort(time.Microsecond), Room: room}
		c := umad.NewClient(p, umad.ClientOptions{})
		test(t, p, c)
		checkIdle(t, c)
	})
}

func TestClient_Batch(t *testing.T) {
	tests := []struct {
		name            string
		room            int
		sends, receives []int
	}{
		// The window starts at 4 and doubles while all replies arrive.
		{"room for all", 0, []int{4, 8, 8}, []int{4, 8, 8}},
		{"room for some", 3, []int{3, 3, 3, 3, 3, 3, 2}, []int{3, 3, 3, 3, 3, 3, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBatchBubble(t, tt.room, func(t *testing.T, p *umadtest.BatchPort, c *umad.Client) {
				o := submit(c, 20)
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i := range o {
					if o[i].calls != 1 || o[i].err != nil || o[i].reply.MAD == nil {
						t.Errorf("request %d: got %+v, want one reply", i, o[i])
					}
				}
				if !slices.Equal(p.Sends, tt.sends) {
					t.Errorf("messages per send: got %v, want %v", p.Sends, tt.sends)
				}
				if !slices.Equal(p.Receives, tt.receives) {
					t.Errorf("messages per receive: got %v, want %v", p.Receives, tt.receives)
				}
				for i, m := range p.Sent() {
					if m.MAD.Modifier() != uint32(i) {
						t.Errorf("message %d: got modifier %d, want the order of submission", i, m.MAD.Modifier())
					}
				}
			})
		})
	}
}

// A message that the port refuses, or that cannot be built, ends its own request
// and no other request in the batch.
func TestClient_BatchRefused(t *testing.T) {
	inBatchBubble(t, 0, func(t *testing.T, p *umadtest.BatchPort, c *umad.Client) {
		refused := errors.New("refused")
		calls := 0
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			if calls++; calls == 2 {
				return refused
			}
			p.Deliver(0, umadtest.Reply(m))
			return nil
		}
		var o [5]outcome
		for i := range o {
			r := o[i].request(uint32(i))
			if i == 3 {
				r.Data = make([]byte, mad.Size)
			}
			c.Submit(r)
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range o {
			fails := i == 1 || i == 3
			if o[i].calls != 1 || (o[i].err != nil) != fails {
				t.Errorf("request %d: got %d calls, error %v, want an error: %t", i, o[i].calls, o[i].err, fails)
			}
		}
		if !errors.Is(o[1].err, refused) {
			t.Errorf("request 1: got error %v, want %v", o[1].err, refused)
		}
	})
}

// A port that breaks in mid-batch ends all requests.
func TestClient_BatchBroken(t *testing.T) {
	inBatchBubble(t, 0, func(t *testing.T, p *umadtest.BatchPort, c *umad.Client) {
		calls := 0
		p.OnSend = func(*umadtest.Port, umad.Message) error {
			if calls++; calls > 2 {
				return umad.ErrDeviceRemoved
			}
			return nil
		}
		o := submit(c, 5)
		if err := c.Run(t.Context()); !errors.Is(err, umad.ErrDeviceRemoved) {
			t.Fatalf("Run: got error %v, want %v", err, umad.ErrDeviceRemoved)
		}
		for i := range o {
			if o[i].calls != 1 || !errors.Is(o[i].err, umad.ErrDeviceRemoved) {
				t.Errorf("request %d: got %d calls, error %v, want %v", i, o[i].calls, o[i].err, umad.ErrDeviceRemoved)
			}
		}
	})
}
