package nonblock

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
)

func TestBatch(t *testing.T) { inBoth(t, testBatch) }

// testBatch sends three messages in a single call and receives two replies in a call with
// room for more.
func testBatch(t *testing.T, c *Conn, peer *os.File) {
	out := NewBatch(3, 4)
	for i := range out.Size() {
		copy(out.Buffer(i), fmt.Sprintf("out%d", i))
	}
	if n, err := c.SendBatch(out, 3); n != 3 || err != nil {
		t.Fatalf("SendBatch: got %d, %v, want 3 messages sent", n, err)
	}
	var got []string
	b := make([]byte, 64)
	for range 3 {
		n, err := peer.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(b[:n]))
	}
	if want := []string{"out0", "out1", "out2"}; !slices.Equal(got, want) {
		t.Errorf("peer received: got %q, want %q", got, want)
	}

	for _, text := range []string{"a", "reply"} {
		if _, err := peer.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	in := NewBatch(4, 8)
	n, err := c.ReceiveBatch(in, 4, time.Time{})
	if n != 2 || err != nil {
		t.Fatalf("ReceiveBatch: got %d, %v, want 2 messages", n, err)
	}
	for i, want := range []string{"a", "reply"} {
		if got := string(in.Message(i)); got != want {
			t.Errorf("message %d: got %q, want %q", i, got, want)
		}
	}
	if _, err := c.ReceiveBatch(in, 4, testenv.Soon()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("ReceiveBatch without a message: got error %v, want %v", err, os.ErrDeadlineExceeded)
	}
	go peer.Write([]byte("late"))
	if n, err := c.ReceiveBatch(in, 4, time.Time{}); n != 1 || err != nil || string(in.Message(0)) != "late" {
		t.Errorf("ReceiveBatch that waits: got %d, %v, %q, want 1 message %q", n, err, in.Message(0), "late")
	}
}

// If a batch exceeds the socket's room, the first messages are sent.
func TestSendBatch_Full(t *testing.T) {
	c, peer := pair(t)
	const size = 64
	out := NewBatch(size, 1024)
	sent := 0
	for range 1000 {
		n, err := c.SendBatch(out, size)
		sent += n
		if err == nil {
			continue
		}
		if !errors.Is(err, unix.EAGAIN) {
			t.Fatalf("SendBatch: got error %v, want %v", err, unix.EAGAIN)
		}
		b := make([]byte, 2048)
		for range sent {
			if n, err := peer.Read(b); n != 1024 || err != nil {
				t.Fatalf("read: got %d, %v, want the 1024 bytes of a message", n, err)
			}
		}
		return
	}
	t.Errorf("sent %d messages and the socket never filled up", sent)
}

func TestBatch_NoAllocation(t *testing.T) { inBoth(t, testBatchNoAllocation) }

func testBatchNoAllocation(t *testing.T, c *Conn, _ *os.File) {
	out, in := NewBatch(2, 8), NewBatch(2, 8)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = c.SendBatch(out, 2)
		_, _ = c.ReceiveBatch(in, 2, time.Unix(1, 0))
	}); n > 0 {
		t.Errorf("got %v allocations per call, want 0", n)
	}
}
