//go:build inguest

package perf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// between passes on what a client and a server say, by way of two functions, and
// returns where it listens.
func between(t *testing.T, server string, asks, answers func(to io.Writer, from io.Reader) error) string {
	t.Helper()
	l := testenv.Listen(t)
	done := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	go func() {
		defer close(done)
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		conn, err := net.Dial("tcp", server)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			_ = asks(conn, client) // until one of them hangs up
			conn.(*net.TCPConn).CloseWrite()
		}()
		_ = answers(client, conn)
		client.(*net.TCPConn).CloseWrite()
		<-asked
	}()
	return l.Addr().String()
}

// wrong is changed in a key.
const wrong = 0x5a00

func same(to io.Writer, from io.Reader) error {
	_, err := io.Copy(to, from)
	return err
}

// messages passes messages on, changed.
func messages(change func(*message)) func(io.Writer, io.Reader) error {
	return func(to io.Writer, from io.Reader) error {
		for {
			m, err := readMessage(from)
			if err != nil {
				return err
			}
			change(&m)
			if err := m.write(to); err != nil {
				return err
			}
		}
	}
}

// denied checks that an error is a completion with the status that a wrong key has,
// in words.
func denied(t *testing.T, name string, err error, byServer bool) {
	t.Helper()
	text := fmt.Sprint(err)
	var failed *verbs.CompletionError
	switch {
	case !strings.Contains(text, "remote access error (status 10)") || !strings.Contains(text, "RKey"),
		strings.Contains(text, "server: ") != byServer,
		!byServer && (!errors.As(err, &failed) || failed.Status != verbs.StatusRemoteAccess):
		t.Errorf("%s: %s", name, text)
	}
	t.Logf("%s: %s", name, text)
}

// TestGuestWrongKey has a key changed on the way: whoever uses it is denied it, and
// the server goes on.
func TestGuestWrongKey(t *testing.T) {
	server := serving(t, nil)
	theirs := messages(func(m *message) {
		if m.Prepared != nil {
			m.Prepared.QueuePairs[0].RKey ^= wrong
		}
	})
	ours := messages(func(m *message) {
		if m.Connect != nil {
			m.Connect.QueuePairs[0].RKey ^= wrong
		}
	})
	for _, c := range []struct {
		op            Op
		kind          Kind
		events, both  bool
		byServer      bool
		asks, answers func(io.Writer, io.Reader) error
	}{
		{op: Write, kind: Latency, asks: same, answers: theirs}, {op: Read, kind: Latency, events: true, asks: same, answers: theirs},
		{op: FetchAdd, kind: Bandwidth, asks: same, answers: theirs}, {op: Write, kind: Bandwidth, events: true, asks: same, answers: theirs},
		{op: Write, kind: Latency, byServer: true, asks: ours, answers: same},
		{op: Read, kind: Bandwidth, both: true, byServer: true, asks: ours, answers: same},
	} {
		test := NewTest(c.op, c.kind, RC, 64)
		test.Iterations, test.Warmup, test.Duration, test.Events, test.Bidirectional = 0, 0, time.Minute, c.events, c.both
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		_, err := Run(ctx, Options{Server: between(t, server, c.asks, c.answers), Tests: []Test{test}, Identity: NewIdentity("client"), GIDIndex: -1})
		denied(t, test.String(), err, c.byServer)
	}
	test := NewTest(Write, Latency, RC, 64)
	if _, err := Run(t.Context(), Options{Server: server, Tests: []Test{test}, Identity: NewIdentity("client"), GIDIndex: -1}); err != nil {
		t.Errorf("the next test: %v", err)
	}
}

// TestGuestWrongPerftestKey is the same where both sides talk as perftest does.
func TestGuestWrongPerftestKey(t *testing.T) {
	for _, one := range []struct {
		op   Op
		kind Kind
	}{{Write, Bandwidth}, {Read, Bandwidth}, {Write, Latency}} {
		l := testenv.Listen(t)
		test := NewTest(one.op, one.kind, RC, 64)
		test.Iterations = 100000
		options := Options{Tests: []Test{test}, Identity: NewIdentity("side"), GIDIndex: -1}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		served := make(chan error, 1)
		go func() {
			_, err := RunPeer(ctx, PeerOptions{Options: options, Program: Perftest, Listener: l})
			served <- err
		}()
		options.Server = between(t, l.Addr().String(), same, otherKey)
		_, err := RunPeer(ctx, PeerOptions{Options: options, Program: Perftest})
		denied(t, test.String(), err, false)
		if err := <-served; !errors.Is(err, perftest.ErrHungUp) {
			t.Errorf("the server: %v", err)
		}
		l.Close()
	}
}

// otherKey passes on what a server of a test of writes or reads says, with another
// key.
func otherKey(to io.Writer, from io.Reader) error {
	const begin = 16 + 4 + 4 + 2 // version, page size, cache line, MTU
	if _, err := io.CopyN(to, from, begin); err != nil {
		return err
	}
	// The first key that comes is that of the queue pair, or, of latency, a sync; the
	// second is another sync, or that of the queue pair.
	for range 2 {
		b := perftest.Key{GID: netip.IPv6Unspecified()}.Append(nil)
		if _, err := io.ReadFull(from, b); err != nil {
			return err
		}
		k, err := perftest.ParseKey(b, true)
		if err != nil {
			return err
		}
		k.RKey ^= wrong
		if _, err := to.Write(k.Append(nil)); err != nil {
			return err
		}
	}
	return same(to, from)
}
