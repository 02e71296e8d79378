//go:build guest

package cm_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/tool/cm"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/test/guest"
)

// libgcc is a library that rping loads to end a thread.
const libgcc = "/lib/x86_64-linux-gnu/libgcc_s.so.1"

func spec(link guest.Link) guest.Spec {
	return guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: link}},
		Programs: []guest.Program{guest.Ibkit},
		Tools:    []string{"ip", "rdma", "strace", "rping", "cmtime", "ucmatose"},
		Files:    map[string]string{libgcc: libgcc},
	}
}

// run runs a program and checks the exit code.
func run(t testing.TB, g *guest.Guest, code int, args ...string) guest.Result {
	t.Helper()
	r := g.MustRun(t, args...)
	if r.Code != code {
		t.Fatalf("%v: got exit code %d, want %d:\n%s%s", args, r.Code, code, r.Stdout, r.Stderr)
	}
	return r
}

// measure runs ibkit cm and decodes the result.
func measure(t testing.TB, g *guest.Guest, code int, args ...string) cm.Result {
	t.Helper()
	var v cm.Result
	r := run(t, g, code, append([]string{"ibkit", "cm", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(r.Stdout), &v); err != nil {
		t.Fatalf("%v: %v:\n%s", args, err, r.Stdout)
	}
	return v
}

// serve starts ibkit cm --serve. stop ends it and returns the output.
func serve(t *testing.T, g *guest.Guest, args ...string) (stop func() string) {
	t.Helper()
	p := g.MustStart(t, append([]string{"ibkit", "cm", "--serve"}, args...)...)
	if err := p.AwaitOutput(t.Context(), "accepting connections"); err != nil {
		t.Fatal(err)
	}
	return func() string {
		t.Helper()
		if err := p.Signal(unix.SIGTERM); err != nil {
			t.Fatal(err)
		}
		r, err := p.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Stdout
	}
}

// TestCommand connects a device to itself.
func TestCommand(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec(guest.Dummy))
	host := g.Ports[0].Addr.String()

	t.Run("failures", func(t *testing.T) {
		for _, c := range []struct {
			args  []string
			step  rdmacm.Step
			cause cm.Cause
		}{
			{[]string{host}, rdmacm.StepConnect, cm.CauseNoListener},
			{[]string{"192.0.2.1"}, rdmacm.StepAddress, cm.CauseNoRoute},
			{[]string{"--bind", "192.0.2.2", host}, rdmacm.StepAddress, cm.CauseLocalAddress},
		} {
			v := measure(t, g, 3, c.args...)
			if len(v.Failed) != 1 || v.Failed[0].Step != c.step || v.Failed[0].Cause != c.cause || v.Established != 0 {
				t.Errorf("%v: got failures %+v, want %v: %s", c.args, v.Failed, c.step, c.cause)
			}
		}
	})
	t.Run("connections", func(t *testing.T) {
		stop := serve(t, g)
		out := run(t, g, 0, "ibkit", "cm", host).Stdout
		if !regexp.MustCompile(`to 10\.0\.0\.1:7471 from rxe0/1, (?s:.*)establish +[0-9.]+(µs|ms)\n`).MatchString(out) {
			t.Errorf("got\n%s", out)
		}
		v := measure(t, g, 0, "--count", "200", "--parallel", "4", host)
		if v.Established != 200 || v.Path == nil || v.Path.Device != "rxe0" || len(v.Steps) != 6 || v.Steps[5].Count != 200 {
			t.Errorf("got %+v", v)
		}
		t.Logf("%.0f connections per second", float64(v.Established)/v.Seconds)
		// The first connection starts at once.
		if v := measure(t, g, 0, "--count", "4", "--rate", "10", host); v.Seconds < 0.3 {
			t.Errorf("4 connections at 10 per second: got %v s, want at least 0.3", v.Seconds)
		}
		if got := stop(); got != "205 accepted, 0 failed, 0 rejected\n" {
			t.Errorf("got %q of the server", got)
		}
	})
	t.Run("listed", func(t *testing.T) {
		stop := serve(t, g, host)
		if got := g.Must(t, "rdma", "resource", "show", "cm_id"); !strings.Contains(got, "comm ibkit src-addr 10.0.0.1:7471") {
			t.Errorf("while it listens: got %q", got)
		}
		stop()
		if got := g.Must(t, "rdma", "resource", "show", "cm_id"); got != "" {
			t.Errorf("at the end: got %q, want no ID", got)
		}
		if got := g.Must(t, "rdma", "resource", "show", "qp"); strings.Contains(got, "ibkit") {
			t.Errorf("at the end: got %q, want no queue pair", got)
		}
	})
	t.Run("rejected", func(t *testing.T) {
		stop := serve(t, g, "--max", "1")
		defer stop()
		// rping connects and waits: the cm server has no receive for the message.
		busy := g.MustStart(t, "rping", "-c", "-a", host, "-p", "7471", "-C", "1")
		if err := g.Await(t.Context(), "sh", "-c", "rdma resource show qp | grep 'state RTS .*comm rping'"); err != nil {
			t.Fatal(err)
		}
		if err := g.Await(t.Context(), "sh", "-c", `ibkit cm `+host+` | grep "too many connections"`); err != nil {
			t.Error(err)
		}
		if err := busy.Signal(unix.SIGKILL); err != nil {
			t.Error(err)
		}
		// The server keeps serving after a peer was killed.
		if err := g.Await(t.Context(), "ibkit", "cm", host); err != nil {
			t.Error(err)
		}
	})
	t.Run("calls", func(t *testing.T) {
		stop := serve(t, g)
		defer stop()
		trace := run(t, g, 0, "strace", "-f", "-y", "-e", "trace=openat,write,writev,read,ioctl,mmap,epoll_ctl,fcntl,close", "ibkit", "cm", host).Stderr
		other := regexp.MustCompile(`(?m)^.*\b(\w+)\(\d+</dev/infiniband/rdma_cm>`)
		calls := map[string]int{}
		for _, m := range other.FindAllStringSubmatch(trace, -1) {
			calls[m[1]]++
		}
		for name := range calls {
			switch name {
			case "write", "close", "fcntl", "openat", "epoll_ctl":
			default:
				t.Errorf("got %s of rdma_cm", name)
			}
		}
		if calls["write"] < 10 || strings.Contains(trace, "librdmacm") {
			t.Errorf("got calls %v of rdma_cm, want writes and no library", calls)
		}
		t.Log(calls)
	})
}

// TestCommand_Peers connects two hosts, with ibkit on one host and Debian's cmtime or
// rping on the other.
func TestCommand_Peers(t *testing.T) {
	t.Parallel()
	a, b := guest.NewPair(t, spec(guest.Wire), spec(guest.Wire))
	host := a.Ports[0].Addr.String()

	t.Run("no neighbour", func(t *testing.T) {
		v := measure(t, b, 3, "10.1.0.77")
		if len(v.Failed) != 1 || v.Failed[0].Cause != cm.CauseNoNeighbour {
			t.Errorf("got failures %+v, want %s", v.Failed, cm.CauseNoNeighbour)
		}
	})
	t.Run("cmtime client", func(t *testing.T) {
		stop := serve(t, a)
		out := run(t, b, 0, "cmtime", "-s", host, "-c", "20").Stdout
		if got := stop(); !strings.HasPrefix(got, "20 accepted, 0 failed") {
			t.Errorf("got %q, want 20 accepted; cmtime:\n%s", got, out)
		}
	})
	// The cmtime 44 server keeps the completion queue from the first connection for all
	// others, and rejects them when the first connection has ended.
	for port, args := range map[int][]string{
		7471: {"cmtime"},
		7000: {"rping", "-s", "-P", "-a", host, "-p", "7000"},
	} {
		t.Run(args[0]+" server", func(t *testing.T) {
			server := a.MustStart(t, args...)
			if err := b.Await(t.Context(), "ibkit", "cm", fmt.Sprintf("%s:%d", host, port)); err != nil {
				t.Error(err)
			}
			if err := server.Signal(unix.SIGKILL); err != nil {
				t.Error(err)
			}
			if _, err := server.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("no device", func(t *testing.T) {
		a.Must(t, "rdma", "link", "delete", "rxe0")
		v := measure(t, b, 3, "--step-timeout", "500ms", host)
		if len(v.Failed) != 1 || v.Failed[0].Cause != cm.CauseNoReply {
			t.Errorf("got failures %+v, want %s", v.Failed, cm.CauseNoReply)
		}
	})
}
