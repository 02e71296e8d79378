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

// inBoth runs a test once with Go's poller and once with a waiting thread.
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
	local, remote := testenv.SocketPair(t)
	c, err := New(local)
	if err != nil {
		t.Fatal(err)
	}
	return c, remote
}

func TestSendReceive(t *testing.T) { inBoth(t, testSendReceive) }

func testSendReceive(t *testing.T, c *Conn, peer *os.File) {
	if err := c.Send([]byte("request")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	if n, err := peer.Read(b); err != nil || string(b[:n]) != "request" {
		t.Fatalf("peer: got %q, error %v, want request", b[:n], err)
	}
	go peer.Write([]byte("reply"))
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "reply" {
		t.Fatalf("got %q, error %v, want reply", b[:n], err)
	}
}

func TestFull(t *testing.T) {
	c, _ := pair(t)
	message := bytes.Repeat([]byte{1}, 1024)
	for range 10000 {
		if err := c.Send(message); err != nil {
			if !errors.Is(err, unix.EAGAIN) {
				t.Errorf("got error %v, want %v", err, unix.EAGAIN)
			}
			return
		}
	}
	t.Errorf("got no error after 10000 messages, want %v", unix.EAGAIN)
}

// A deadline ends a single wait; a later call waits again.
func TestDeadline(t *testing.T) { inBoth(t, testDeadline) }

func testDeadline(t *testing.T, c *Conn, peer *os.File) {
	b := make([]byte, 64)
	for range 2 {
		if _, err := c.Receive(b, testenv.Soon()); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got error %v, want %v", err, os.ErrDeadlineExceeded)
		}
	}
	go peer.Write([]byte("late"))
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "late" {
		t.Fatalf("got %q, error %v, want late", b[:n], err)
	}
}

// An interrupt before or during a wait ends a single wait. Messages that have arrived
// are read first.
func TestInterrupt(t *testing.T) { inBoth(t, testInterrupt) }

func testInterrupt(t *testing.T, c *Conn, peer *os.File) {
	b := make([]byte, 64)
	c.Interrupt()
	if _, err := peer.Write([]byte("early")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "early" {
		t.Fatalf("got %q, error %v, want early", b[:n], err)
	}
	if _, err := c.Receive(b, time.Time{}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got error %v, want %v", err, os.ErrDeadlineExceeded)
	}
	go c.Interrupt()
	if _, err := c.Receive(b, time.Time{}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got error %v, want %v", err, os.ErrDeadlineExceeded)
	}
	go peer.Write([]byte("after"))
	if n, err := c.Receive(b, time.Time{}); err != nil || string(b[:n]) != "after" {
		t.Fatalf("got %q, error %v, want after", b[:n], err)
	}
}

// Interrupts without a wait, however many, end the next wait.
func TestInterrupt_Many(t *testing.T) {
	inBoth(t, func(t *testing.T, c *Conn, _ *os.File) {
		for range 1000 {
			c.Interrupt()
		}
		if _, err := c.Receive(make([]byte, 64), time.Time{}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got error %v, want %v", err, os.ErrDeadlineExceeded)
		}
	})
}

func TestNoAllocation(t *testing.T) { inBoth(t, testNoAllocation) }

func testNoAllocation(t *testing.T, c *Conn, _ *os.File) {
	in, out := make([]byte, 64), []byte("x")
	if n := testing.AllocsPerRun(100, func() {
		_ = c.Send(out)
		_, _ = c.Receive(in, time.Unix(1, 0))
	}); n > 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// BenchmarkRoundTrip exchanges messages with a thread.
func BenchmarkRoundTrip(b *testing.B) {
	for _, thread := range []bool{false, true} {
		b.Run(map[bool]string{false: "poller", true: "thread"}[thread], func(b *testing.B) {
			local, remote := testenv.SocketPair(b)
			c, err := New(local)
			if err != nil {
				b.Fatal(err)
			}
			if thread {
				if err := c.WaitInThread(); err != nil {
					b.Fatal(err)
				}
			}
			fd := int(remote.Fd())
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
			local.Close()
		})
	}
}

// TestReceive_Reads checks the read count per message: 1 if the message has arrived, and 2
// if the caller waits for it.
func TestReceive_Reads(t *testing.T) {
	tests := []struct {
		name  string
		waits bool
		want  int
	}{
		{"message has arrived", false, 1},
		{"message arrives later", true, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBoth(t, func(t *testing.T, c *Conn, peer *os.File) {
				got := 0
				read := c.read
				c.read = func(fd uintptr) { got++; read(fd) }
				write := func() { _, _ = peer.Write([]byte("message")) }
				if tt.waits {
					c.read = func(fd uintptr) { // the first read finds nothing
						got++
						read(fd)
						if got == 1 {
							write()
						}
					}
				} else {
					write()
				}
				if _, err := c.Receive(make([]byte, 64), time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				if got != tt.want {
					t.Errorf("reads: got %d, want %d", got, tt.want)
				}
			})
		})
	}
}
