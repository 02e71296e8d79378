package perf

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
)

// talks returns two ends of a talk; of the second only the connection.
func talks(t *testing.T) (*talk, net.Conn) {
	t.Helper()
	a, b := testenv.Pair(t)
	one := newTalk("client", a)
	t.Cleanup(func() { one.close() })
	return one, b
}

// What is not the message awaited ends a test as a failure does, but is none.
func TestEarly(t *testing.T) {
	one, other := talks(t)
	if err := (message{Started: &struct{}{}}).write(other); err != nil {
		t.Fatal(err)
	}
	s := &side{running: &running{sent: make(chan struct{}), done: make(chan struct{})}}
	if err := (&served{talk: one}).finish(t.Context(), s, &finish{}); !errors.Is(err, errMessage) {
		t.Error(err)
	}
}

// A side whose loops still run gives the other one as long as they have run so far.
func TestSlack(t *testing.T) {
	s := &side{running: &running{begun: time.Now().Add(-time.Hour)}}
	if s.slack() < time.Hour+answerTime {
		t.Error(s.slack())
	}
}

// Each side hears of the other one for as long as that is alive, and of nothing else
// than what it says.
func TestAlive(t *testing.T) {
	one, conn := talks(t)
	other := newTalk("server", conn)
	defer other.close()
	const every, within = time.Millisecond, 10 * time.Second
	stopOne, stopOther := one.alive(every, within), other.alive(every, within)
	if err := one.send(message{Failure: "no"}); err != nil {
		t.Fatal(err)
	}
	var failure *PeerError
	if m, err := other.next(t.Context(), within); !errors.As(err, &failure) || failure.Error() != "server: no" {
		t.Errorf("%+v, %v", m, err)
	}
	stopOne()
	stopOne()
	stopOther()
	// After it silence is nothing.
	if err := other.send(message{Started: &struct{}{}}); err != nil {
		t.Fatal(err)
	}
	if m, err := one.next(t.Context(), within); err != nil || m.Started == nil {
		t.Errorf("%+v, %v", m, err)
	}
}

// A side that is there, but says nothing, is given up; one that says anything is
// not.
func TestSilent(t *testing.T) {
	one, other := talks(t)
	go io.Copy(io.Discard, other)
	defer one.alive(time.Second, 50*time.Millisecond)()
	for range 5 {
		if err := (message{Alive: &struct{}{}}).write(other); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := one.next(t.Context(), time.Minute); !errors.Is(err, errSilent) {
		t.Errorf("%+v, %v", m, err)
	}
	one, other = talks(t)
	stop := one.alive(time.Second, 50*time.Millisecond)
	stop()
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err := one.next(t.Context(), time.Minute); !errors.Is(err, errGone) {
		t.Errorf("%+v, %v", m, err)
	}
}
