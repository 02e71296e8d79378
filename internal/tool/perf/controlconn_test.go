package perf

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
)

// controlPair returns the server's end of a connection, and the raw other end.
func controlPair(t *testing.T) (*controlConn, net.Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { _ = b.Close() })
	c := newControlConn("client", a)
	t.Cleanup(func() { c.close() })
	return c, b
}

// TestSession_unexpectedMessage checks that an unexpected message ends a test with an
// error, even though it is not a failure.
func TestSession_unexpectedMessage(t *testing.T) {
	c, other := controlPair(t)
	if err := (message{Started: &struct{}{}}).write(other); err != nil {
		t.Fatal(err)
	}
	test := &endpointTest{runner: &runner{sent: make(chan struct{}), done: make(chan struct{})}}
	if err := (&session{controlConn: c}).finish(t.Context(), test, &finish{}); !errors.Is(err, errMessage) {
		t.Errorf("got %v, want %v", err, errMessage)
	}
}

// TestPeerTime checks that the peer has as much time as this side has taken.
func TestPeerTime(t *testing.T) {
	test := &endpointTest{runner: &runner{begun: time.Now().Add(-time.Hour)}}
	if got, want := test.peerTime(), time.Hour+responseTime; got < want {
		t.Errorf("got %v, want at least %v", got, want)
	}
}

// TestKeepalive checks that keepalive messages are not delivered, and that silence is
// no error after they have stopped.
func TestKeepalive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, conn := controlPair(t)
		other := newControlConn("server", conn)
		defer other.close()
		const interval, lifetime = time.Millisecond, 10 * time.Second
		stopOne, stopOther := one.keepalive(interval, lifetime), other.keepalive(interval, lifetime)
		if err := one.send(message{Failure: "no"}); err != nil {
			t.Fatal(err)
		}
		var failure *PeerError
		if m, err := other.next(t.Context(), lifetime); !errors.As(err, &failure) || failure.Error() != "server: no" {
			t.Errorf("failure of the server: got %+v, %v", m, err)
		}
		stopOne()
		stopOne()
		stopOther()
		if err := other.send(message{Started: &struct{}{}}); err != nil {
			t.Fatal(err)
		}
		if m, err := one.next(t.Context(), lifetime); err != nil || m.Started == nil {
			t.Errorf("message after keepalive: got %+v, %v", m, err)
		}
	})
}

// TestKeepalive_silentPeer checks that a silent peer is an error, and that any message
// extends its time.
func TestKeepalive_silentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := controlPair(t)
		go io.Copy(io.Discard, other)
		defer one.keepalive(time.Second, 50*time.Millisecond)()
		for range 5 {
			if err := (message{Alive: &struct{}{}}).write(other); err != nil {
				t.Fatal(err)
			}
		}
		if m, err := one.next(t.Context(), time.Minute); !errors.Is(err, peererr.ErrTimeout) {
			t.Errorf("got %+v, %v, want %v", m, err, peererr.ErrTimeout)
		}
	})
}

func TestControlConn_closed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, other := controlPair(t)
		stop := one.keepalive(time.Second, 50*time.Millisecond)
		stop()
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if m, err := one.next(t.Context(), time.Minute); !errors.Is(err, peererr.ErrClosed) {
			t.Errorf("got %+v, %v, want %v", m, err, peererr.ErrClosed)
		}
	})
}
