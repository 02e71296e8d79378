package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/sim/serve"
)

// A servedFabric is a simulated fabric behind ibsim's sockets.
type servedFabric struct {
	name string
	lids map[string]string // of nodes
}

func serveDemo(t *testing.T) *servedFabric {
	t.Helper()
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	s := &servedFabric{name: fmt.Sprintf("cmd-%d-%s", os.Getpid(), t.Name()), lids: map[string]string{}}
	for _, node := range []string{"node05", "node07"} {
		p, err := f.Place(node)
		if err != nil {
			t.Fatal(err)
		}
		s.lids[node] = fmt.Sprint(p.Info.LID)
	}
	server, err := serve.Listen(f, serve.Options{SockName: s.name})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// env returns the environment of a program at a node, with more in it.
func (s *servedFabric) env(node string, more ...string) map[string]string {
	env := map[string]string{"IBKIT_SIM": "ibsim", "IBSIM_SOCKNAME": s.name, "SIM_HOST": node}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return env
}

// A watched buffer tells when something was written.
type watched struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func newWatched() *watched { return &watched{written: make(chan struct{}, 1)} }

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.written <- struct{}{}:
	default:
	}
	return w.text.Write(b)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// await waits until a text was written, or done is closed.
func (w *watched) await(t *testing.T, text string) {
	t.Helper()
	w.awaitMore(t, text, 0)
}

// awaitMore waits until a text was written more than n times.
func (w *watched) awaitMore(t *testing.T, text string, n int) {
	t.Helper()
	late := time.After(time.Minute)
	for strings.Count(w.String(), text) <= n {
		select {
		case <-w.written:
		case <-late:
			t.Fatalf("%q was not written: %s", text, w)
		}
	}
}

// A running command is one that goes on until it is interrupted.
type running struct {
	out, err *watched
	stop     context.CancelFunc
	code     chan int
}

func start(env map[string]string, args ...string) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{out: newWatched(), err: newWatched(), stop: cancel, code: make(chan int, 1)}
	e := &environment{out: r.out, err: r.err, getenv: func(k string) string { return env[k] }}
	go func() { r.code <- run(ctx, e, args) }()
	return r
}

// end interrupts the command and returns its exit code.
func (r *running) end() int {
	r.stop()
	return <-r.code
}

func TestPingServeJSON(t *testing.T) {
	f := serveDemo(t)
	// systemd is told once others can ping.
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: filepath.Join(t.TempDir(), "notify")})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	r := start(f.env("node05", "NOTIFY_SOCKET", systemd.LocalAddr().String()), "ping", "--serve", "--json", "--debug")
	r.err.await(t, "serving pings at ibsim (InfiniBand, LID "+f.lids["node05"]+")")
	b := make([]byte, 100)
	if n, err := systemd.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("systemd is told %q, %v", b[:n], err)
	}
	if code, out, err := runCommand(t, f.env("node07"), "ping", "--via", "vendor", "-c", "3", "-f", f.lids["node05"]); code != exitOK {
		t.Errorf("ping ended with %d: %s%s", code, out, err)
	}
	if code := r.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, r.err)
	}
	schema, err := jsonschema.NewCompiler().Compile("../schema/ping-serve.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal([]byte(r.out.String()), &document); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	if err := schema.Validate(document); err != nil {
		t.Errorf("%v\n%s", err, r.out)
	}
	for _, want := range []string{`"received":3,"answered":3`, `"lid":` + f.lids["node07"] + `,"gid":null`} {
		if !strings.Contains(r.out.String(), want) {
			t.Errorf("%s is not in %s", want, r.out)
		}
	}
	if n := strings.Count(r.err.String(), "msg=answered"); n != 3 {
		t.Errorf("%d lines in the log:\n%s", n, r.err)
	}
}

// A signal shows what there is so far.
func TestPingServeSignal(t *testing.T) {
	f := serveDemo(t)
	r := start(f.env("node05"), "ping", "--serve", "--rate", "1")
	r.err.await(t, "serving pings")
	runCommand(t, f.env("node07"), "ping", "--via", "vendor", "-c", "3", "-f", "-t", "10", f.lids["node05"])
	// The client may have ended before the server came to its last ping.
	for !strings.Contains(r.out.String(), ": 3 received") {
		before := strings.Count(r.out.String(), " received, ")
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		r.out.awaitMore(t, " received, ", before)
	}
	r.out.await(t, "SOURCE  PORT")
	r.out.await(t, "LID "+f.lids["node07"])
	if code := r.end(); code != exitOK {
		t.Errorf("exit code %d: %s", code, r.err)
	}
	if n := strings.Count(r.out.String(), ": 3 received, 1 answered, 2 limited, 0 dropped, 0 failed; 0 ignored that are no pings\n"); n != 2 {
		t.Errorf("the counts are shown %d times:\n%s", n, r.out)
	}
}

// A node has one server, and the second says so.
func TestPingServeTwice(t *testing.T) {
	f := serveDemo(t)
	r := start(f.env("node05"), "ping", "--serve")
	r.err.await(t, "serving pings")
	for _, args := range [][]string{{"ping", "--serve"}, {"ibping", "-S"}} {
		want := map[string]int{"ping": exitFailed, "ibping": classicFailure}[args[0]]
		code, out, err := runCommand(t, f.env("node05"), args...)
		if code != want || out != "" || !strings.Contains(err, "has a client that answers for it") {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, err)
		}
	}
	r.end()
}

func TestPingServeUsage(t *testing.T) {
	for _, test := range []struct {
		args string
		want string
	}{
		{"4", "unexpected argument"},
		{"-c 3", "-c (--count) does nothing with --serve"},
		{"--via sma", "--via does nothing with --serve"},
		{"--rate 0", "invalid rate"},
		{"--rate -1", "invalid rate"},
		{"--rate NaN", "invalid rate"},
		{"--rate Inf", "invalid rate"},
		{"--oui 0x1000000", "24 bits"},
		{"--sim demo", "nobody else in it"},
	} {
		code, out, err := runCommand(t, nil, append([]string{"ping", "--serve"}, strings.Fields(test.args)...)...)
		if code != exitUsage || out != "" || !strings.Contains(err, test.want) {
			t.Errorf("%s: exit code %d: %s%s", test.args, code, out, err)
		}
	}
	code, out, err := runCommand(t, nil, "ping", "--sim", "demo", "--debug", "3")
	if code != exitUsage || out != "" || !strings.Contains(err, "does nothing without --serve") {
		t.Errorf("exit code %d: %s%s", code, out, err)
	}
}
