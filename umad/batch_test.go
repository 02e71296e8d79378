package umad

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// batchTransport is a fakeTransport that accepts a limited number of messages per
// call and returns all replies that are due at once.
type batchTransport struct {
	*fakeTransport
	room    int // per call
	batches []int
	reads   []int
}

func (b *batchTransport) SendBatch(m []Message) (int, error) {
	for i := range m {
		if i == b.room {
			b.batches = append(b.batches, i)
			return i, ErrWouldBlock
		}
		if err := b.Send(&m[i]); err != nil {
			return i, err
		}
	}
	b.batches = append(b.batches, len(m))
	return len(m), nil
}

func (b *batchTransport) RecvBatch(m []Message, deadline time.Time) (int, error) {
	if err := b.Recv(&m[0], deadline); err != nil {
		return 0, err
	}
	n := 1
	for n < len(m) && len(b.arrivals) > 0 && !b.arrivals[0].at.After(b.now) && b.Recv(&m[n], deadline) == nil {
		n++
	}
	b.reads = append(b.reads, n)
	return n, nil
}

func newBatchFake(room int, o ClientOptions) (*batchTransport, *Client) {
	f, c := newFake(time.Microsecond, o)
	b := &batchTransport{fakeTransport: f, room: room}
	c.port = b
	return b, c
}

func TestClient_Batch(t *testing.T) {
	tests := []struct {
		name    string
		room    int
		batches []int
		reads   []int
	}{
		// The window starts at 4 and doubles while all replies arrive.
		{"room for all", 64, []int{4, 8, 8}, []int{4, 8, 8}},
		{"room for some", 3, []int{3, 3, 3, 3, 3, 3, 2}, []int{3, 3, 3, 3, 3, 3, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, c := newBatchFake(tt.room, ClientOptions{})
			var o [20]outcome
			for i := range o {
				c.Submit(o[i].request(uint32(i)))
			}
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range o {
				if o[i].calls != 1 || o[i].err != nil || o[i].reply.MAD == nil {
					t.Errorf("request %d: got %+v, want one reply", i, o[i])
				}
			}
			if !slices.Equal(b.batches, tt.batches) {
				t.Errorf("messages per send: got %v, want %v", b.batches, tt.batches)
			}
			if !slices.Equal(b.reads, tt.reads) {
				t.Errorf("messages per receive: got %v, want %v", b.reads, tt.reads)
			}
			for i, m := range b.sent {
				if m.MAD.Modifier() != uint32(i) {
					t.Errorf("message %d: got modifier %d, want the order of submission", i, m.MAD.Modifier())
				}
			}
			checkIdle(t, c)
		})
	}
}

// A message that a port refuses, or that cannot be built, ends its own request
// and no other one of the batch.
func TestClient_BatchRefused(t *testing.T) {
	refused := errors.New("refused")
	b, c := newBatchFake(64, ClientOptions{})
	calls := 0
	b.refuse = func() error {
		if calls++; calls == 2 {
			return refused
		}
		return nil
	}
	var o [5]outcome
	for i := range o {
		r := o[i].request(uint32(i))
		if i == 3 {
			r.Payload = make([]byte, mad.Size)
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
	checkIdle(t, c)
}

// A port that breaks in the middle of a batch ends all requests.
func TestClient_BatchBroken(t *testing.T) {
	b, c := newBatchFake(64, ClientOptions{})
	calls := 0
	b.refuse = func() error {
		if calls++; calls > 2 {
			return ErrDeviceRemoved
		}
		return nil
	}
	var o [5]outcome
	for i := range o {
		c.Submit(o[i].request(uint32(i)))
	}
	if err := c.Run(t.Context()); !errors.Is(err, ErrDeviceRemoved) {
		t.Fatalf("Run: got error %v, want %v", err, ErrDeviceRemoved)
	}
	for i := range o {
		if o[i].calls != 1 || !errors.Is(o[i].err, ErrDeviceRemoved) {
			t.Errorf("request %d: got %d calls, error %v, want %v", i, o[i].calls, o[i].err, ErrDeviceRemoved)
		}
	}
	checkIdle(t, c)
}
