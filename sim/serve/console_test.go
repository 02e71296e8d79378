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

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// console serves a fabric with a console, and connects to that.
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
	told, err := c.Run(command)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return told
}

func TestConsole(t *testing.T) {
	c, name, _ := console(t, build(t, "single-switch:hosts=3,radix=4"))
	p := attach(t, name, "")
	if got := run(t, c, "clients"); got != "0 \"host001\"[1]\n" {
		t.Errorf("clients: %q", got)
	}
	if m := exchange(t, p, nodeInfo("\x01\x02")); m.Status != 0 {
		t.Errorf("before: %+v", m)
	}
	run(t, c, "unlink host002[1]")
	if m := exchange(t, p, nodeInfo("\x01\x02")); m.Status != syscall.ETIMEDOUT {
		t.Errorf("after the cable was pulled out: %+v", m)
	}
	run(t, c, "")
	if got := run(t, c, "stats"); !strings.Contains(got, "received   2\n") || !strings.Contains(got, "unanswered 1\n") {
		t.Errorf("stats:\n%s", got)
	}
	if got := run(t, c, "help"); !strings.Contains(got, "  unlink PORT|NODE ") || !strings.Contains(got, "  stats ") {
		t.Errorf("help:\n%s", got)
	}
	var wrong *CommandError
	if _, err := c.Run("unlink nobody"); !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "console:6:8: expected a node") {
		t.Errorf("unknown node: %v", err)
	}
	if _, err := c.Run("link host002[1] host001[1]"); err == nil || errors.As(err, &wrong) {
		t.Errorf("port that is taken: %v", err)
	}
	if _, err := c.Run("two\nlines"); !errors.As(err, &wrong) {
		t.Errorf("two lines: %v", err)
	}
}

// TestConsoleIsPrivate checks who can get at the console.
func TestConsoleIsPrivate(t *testing.T) {
	_, _, path := console(t, build(t, "demo"))
	for file, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, error %v", file, info.Mode(), err)
		}
	}
	if _, err := Listen(build(t, "demo"), Options{SockName: "ibkit-other", Console: path}); err == nil {
		t.Error("two consoles of one name")
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(build(t, "demo"), Options{SockName: "ibkit-other", Console: filepath.Join(open, "ctl")}); err == nil {
		t.Error("a console in a directory where others can replace it")
	}
}

// TestConsoleLeftBehind checks that a server which was killed is in nobody's way.
func TestConsoleLeftBehind(t *testing.T) {
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

func TestNoConsole(t *testing.T) {
	_, err := DialConsole(context.Background(), filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, syscall.ENOENT) {
		t.Errorf("error %v", err)
	}
}

func TestConsolePath(t *testing.T) {
	env := func(dir string) func(string) string { return func(string) string { return dir } }
	if got := ConsolePath("a/b", env("/run/user/7")); !strings.HasPrefix(got, "/run/user/7/ibkit-") || filepath.Base(got) != "sim-a_b.ctl" {
		t.Errorf("path %s", got)
	}
	if got := ConsolePath("sim", env("")); !strings.HasPrefix(got, os.TempDir()) {
		t.Errorf("path %s", got)
	}
}

// TestTrap checks that a subnet manager hears of links that go and come.
func TestTrap(t *testing.T) {
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
	receive(t, p) // of the link that comes back by itself
}

// TestTimed checks that packets take their time through a server too, and that
// lost ones come back when their sender would have given up.
func TestTimed(t *testing.T) {
	const service, timeout = 3 * time.Millisecond, 5 * time.Millisecond
	f := build(t, "single-switch:hosts=2,radix=4")
	f.Model = sim.Model{Service: service, Queue: 1, Timeout: timeout}
	_, name := serve(t, f, 0)
	p := attach(t, name, "")
	start := time.Now()
	for range 4 { // one is served, two wait or are just in time, the last has no room
		if err := p.Send(nodeInfo("\x01")); err != nil {
			t.Fatal(err)
		}
	}
	answered, lost := 0, 0
	for range 4 {
		m := receive(t, p)
		took := time.Since(start)
		if m.Status == 0 {
			answered++
		} else {
			lost++
		}
		if took < service || m.Status != 0 && took < timeout {
			t.Errorf("status %v after %v", m.Status, took)
		}
	}
	if answered == 0 || lost == 0 {
		t.Errorf("%d answered, %d lost", answered, lost)
	}
}

func TestDuplicated(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	f.Model = sim.Model{Duplicate: 1}
	_, name := serve(t, f, 0)
	p := attach(t, name, "")
	exchange(t, p, nodeInfo("\x01"))
	for range 3 {
		if m := receive(t, p); m.Status != 0 {
			t.Errorf("got %+v", m)
		}
	}
}

func TestSecondPort(t *testing.T) {
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
		t.Errorf("attached as %+v", p.Attr())
	}
	m := exchange(t, p, nodeInfo("\x02"))
	var info mad.NodeInfo
	if err := mad.Decode(&info, m.MAD.Data()); err != nil || info.LocalPort != 4 {
		t.Errorf("came in by port %d, error %v", info.LocalPort, err)
	}
}
