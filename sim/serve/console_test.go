package serve

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// console serves a fabric with a console and connects to the console.
func console(t *testing.T, f *sim.Fabric) (c *Console, name, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "dir", "ctl")
	_, name = serveWith(t, f, Options{Console: path})
	c, err := DialConsole(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, name, path
}

func run(t *testing.T, c *Console, command string) string {
	t.Helper()
	output, err := c.Run(command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return output
}

func TestConsole(t *testing.T) {
	c, name, _ := console(t, build(t, "single-switch:hosts=3,radix=4"))
	p := attach(t, name, "")
	if got := run(t, c, "clients"); got != "0 \"host001\"[1]\n" {
		t.Errorf("clients: got %q", got)
	}
	if m := exchange(t, p, nodeInfo(mad.RouteOf(1, 2))); m.Status != 0 {
		t.Errorf("before unlink: got %+v", m)
	}
	run(t, c, "unlink host002[1]")
	if m := exchange(t, p, nodeInfo(mad.RouteOf(1, 2))); m.Status != syscall.ETIMEDOUT {
		t.Errorf("after unlink: got %+v, want a timeout", m)
	}
	run(t, c, "")
	if got := run(t, c, "stats"); !strings.Contains(got, "received   2\n") || !strings.Contains(got, "unanswered 1\n") {
		t.Errorf("stats:\n%s", got)
	}
	if got := run(t, c, "help"); !strings.Contains(got, "  unlink PORT|NODE ") || !strings.Contains(got, "  stats ") {
		t.Errorf("help:\n%s", got)
	}
	var wrong *CommandError
	if _, err := c.Run("unlink nobody"); !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), `console:6:8: unknown node "nobody"`) {
		t.Errorf("unknown node: got %v, want a CommandError", err)
	}
	if _, err := c.Run("link host002[1] host001[1]"); err == nil || errors.As(err, &wrong) {
		t.Errorf("port in use: got %v, want an error other than a CommandError", err)
	}
	if _, err := c.Run("two\nlines"); !errors.As(err, &wrong) {
		t.Errorf("two lines: got %v, want a CommandError", err)
	}
}

// TestConsole_Private checks the console permissions.
func TestConsole_Private(t *testing.T) {
	_, _, path := console(t, build(t, "demo"))
	for file, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got mode %v, %v, want %v", file, info.Mode(), err, want)
		}
	}
	if _, err := Listen(build(t, "demo"), Options{SockName: "ibkit-other", Console: path}); err == nil {
		t.Error("second server: got the console in use, want an error")
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(build(t, "demo"), Options{SockName: "ibkit-other", Console: filepath.Join(open, "ctl")}); err == nil {
		t.Error("writable directory: got a console, want an error")
	}
}

