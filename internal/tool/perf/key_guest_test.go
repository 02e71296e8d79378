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
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// between forwards a client's and a server's messages through two functions, and
// returns its address.
func between(t *testing.T, server string, requests, answers func(to io.Writer, from io.Reader) error) string {
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
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = requests(conn, client) // until either side closes its connection
			conn.(*net.TCPConn).CloseWrite()
		}()
		_ = answers(client, conn)
		client.(*net.TCPConn).CloseWrite()
		<-ended
	}()
	return l.Addr().String()
}

// wrong is the difference in a changed key.
const wrong = 0x5a00

func same(to io.Writer, from io.Reader) error {
	_, err := io.Copy(to, from)
	return err
}

// messages forwards changed messages.
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

// denied checks that an error is a completion with the wrong-key status.
func denied(t *testing.T, name string, err error, byServer bool) {
	t.Helper()
	text := fmt.Sprint(err)
	var failed *verbs.CompletionError
	switch {
	case !strings.Contains(text, "remote access error (status 10)") || !strings.Contains(text, "RKey"),
		strings.Contains(text, "server: ") != byServer,
		!byServer && (!errors.As(err, &failed) || failed.Status != verbs.StatusRemoteAccess):
		t.Errorf("%s: got %s, want a remote access error", name, text)
	}
	t.Logf("%s: %s", name, text)
}

// TestGuestWrongKey changes a key on its way. The side that uses it must be denied
// access, and the server must continue.
func TestGuestWrongKey(t *testing.T) {
	server := startServer(t, nil)
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
		op                Op
		kind              Kind
		events, both      bool
		byServer          bool
		requests, answers func(io.Writer, io.Reader) error
	}{
		{op: Write, kind: Latency, requests: same, answers: theirs}, {op: Read, kind: Latency, events: true, requests: same, answers: theirs},
		{op: FetchAdd, kind: Bandwidth, requests: same, answers: theirs}, {op: Write, kind: Bandwidth, events: true, requests: same, answers: theirs},
		{op: Write, kind: Latency, byServer: true, requests: ours, answers: same},
		{op: Read, kind: Bandwidth, both: true, byServer: true, requests: ours, answers: same},
	} {
		test := NewTest(c.op, c.kind, RC, 64)
		test.Iterations, test.Warmup, test.Duration, test.Events, test.Bidirectional = 0, 0, time.Minute, c.events, c.both
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		_, err := Run(ctx, Options{Server: between(t, server, c.requests, c.answers), Tests: []Test{test}, Identity: host.NewIdentity("client"), GIDIndex: -1})
		denied(t, test.String(), err, c.byServer)
	}
	test := NewTest(Write, Latency, RC, 64)
	if _, err := Run(t.Context(), Options{Server: server, Tests: []Test{test}, Identity: host.NewIdentity("client"), GIDIndex: -1}); err != nil {
		t.Errorf("next test: got %v, want none", err)
	}
}

// TestGuestWrongPerftestKey is the same test with the perftest protocol.
func TestGuestWrongPerftestKey(t *testing.T) {
	for _, one := range []struct {
		op   Op
		kind Kind
	}{{Write, Bandwidth}, {Read, Bandwidth}, {Write, Latency}} {
		t.Run(fmt.Sprint(one.op), func(t *testing.T) {
			l := testenv.Listen(t)
			test := NewTest(one.op, one.kind, RC, 64)
			test.Iterations = 100000
			options := Options{Tests: []Test{test}, Identity: host.NewIdentity("side"), GIDIndex: -1}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			served := make(chan error, 1)
			go func() {
				_, err := RunPeer(ctx, PeerOptions{Options: options, Program: Perftest, Listen: func(context.Context) (net.Listener, error) { return l, nil }})
				served <- err
			}()
			options.Server = between(t, l.Addr().String(), same, otherKey)
			_, err := RunPeer(ctx, PeerOptions{Options: options, Program: Perftest})
			denied(t, test.String(), err, false)
			// The denial ends the server's queue pair, with the write that is under way.
			var failed *verbs.CompletionError
			err = <-served
			if flushed := errors.As(err, &failed) && failed.Status == verbs.StatusFlushed; !flushed && !errors.Is(err, peererr.ErrClosed) {
				t.Errorf("server: got %v, want %v or a flushed write", err, peererr.ErrClosed)
			}
			l.Close()
		})
	}
}

// otherKey forwards a write or read server's messages with changed keys.
func otherKey(to io.Writer, from io.Reader) error {
	const begin = 16 + 4 + 4 + 2 // version, page size, cache line, MTU
	if _, err := io.CopyN(to, from, begin); err != nil {
		return err
	}
	// The keys are the queue pair's key and, in latency tests, a key from a
	// synchronization before it.
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
