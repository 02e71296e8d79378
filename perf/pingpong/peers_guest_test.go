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
	"github.com/ibkit/ibkit/verbs"
)

// peer is a program of Debian's, and the test that it does.
type peer struct {
	program string
	args    []string
	test    Test
}

// peers are the programs, with each flag that matters to the other side.
func peers() []peer {
	base := Test{Type: verbs.QPTypeRC, Size: 4096, Iterations: 300, RxDepth: 100, MTU: 3, Verify: true, Silence: 20 * time.Second}
	with := func(change func(*Test)) Test {
		t := base
		change(&t)
		return t
	}
	return []peer{
		{"ibv_rc_pingpong", nil, base},
		{"ibv_rc_pingpong", []string{"-c"}, with(func(t *Test) { t.Size, t.MTU, t.Iterations = 100_001, 1, 40 })},
		{"ibv_rc_pingpong", []string{"-e"}, with(func(t *Test) { t.Events, t.Size = true, 1 })},
		{"ibv_uc_pingpong", nil, with(func(t *Test) { t.Type = verbs.QPTypeUC })},
		{"ibv_ud_pingpong", nil, with(func(t *Test) { t.Type, t.Size = verbs.QPTypeUD, 1024 })},
		{"ibv_ud_pingpong", []string{"-e"}, with(func(t *Test) { t.Type, t.Size, t.Events = verbs.QPTypeUD, 64, true })},
		{"ibv_srq_pingpong", []string{"-q", "1"}, with(func(t *Test) { t.Shared = 1 })},
		{"ibv_srq_pingpong", []string{"-q", "8"}, with(func(t *Test) { t.Shared, t.Iterations, t.Verify = 8, 1000, false })},
	}
}

// place is the port of the guest, with the GID of its IPv4 address.
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
	t.Fatalf("no GID of an IPv4 address among %v", gids)
	return Place{}
}

// command is a program of Debian's as server, or as client of one at this port.
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

// check looks at what both sides say of a test.
func (p peer) check(t *testing.T, r Result, err error, theirs error, out *bytes.Buffer) {
	t.Helper()
	switch {
	case err != nil || theirs != nil:
		t.Errorf("%v; %s: %v\n%s", err, p.program, theirs, out)
	case r.Iterations < p.test.Iterations || r.Corrupt != 0 || r.Elapsed <= 0:
		t.Errorf("%+v", r)
	case len(r.Remote) != p.test.qps() || !strings.Contains(out.String(), fmt.Sprintf("remote address: LID 0x%04x, QPN 0x%06x, PSN 0x%06x", r.Local[0].LID, r.Local[0].QPN, r.Local[0].PSN)):
		t.Errorf("the program does not have our record %+v:\n%s", r.Local, out)
	// Several queue pairs may be at their last message when the count is full.
	case p.test.Shared < 2 && !strings.Contains(out.String(), fmt.Sprintf("%d bytes in", r.Bytes)):
		t.Errorf("%d bytes by our count:\n%s", r.Bytes, out)
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
			r, err := Run(t.Context(), conn, true, at, p.test)
			if err != nil {
				server.Process.Kill()
			}
			p.check(t, r, err, server.Wait(), out)
			if err == nil && samples < p.test.Iterations {
				t.Errorf("%d samples", samples)
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
			r, err := Run(t.Context(), conn, false, at, p.test)
			if err != nil {
				client.Process.Kill()
			}
			p.check(t, r, err, client.Wait(), out)
		})
	}
}

// TestGuestMismatch is against a program that was started with other flags, that
// is killed, and a test that is cancelled: each ends in time.
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
		test.Silence = time.Second
		// The program ends and its queue pair with it, so that ours gets no
		// acknowledgements any more.
		r, err := Run(t.Context(), conn, true, at, test)
		var failed *verbs.CompletionError
		if !errors.Is(err, ErrSilent) && !errors.As(err, &failed) || r.Iterations < 10 || r.Iterations > 11 {
			t.Errorf("%d messages: %v", r.Iterations, err)
		}
		t.Log(err)
	})
	for name, events := range map[string]bool{"killed, polling": false, "killed, events": true} {
		t.Run(name, func(t *testing.T) {
			server, conn := start(t, 18701, func(o *peer) { o.test.Iterations = 1 << 30 })
			test := p.test
			test.Iterations, test.Silence, test.Events = 1<<30, time.Second, events
			n := 0
			test.Sample = func(time.Duration) {
				if n++; n == 50 {
					server.Process.Kill()
				}
			}
			r, err := Run(t.Context(), conn, true, at, test)
			var failed *verbs.CompletionError
			if !errors.Is(err, ErrSilent) && !errors.As(err, &failed) || r.Iterations < 49 {
				t.Errorf("%d messages: %v", r.Iterations, err)
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
			r, err := Run(ctx, conn, true, at, test)
			if !errors.Is(err, context.Canceled) || r.Iterations < 49 {
				t.Errorf("%d messages: %v", r.Iterations, err)
			}
		})
	}
}
