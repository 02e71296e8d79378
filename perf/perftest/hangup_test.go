package perftest

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
)

// Who hangs up is noticed, and what somebody says is left to be read.
func TestGuard(t *testing.T) {
	client, other := testenv.Pair(t)
	c := NewConn(client, true, time.Minute)
	ended := make(chan struct{})
	end := func() { close(ended) }
	if c.guard(end).stop() {
		t.Error("nobody has hung up")
	}
	g := c.guard(end)
	if _, err := other.Write([]byte{0, 0, 0, 9}); err != nil {
		t.Fatal(err)
	}
	<-g.done // it has seen that
	if g.stop() {
		t.Error("nobody has hung up")
	}
	if n, err := c.number("numbers", 7); n != 9 || err != nil {
		t.Errorf("number %d, %v", n, err)
	}
	g = c.guard(end)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if !g.stop() {
		t.Error("who hung up was not seen")
	}
	// Abort lasts.
	if err := c.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.number("numbers", 7); !errors.Is(err, ErrSilent) {
		t.Errorf("after Abort: %v", err)
	}
}
