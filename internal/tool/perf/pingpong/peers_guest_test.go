//go:build inguest

package pingpong

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/verbs"
)

// A peer is a program of Debian and its test.
type peer struct {
	program string
	args    []string
	test    Test
}

// peers returns the programs, with each option that must be equal on both sides.
func peers() []peer {
	base := Test{Type: verbs.QPTypeRC, Size: 4096, Iterations: 300, RxDepth: 100, MTU: 3, Verify: true, PeerTimeout: time.Minute}
	with := func(change func(*Test)) Test {
		t := base
		change(&t)
		return t
	}
	return testenv.Cases([]peer{
		{"ibv_rc_pingpong", []string{"-c"}, with(func(t *Test) { t.Size, t.MTU, t.Iterations = 100_001, 1, 40 })},
		{"ibv_rc_pingpong", []string{"-e"}, with(func(t *Test) { t.Events, t.Size = true, 1 })},
		{"ibv_uc_pingpong", nil, with(func(t *Test) { t.Type = verbs.QPTypeUC })},
		{"ibv_ud_pingpong", nil, with(func(t *Test) { t.Type, t.Size = verbs.QPTypeUD, 1024 })},
		{"ibv_srq_pingpong", []string{"-q", "8"}, with(func(t *Test) { t.Shared, t.Iterations, t.Verify = 8, 1000, false })},
	},
		peer{"ibv_rc_pingpong", nil, base},
		peer{"ibv_ud_pingpong", []string{"-e"}, with(func(t *Test) { t.Type, t.Size, t.Events = verbs.QPTypeUD, 64, true })},
		peer{"ibv_srq_pingpong", []string{"-q", "1"}, with(func(t *Test) { t.Shared = 1 })},
	)
}

// place returns the port of the guest with the GID of its IPv4 address.
func place(t *testing.T) Place {
	t.Helper()
	c, err := verbs.Open("rxe0", "/dev/infiniband/uverbs0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	gids, err := c.GIDTable()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gids {
		if g.Type == verbs.GIDTypeRoCEv2 && g.GID.Is4In6() {
			return Place{Context: c, Port: 1, GIDIndex: int(g.Index)}
		}
	}
	t.Fatalf("got GIDs %v, want one of an IPv4 address", gids)
	return Place{}
}

