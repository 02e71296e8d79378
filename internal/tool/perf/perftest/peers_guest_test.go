//go:build inguest

package perftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/verbs"
)

// TestMain adds the frequency of the processor to /proc/cpuinfo, which emulated
// processors lack. The programs divide by it.
func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		panic(err)
	}
	if !bytes.Contains(info, []byte("cpu MHz")) {
		info = bytes.ReplaceAll(info, []byte("\nflags"), []byte("\ncpu MHz\t\t: 1000.000\nflags"))
		path := filepath.Join(os.TempDir(), "cpuinfo")
		if err := os.WriteFile(path, info, 0o644); err != nil {
			panic(err)
		}
		if err := unix.Mount(path, "/proc/cpuinfo", "", unix.MS_BIND, ""); err != nil {
			panic(err)
		}
		defer unix.Unmount("/proc/cpuinfo", 0)
	}
	code = m.Run()
}

// A program is a program of Debian and its test.
type program struct {
	args []string // in addition to arguments that follow from the test
	test Test
}

func (p program) String() string {
	return strings.Join(append([]string{p.test.Program(), p.test.Type.String()}, p.args...), " ")
}

func programs() []program {
	base := Test{
		Type: verbs.QPTypeRC, QueuePairs: 1, Iterations: 200, TxDepth: 64, RxDepth: 256, Moderation: 16, List: 1,
		Timeout: 14, RetryCount: 7,
	}
	make := func(verb Verb, bandwidth bool, size int, change func(*Test), args ...string) program {
		t := base
		// Under load the programs cannot measure the frequency of the processor.
		// These options make them print cycles, or zeros.
		if bandwidth {
			args = append(args, "-F")
		} else {
			args = append(args, "-C")
		}
		t.Order = Order{Verb: verb, Bandwidth: bandwidth, Sizes: []int{size}}
		if !bandwidth {
			t.TxDepth, t.Moderation = 1, 1
		}
		if change != nil {
			change(&t)
		}
		return program{args, t}
	}
	uc := func(t *Test) { t.Type = verbs.QPTypeUC }
	ud := func(t *Test) { t.Type = verbs.QPTypeUD }
	both := func(t *Test) { t.Bidirectional = true }
	all := func(t *Test) {
		limit := math.MaxInt
		if t.Type == verbs.QPTypeUD {
			limit = 1024 // Soft-RoCE's MTU
		}
		t.All, t.Iterations, t.RxDepth, t.Sizes = true, 5, 8, AllSizes(limit)
	}
	timed := func(t *Test) { t.Timed, t.Duration, t.Margin = true, 3*time.Second, time.Second }
	of := func(changes ...func(*Test)) func(*Test) {
		return func(t *Test) {
			for _, change := range changes {
				change(t)
			}
		}
	}
	events := func(t *Test) { t.Events = true }
	qps := func(t *Test) { t.QueuePairs = 4 }
	return testenv.Cases([]program{
		make(Send, false, 2, nil), make(Send, false, 2, of(ud, all), "-a"), make(Send, false, 64, timed),
		make(Write, false, 5000, uc), make(Read, false, 64, nil), make(Atomic, false, 8, func(t *Test) { t.CompareSwap = true }, "-A", "CMP_AND_SWAP"),
		make(Send, true, 512, ud), make(Send, true, 1024, of(events), "-e"), make(Send, true, 2048, both, "-b"),
		make(Write, true, 64, uc), make(Write, true, 3000, of(both, qps), "-b", "-q", "4"), make(Write, true, 64, func(t *Test) { t.List = 8 }),
		make(Write, true, 4096, timed), make(Read, true, 65536, nil), make(Atomic, true, 8, of(both), "-b"),
	},
		make(Send, false, 4096, uc), make(Send, false, 64, ud), make(Send, false, 64, of(events), "-e"),
		make(Write, false, 2, nil), make(Write, false, 64, timed), make(Atomic, false, 8, nil),
		make(Send, true, 65536, nil), make(Send, true, 1024, uc), make(Send, true, 1024, of(qps), "-q", "4"), make(Write, true, 65536, nil),
		make(Read, true, 1000, of(both), "-b"), make(Read, true, 64, qps, "-q", "4"), make(Atomic, true, 8, nil),
	)
}

