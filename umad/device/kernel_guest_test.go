//go:build inguest

package device

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// openGuest opens a device's port, and counts the datagrams that it sends.
func openGuest(t *testing.T) (p *Port, sent func() int) {
	t.Helper()
	p, err := Open(Options{Device: "ibtest0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	count := func() int {
		b, err := os.ReadFile("/sys/class/infiniband/ibtest0/ports/1/hw_counters/mads_sent")
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	return p, func() int { return count() - before }
}

// unusedLID is a LID that no port has.
const unusedLID = 0xb000

func request(lid ib.LID, tid uint64, timeout time.Duration) *umad.Message {
	m := &umad.Message{Addr: umad.Addr{LID: lid}, Timeout: timeout}
	m.MAD.PutSMP(mad.SMPRequest{TID: tid, Method: mad.MethodGet, Attr: mad.AttrNodeInfo})
	return m
}

// TestGuestTimeout checks that the kernel sends a request once, and gives it
// back when its time is over, under its own agent's part of the transaction ID.
func TestGuestTimeout(t *testing.T) {
	p, sent := openGuest(t)
	const tid = 0x1122334455667788
	start := time.Now()
	if err := p.Send(request(unusedLID, tid, 200*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var m umad.Message
	if err := p.Recv(&m, start.Add(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	// An emulated kernel that lost timer interrupts catches up, so its timeouts are shorter.
	if m.Status != 110 || uint32(m.MAD.TID()) != tid&0xffffffff || took < 100*time.Millisecond {
		t.Errorf("status %d, TID %#x, after %v", m.Status, m.MAD.TID(), took)
	}
	t.Logf("a timeout of 200 ms took %v; TID %#x came back as %#x", took, uint64(tid), m.MAD.TID())
	// Now and then a datagram is the kernel's own, to subnet administration.
	const own = 2
	if n := sent(); n < 1 || n > 1+own {
		t.Errorf("%d datagrams were sent", n)
	}

	// The client's attempts are all there are.
	const attempts = 15
	before := sent()
	c := umad.NewClient(p, umad.ClientOptions{Timeout: 20 * time.Millisecond, Attempts: attempts})
	_, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: unusedLID}, Attr: mad.AttrNodeInfo})
	if n := sent() - before; !errors.Is(err, umad.ErrTimeout) || n < attempts || n > attempts+own {
		t.Errorf("%v after %d datagrams", err, n)
	}
}

// TestGuestOutstanding keeps more requests in flight on a single descriptor than the send
// queue has room for (128), and reads nothing meanwhile.
func TestGuestOutstanding(t *testing.T) {
	p, _ := openGuest(t)
	const many = 5000
	start := time.Now()
	for n := range many {
		if err := p.Send(request(unusedLID, uint64(n), 3*time.Second)); err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
	}
	t.Logf("%d requests were taken in %v", many, time.Since(start))
	// All are reported.
	seen := map[uint32]bool{}
	for range many {
		var m umad.Message
		if err := p.Recv(&m, time.Now().Add(30*time.Second)); err != nil {
			t.Fatalf("%v after %d", err, len(seen))
		}
		if m.Status != 110 {
			t.Fatalf("status %d", m.Status)
		}
		seen[uint32(m.MAD.TID())] = true
	}
	t.Logf("all %d came back after %v", len(seen), time.Since(start))
	if len(seen) != many {
		t.Errorf("%d of %d came back", len(seen), many)
	}
}

// TestGuestUnread leaves replies unread: the kernel keeps them, and replies that it had
// no receive request for time out.
func TestGuestUnread(t *testing.T) {
	p, _ := openGuest(t)
	const many = 5000
	for n := range many {
		if err := p.Send(request(p.Attr().LID, uint64(n), 2*time.Second)); err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
	}
	replies, lost := 0, 0
	for range many {
		var m umad.Message
		if err := p.Recv(&m, time.Now().Add(30*time.Second)); err != nil {
			t.Fatalf("%v after %d replies and %d timeouts", err, replies, lost)
		}
		if m.Status == 0 {
			replies++
		} else {
			lost++
		}
	}
	t.Logf("%d replies, %d timeouts", replies, lost)
}