// command returns the program as a server, or as a client of a local port.
func (p peer) command(t *testing.T, at Place, tcp int, client bool) (*exec.Cmd, *bytes.Buffer) {
	args := []string{
		"-d", "rxe0", "-g", strconv.Itoa(at.GIDIndex), "-p", strconv.Itoa(tcp),
		"-s", strconv.Itoa(p.test.Size), "-n", strconv.Itoa(p.test.Iterations), "-r", strconv.Itoa(p.test.RxDepth),
	}
	if p.test.Type != verbs.QPTypeUD {
		args = append(args, "-m", p.test.MTU.String())
	}
	args = append(args, p.args...)
	if client {
		args = append(args, "127.0.0.1")
	}
	cmd := exec.CommandContext(t.Context(), p.program, args...)
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// check compares the results of both sides.
func (p peer) check(t *testing.T, r Result, err error, theirs error, out *bytes.Buffer) {
	t.Helper()
	switch {
	case err != nil || theirs != nil:
		t.Errorf("%v; %s: %v\n%s", err, p.program, theirs, out)
	case r.Iterations < p.test.Iterations || r.Corrupt != 0 || r.Elapsed <= 0:
		t.Errorf("got %+v, want %d iterations", r, p.test.Iterations)
	case len(r.local) != p.test.qps() || !r.Connected || !strings.Contains(out.String(), fmt.Sprintf("remote address: LID 0x%04x, QPN 0x%06x, PSN 0x%06x", r.local[0].LID, r.local[0].QPN, r.local[0].PSN)):
		t.Errorf("the program did not receive records %+v:\n%s", r.local, out)
	// Several queue pairs may be sending their last messages when the count is reached.
	case p.test.Shared < 2 && !strings.Contains(out.String(), fmt.Sprintf("%d bytes in", r.Bytes)):
		t.Errorf("got %d bytes, want as many as in\n%s", r.Bytes, out)
	}
}

func (p peer) String() string { return strings.Join(append([]string{p.program}, p.args...), " ") }

func TestGuestClient(t *testing.T) {
	at := place(t)
	for i, p := range peers() {
		t.Run(p.String(), func(t *testing.T) {
			tcp := 18600 + i
			server, out := p.command(t, at, tcp, false)
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			samples := 0
			p.test.Sample = func(d time.Duration) {
				if d > 0 {
					samples++
				}
			}
			conn := testenv.Dial(t, tcp)
			defer conn.Close()
			r, err := Run(t.Context(), over(conn), true, at, p.test)
			if err != nil {
				server.Process.Kill()
			}
			p.check(t, r, err, server.Wait(), out)
			if err == nil && samples < p.test.Iterations {
				t.Errorf("got %d samples, want at least %d", samples, p.test.Iterations)
			}
		})
	}
}

func TestGuestServer(t *testing.T) {
	at := place(t)
	for _, p := range peers() {
		t.Run(p.String(), func(t *testing.T) {
			l := testenv.Listen(t)
			client, out := p.command(t, at, l.Addr().(*net.TCPAddr).Port, true)
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			r, err := Run(t.Context(), over(conn), false, at, p.test)
			if err != nil {
				client.Process.Kill()
			}
			p.check(t, r, err, client.Wait(), out)
		})
	}
}

// TestGuestMismatch runs against a program with other settings and against a killed
// program, and cancels tests. Each must end in time.
func TestGuestMismatch(t *testing.T) {
	at := place(t)
	p := peers()[0]
	start := func(t *testing.T, tcp int, change func(*peer)) (*exec.Cmd, net.Conn) {
		t.Helper()
		other := p
		change(&other)
		server, _ := other.command(t, at, tcp, false)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Process.Kill(); server.Wait() })
		return server, testenv.Dial(t, tcp)
	}
	t.Run("fewer iterations", func(t *testing.T) {
		_, conn := start(t, 18700, func(o *peer) { o.test.Iterations = 10 })
		test := p.test
		test.PeerTimeout = time.Second
		// The queue pair of the program ends with it and sends no acknowledgements.
		r, err := Run(t.Context(), over(conn), true, at, test)
		var failed *verbs.CompletionError
		if !errors.Is(err, loop.ErrStalled) && !errors.As(err, &failed) || r.Iterations < 10 || r.Iterations > 11 {
			t.Errorf("got %d messages and %v, want 10 or 11 and %v", r.Iterations, err, loop.ErrStalled)
		}
		t.Log(err)
	})
	for name, events := range map[string]bool{"killed, polling": false, "killed, events": true} {
		t.Run(name, func(t *testing.T) {
			server, conn := start(t, 18701, func(o *peer) { o.test.Iterations = 1 << 30 })
			test := p.test
			test.Iterations, test.PeerTimeout, test.Events = 1<<30, 10*time.Second, events
			n := 0
			test.Sample = func(time.Duration) {
				if n++; n == 50 {
					server.Process.Kill()
				}
			}
			r, err := Run(t.Context(), over(conn), true, at, test)
			var failed *verbs.CompletionError
			if !errors.Is(err, loop.ErrStalled) && !errors.As(err, &failed) || r.Iterations < 49 {
				t.Errorf("got %d messages and %v, want at least 49 and %v", r.Iterations, err, loop.ErrStalled)
			}
			t.Log(err)
		})
		t.Run("cancelled "+name, func(t *testing.T) {
			_, conn := start(t, 18702, func(o *peer) { o.test.Iterations = 1 << 30 })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			test := p.test
			test.Iterations, test.Events = 1<<30, events
			n := 0
			test.Sample = func(time.Duration) {
				if n++; n == 50 {
					cancel()
				}
			}
			r, err := Run(ctx, over(conn), true, at, test)
			if !errors.Is(err, context.Canceled) || r.Iterations < 49 {
				t.Errorf("got %d messages and %v, want at least 49 and %v", r.Iterations, err, context.Canceled)
			}
		})
	}
}

// over returns a connection that exists.
func over(conn net.Conn) func(context.Context) (net.Conn, error) {
	return func(context.Context) (net.Conn, error) { return conn, nil }
}