// TestConsole_Stale checks that a killed server's socket is replaced.
func TestConsole_Stale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ctl")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	serveWith(t, build(t, "demo"), Options{Console: path})
	c, err := DialConsole(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestDialConsole_NoServer(t *testing.T) {
	_, err := DialConsole(context.Background(), filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v, want %v", err, syscall.ENOENT)
	}
}

func TestConsolePath(t *testing.T) {
	env := func(dir string) func(string) string { return func(string) string { return dir } }
	if got := ConsolePath("a/b", env("/run/user/7")); !strings.HasPrefix(got, "/run/user/7/ibkit-") || filepath.Base(got) != "sim-a_b.ctl" {
		t.Errorf("got %s", got)
	}
	if got := ConsolePath("sim", env("")); !strings.HasPrefix(got, os.TempDir()) {
		t.Errorf("got %s", got)
	}
}

// TestServe_Traps checks that a subnet manager receives traps for link changes.
func TestServe_Traps(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	path := filepath.Join(t.TempDir(), "ctl")
	s, name := serveWith(t, f, Options{Console: path})
	p := attach(t, name, "")
	setSM(t, s, p, 1)
	c, err := DialConsole(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, command := range []string{"unlink host002[1]", "link host002[1]", "flap host003[1] 1ms"} {
		run(t, c, command)
		m := receive(t, p)
		if m.MAD.Method() != mad.MethodTrap || m.MAD.Attr() != mad.AttrNotice || m.Addr.LID == p.Attr().LID {
			t.Errorf("%s: got %+v", command, m)
		}
	}
	receive(t, p) // when the link comes up again
}

// TestServe_TrapBeforeClose checks that the manager receives a trap from a client that
// closes the port at once, and that the manager's response returns to a client that waits.
func TestServe_TrapBeforeClose(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	f.Unconfigure()
	s, name := serve(t, f, 0)
	manager := attach(t, name, "host001")
	setSM(t, s, manager, 1)
	s.mu.Lock()
	err := f.Configure()
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	trap := &umad.Message{Addr: umad.Addr{LID: f.Node("host001").Ports[1].Info.LID}}
	trap.MAD.PutSMP(mad.SMPRequest{Method: mad.MethodTrap, Attr: mad.AttrNotice})
	for range 8 { // a process has 16 addresses for clients
		p := attach(t, name, "host002")
		if err := errors.Join(p.Send(trap), p.Close()); err != nil {
			t.Fatal(err)
		}
		if m := receive(t, manager); m.MAD.Method() != mad.MethodTrap {
			t.Fatalf("got %+v, want the trap", m)
		}
	}
	p := attach(t, name, "host002")
	trap.MAD.SetTID(77)
	if err := p.Send(trap); err != nil {
		t.Fatal(err)
	}
	m := receive(t, manager)
	m.MAD.SetMethod(mad.MethodTrapRepress)
	if err := manager.Send(&m); err != nil {
		t.Fatal(err)
	}
	if m := receive(t, p); m.MAD.Method() != mad.MethodTrapRepress || m.MAD.TID()&(1<<48-1) != 77 || m.Status != 0 {
		t.Errorf("got %+v, want the repression", m)
	}
}

// TestServe_Delays checks that replies are delayed by the model, and that lost requests
// come back after the timeout.
func TestServe_Delays(t *testing.T) {
	service, timeout := testenv.Brief(), 2*testenv.Brief()
	f := build(t, "single-switch:hosts=2,radix=4")
	f.Model = sim.Model{Service: service, Queue: 1, Timeout: timeout}
	_, name := serve(t, f, 0)
	p := attach(t, name, "")
	answered, lost := 0, 0
	// All packets are handled if the server is so slow that it gets a single packet at a time.
	testenv.Await(t, "reply and lost request", func() bool {
		start := time.Now()
		for range 4 { // one is handled, up to two wait, the last is dropped
			if err := p.Send(nodeInfo(mad.RouteOf(1))); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			m := receive(t, p)
			now := time.Now()
			took := now.Sub(start)
			if m.Status == 0 {
				answered++
			} else {
				lost++
			}
			if took < service || m.Status != 0 && took < timeout {
				t.Errorf("got status %v after %v", m.Status, took)
			}
		}
		return answered > 0 && lost > 0
	})
}

func TestServe_Duplicates(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	f.Model = sim.Model{Duplicate: 1}
	_, name := serve(t, f, 0)
	p := attach(t, name, "")
	exchange(t, p, nodeInfo(mad.RouteOf(1)))
	for range 3 {
		if m := receive(t, p); m.Status != 0 {
			t.Errorf("got %+v, want a reply", m)
		}
	}
}

func TestAttach_SecondPort(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	n, err := f.Add(sim.NodeSpec{Kind: mad.NodeTypeCA, ID: "two", Ports: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Connect(&n.Ports[2], &f.Node("switch1").Ports[4]); err != nil {
		t.Fatal(err)
	}
	if err := f.Connect(&n.Ports[1], &f.Node("switch1").Ports[3]); err != nil {
		t.Fatal(err)
	}
	_, name := serve(t, f, 0)
	p := attach(t, name, "two[2]")
	if p.Attr().Number != 2 || p.Attr().PortGUID != n.Ports[2].GUID {
		t.Errorf("got port %+v, want port 2", p.Attr())
	}
	m := exchange(t, p, nodeInfo(mad.RouteOf(2)))
	var info mad.NodeInfo
	if err := m.MAD.Decode(&info); err != nil || info.LocalPort != 4 {
		t.Errorf("got local port %d, %v, want 4", info.LocalPort, err)
	}
}
