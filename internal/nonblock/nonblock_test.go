package nonblock

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
)

func pair(t *testing.T) (*Conn, *os.File) {
	t.Helper()
	here, there := testenv.SocketPair(t)
	c, err := New(here)
	if err != nil {
		t.Fatal(err)
	}
	return c, there
}

func TestSendReceive(t *testing.T) {
	c, peer := pair(t)
	if err := c.Send([]byte("request")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	if n, err := peer.Read(b); err != nil || string(b[:n]) != "request" {
		t.Fatalf("peer got %q, %v", b[:n], err)
	}
	go peer.Write([]byte("reply"))
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "reply" {
		t.Fatalf("got %q, %v", b[:n], err)
	}
}

func TestFull(t *testing.T) {
	c, _ := pair(t)
	message := bytes.Repeat([]byte{1}, 1024)
	for range 10000 {
		if err := c.Send(message); err != nil {
			if !errors.Is(err, unix.EAGAIN) {
				t.Errorf("got error %v", err)
			}
			return
		}
	}
	t.Error("the socket never filled up")
}

// A deadline ends the wait, and a later call waits again.
func TestDeadline(t *testing.T) {
	c, peer := pair(t)
	b := make([]byte, 64)
	for range 2 {
		if _, err := c.Receive(b, time.Now().Add(time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got error %v", err)
		}
	}
	go peer.Write([]byte("late"))
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "late" {
		t.Fatalf("got %q, %v", b[:n], err)
	}
}

// An interrupt ends one wait, whether it comes before or during it; what was
// there to be read is read first.
func TestInterrupt(t *testing.T) {
	c, peer := pair(t)
	b := make([]byte, 64)
	c.Interrupt()
	if _, err := peer.Write([]byte("early")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "early" {
		t.Fatalf("got %q, %v", b[:n], err)
	}
	if _, err := c.Receive(b, time.Time{}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got error %v", err)
	}
	go c.Interrupt()
	if _, err := c.Receive(b, time.Time{}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got error %v", err)
	}
	go peer.Write([]byte("after"))
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "after" {
		t.Fatalf("got %q, %v", b[:n], err)
	}
}

func TestNoAllocation(t *testing.T) {
	c, _ := pair(t)
	here, there := make([]byte, 64), []byte("x")
	if n := testing.AllocsPerRun(100, func() {
		_ = c.Send(there)
		_, _ = c.Receive(here, time.Unix(1, 0))
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
