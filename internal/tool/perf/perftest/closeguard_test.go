package perftest

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
)

// TestCloseGuard checks that a closed connection is detected and that data stays
// unread.
func TestCloseGuard(t *testing.T) {
	client, other := testenv.Pair(t)
	c := newConn(client, true, time.Minute)
	ended := make(chan struct{})
	end := func() { close(ended) }
	if err := c.guard(0, guardMode{}, end).stop(); err != nil {
		t.Errorf("open connection: got %v, want no reason", err)
	}
	g := c.guard(0, guardMode{}, end)
	if _, err := other.Write([]byte{0, 0, 0, 9}); err != nil {
		t.Fatal(err)
	}
	<-g.done
	if err := g.stop(); !errors.Is(err, errFinished) {
		t.Errorf("open connection with data: got %v, want %v", err, errFinished)
	}
	if n, err := c.number("numbers", 7); n != 9 || err != nil {
		t.Errorf("got number %d, %v, want 9", n, err)
	}
	g = c.guard(0, guardMode{}, end)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if err := g.stop(); !errors.Is(err, peererr.ErrClosed) {
		t.Errorf("closed connection: got %v, want %v", err, peererr.ErrClosed)
	}
	// An abort lasts.
	if err := c.abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.number("numbers", 7); !errors.Is(err, peererr.ErrTimeout) {
		t.Errorf("after an abort: got %v, want %v", err, peererr.ErrTimeout)
	}
}

// TestCloseGuard_passive checks that the early message of a passive client is not the end
// of its test, and that its close is detected behind the message.
func TestCloseGuard_passive(t *testing.T) {
	server, client := testenv.Pair(t)
	c := newConn(server, false, time.Minute)
	if _, err := client.Write([]byte{0, 0, 0, 9}); err != nil {
		t.Fatal(err)
	}
	mode := guardMode{passive: true}
	ended := make(chan struct{})
	if err := c.guard(0, mode, func() { close(ended) }).stop(); err != nil {
		t.Errorf("got %v, want no reason", err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	g := c.guard(0, mode, func() { close(ended) })
	<-ended
	if err := g.stop(); !errors.Is(err, peererr.ErrClosed) {
		t.Errorf("closed connection: got %v, want %v", err, peererr.ErrClosed)
	}
	if n, err := c.number("numbers", 7); n != 9 || err != nil {
		t.Errorf("got number %d, %v, want 9", n, err)
	}
}
