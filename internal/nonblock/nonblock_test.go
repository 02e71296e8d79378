package nonblock

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
)

// inBoth runs a test with Go's poller and with a thread that waits.
func inBoth(t *testing.T, test func(t *testing.T, c *Conn, peer *os.File)) {
	t.Run("poller", func(t *testing.T) {
		c, peer := pair(t)
		test(t, c, peer)
	})
	t.Run("thread", func(t *testing.T) {
		c, peer := pair(t)
		for range 2 {
			if err := c.WaitInThread(); err != nil {
				t.Fatal(err)
			}
		}
		test(t, c, peer)
		if err := c.Release(); err != nil {
			t.Error(err)
		}
		c.Interrupt()
	})
}

func pair(t *testing.T) (*Conn, *os.File) {
	t.Helper()
	here, there := testenv.SocketPair(t)
	c, err := New(here)
	if err != nil {
		t.Fatal(err)
	}
	return c, there
}

func TestSendReceive(t *testing.T) { inBoth(t, testSendReceive) }

func testSendReceive(t *testing.T, c *Conn, peer *os.File) {
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
func TestDeadline(t *testing.T) { inBoth(t, testDeadline) }

func testDeadline(t *testing.T, c *Conn, peer *os.File) {
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
func TestInterrupt(t *testing.T) { inBoth(t, testInterrupt) }

func testInterrupt(t *testing.T, c *Conn, peer *os.File) {
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

func TestNoAllocation(t *testing.T) { inBoth(t, testNoAllocation) }

func testNoAllocation(t *testing.T, c *Conn, _ *os.File) {
	here, there := make([]byte, 64), []byte("x")
	if n := testing.AllocsPerRun(100, func() {
		_ = c.Send(there)
		_, _ = c.Receive(here, time.Unix(1, 0))
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRoundTrip sends a message to a thread that sends it back.
func BenchmarkRoundTrip(b *testing.B) {
	for _, thread := range []bool{false, true} {
		b.Run(map[bool]string{false: "poller", true: "thread"}[thread], func(b *testing.B) {
			here, there := testenv.SocketPair(b)
			c, err := New(here)
			if err != nil {
				b.Fatal(err)
			}
			if thread {
				if err := c.WaitInThread(); err != nil {
					b.Fatal(err)
				}
			}
			fd := int(there.Fd())
			if err := unix.SetNonblock(fd, false); err != nil {
				b.Fatal(err)
			}
			go func() {
				runtime.LockOSThread()
				message := make([]byte, 512)
				for {
					n, err := unix.Read(fd, message)
					if err != nil || n == 0 {
						return
					}
					_, _ = unix.Write(fd, message[:n])
				}
			}()
			message := make([]byte, 320)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Send(message); err != nil {
					b.Fatal(err)
				}
				if _, err := c.Receive(message, time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
			here.Close()
		})
	}
}

// TestReceive_Reads checks how many reads a message takes: one if it is there,
// and one more if the caller has to wait for it.
func TestReceive_Reads(t *testing.T) {
	tests := []struct {
		name  string
		waits bool
		want  int
	}{
		{"message there", false, 1},
		{"message to come", true, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, c *Conn, peer *os.File) {
				got := 0
				read := c.read
				c.read = func(fd uintptr) { got++; read(fd) }
				write := func() { _, _ = peer.Write([]byte("message")) }
				if tt.waits {
					time.AfterFunc(20*time.Millisecond, write)
				} else {
					write()
				}
				if _, err := c.Receive(make([]byte, 64), time.Now().Add(10*time.Second)); err != nil {
					t.Fatal(err)
				}
				if got != tt.want {
					t.Errorf("reads: got %d, want %d", got, tt.want)
				}
			})
		})
	}
}