// command returns the program as a server, or as a client of a local server.
func (p program) command(t *testing.T, tcp int, client bool) (*exec.Cmd, *bytes.Buffer) {
	args := []string{"-d", "rxe0", "-x", strconv.Itoa(gidIndex), "-p", strconv.Itoa(tcp), "-c", p.test.Type.String()}
	if p.test.Timed {
		args = append(args, "-D", fmt.Sprint(p.test.Duration.Seconds()), "-f", fmt.Sprint(p.test.Margin.Seconds()))
	} else {
		args = append(args, "-n", strconv.Itoa(p.test.Iterations))
	}
	if p.test.Verb != Atomic && !p.test.All {
		args = append(args, "-s", strconv.Itoa(p.test.Sizes[0]))
	}
	if p.test.Verb == Send {
		args = append(args, "-r", strconv.Itoa(p.test.RxDepth))
	}
	args = append(args, p.args...)
	if client {
		args = append(args, "127.0.0.1")
	}
	cmd := exec.CommandContext(t.Context(), p.test.Program(), args...)
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

// gidIndex is the index of the IPv4 GID of the guest's device.
const gidIndex = 1

// run runs a side of a test.
func (p program) run(t *testing.T, client bool, connect func() (net.Conn, error)) ([]Result, error) {
	var results []Result
	err := Run(t.Context(), Options{
		Test: p.test, Device: "rxe0", GIDIndex: gidIndex, Client: client, PeerTimeout: time.Minute,
		Connect: func(context.Context) (net.Conn, error) { return connect() },
		Done:    func(r Result) { results = append(results, r) },
	})
	return results, err
}

// row matches a line of figures: size, iterations and figures. A program prints "inf"
// if its estimate of the processor's frequency fails on a busy machine.
var row = regexp.MustCompile(`(?m)^ *(\d+) +(\d+) +((?:\d+\.\d+|inf).*)$`)

// check compares the results of both sides.
func (p program) check(t *testing.T, client bool, results []Result, err error, theirs error, out *bytes.Buffer) {
	t.Helper()
	if err != nil || theirs != nil {
		t.Fatalf("%v; %s: %v\n%s", err, p.test.Program(), theirs, out)
	}
	sizes := p.test.Sizes
	if !client && !p.test.Both() {
		// The client reports only the last size.
		sizes = sizes[len(sizes)-1:]
		if !p.test.Bandwidth {
			sizes = nil
		}
	}
	var got []int
	for _, r := range results {
		got = append(got, r.Size)
		switch {
		case !client && !p.test.Both():
			if r.Theirs == nil || r.Theirs.Iterations == 0 {
				t.Errorf("got %+v, want figures of the client", r)
			}
		case r.Messages == 0, !p.test.Timed && p.test.Bandwidth && !p.passive(client) && r.Messages != uint64(p.test.Iterations*p.test.QueuePairs):
			t.Errorf("got %d messages of %d bytes, want %d", r.Messages, r.Size, p.test.Iterations*p.test.QueuePairs)
		case !p.test.Bandwidth && (r.Samples.Min <= 0 || r.Samples.Count != int64(p.test.Iterations) && r.Samples.Count != int64(p.test.Iterations)-1 && !p.test.Timed):
			t.Errorf("got %d samples from %d ns, want about %d", r.Samples.Count, r.Samples.Min, p.test.Iterations)
		case p.test.Bidirectional && (p.test.Verb != Send || !p.test.Timed) && (r.Theirs == nil || r.Theirs.Size != uint64(r.Size)):
			t.Errorf("got %+v, want figures of the peer", r)
		}
	}
	if !slices.Equal(got, sizes) {
		t.Errorf("got figures of sizes %v, want %v", got, sizes)
	}
	// A passive server of a latency test prints no figures.
	if client && !p.test.Both() && !p.test.Bandwidth {
		return
	}
	rows := row.FindAllStringSubmatch(out.String(), -1)
	if client && !p.test.Both() {
		sizes = sizes[len(sizes)-1:]
	}
	if !client {
		sizes = p.test.Sizes
	}
	if len(rows) != len(sizes) {
		t.Fatalf("%s: got %d rows, want %d:\n%s", p.test.Program(), len(rows), len(sizes), out)
	}
	for i, r := range rows {
		if r[1] != strconv.Itoa(sizes[i]) {
			t.Errorf("%s: got row %q, want size %d", p.test.Program(), r[0], sizes[i])
		}
	}
	t.Logf("%s printed %q", p.test.Program(), rows[len(rows)-1][0])
}

// starved reports whether a test by time has counted no message: a busy machine may pause it
// for longer than that.
func (p program) starved(results []Result, err, theirs error) bool {
	return p.test.Timed && err == nil && theirs == nil && slices.ContainsFunc(results, func(r Result) bool { return r.Messages == 0 && r.Theirs == nil })
}

// attempt runs a test and checks its results. A test by time that has counted no message
// runs again, for longer.
func (p program) attempt(t *testing.T, client bool, run func(p program) (results []Result, out *bytes.Buffer, ours, theirs error)) {
	t.Helper()
	for range 3 {
		results, out, err, theirs := run(p)
		if !p.starved(results, err, theirs) {
			p.check(t, client, results, err, theirs, out)
			return
		}
		t.Logf("got no messages within %v", p.test.Duration)
		p.test.Duration *= 2
	}
	t.Error("got no messages")
}

// passive reports whether this side only receives.
func (p program) passive(client bool) bool { return !client && !p.test.Bidirectional }

// TestGuestClient runs against each program as a server.
func TestGuestClient(t *testing.T) {
	for i, p := range programs() {
		t.Run(p.String(), func(t *testing.T) {
			p.attempt(t, true, func(p program) (results []Result, out *bytes.Buffer, ours, theirs error) {
				tcp := 18800 + i
				server, out := p.command(t, tcp, false)
				if err := server.Start(); err != nil {
					t.Fatal(err)
				}
				results, err := p.run(t, true, func() (net.Conn, error) { return testenv.Dial(t, tcp), nil })
				if err != nil {
					server.Process.Kill()
				}
				return results, out, err, server.Wait()
			})
		})
	}
}

// TestGuestServer runs against each program as a client.
func TestGuestServer(t *testing.T) {
	for _, p := range programs() {
		if p.test.All {
			continue // slow, and the same for both sides
		}
		t.Run(p.String(), func(t *testing.T) {
			p.attempt(t, false, func(p program) (results []Result, out *bytes.Buffer, ours, theirs error) {
				l := testenv.Listen(t)
				client, out := p.command(t, l.Addr().(*net.TCPAddr).Port, true)
				if err := client.Start(); err != nil {
					t.Fatal(err)
				}
				results, err := p.run(t, false, l.Accept)
				if err != nil {
					client.Process.Kill()
				}
				return results, out, err, client.Wait()
			})
		})
	}
}

// TestGuestKilled kills programs during a test.
func TestGuestKilled(t *testing.T) {
	for _, c := range []struct {
		verb              Verb
		bandwidth, client bool
	}{{Send, false, false}, {Write, false, true}, {Send, true, false}, {Read, true, true}} {
		p := programs()[0]
		p.args = []string{"-F"}
		p.test.Order = Order{Verb: c.verb, Bandwidth: c.bandwidth, Sizes: []int{64}}
		p.test.Iterations = 10_000_000
		t.Run(fmt.Sprintf("%v, client %v", p, c.client), func(t *testing.T) {
			l := testenv.Listen(t)
			tcp := l.Addr().(*net.TCPAddr).Port
			connect := l.Accept
			if c.client {
				l.Close() // the program listens at its port
				connect = func() (net.Conn, error) { return testenv.Dial(t, tcp), nil }
			}
			program, _ := p.command(t, tcp, !c.client)
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := p.run(t, c.client, connect)
				ended <- err
			}()
			for {
				out, err := exec.Command("rdma", "resource", "show", "qp").Output()
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Count(out, []byte("state RTS")) >= 2 { // not counting the kernel's
					break
				}
			}
			if err := program.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = program.Wait() // it was killed
			if err := <-ended; !errors.Is(err, peererr.ErrClosed) || !errors.As(err, new(*MismatchError)) {
				t.Errorf("got %v, want %v", err, peererr.ErrClosed)
			} else {
				t.Log(err)
			}
		})
	}
}
