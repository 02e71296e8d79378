//go:build inguest

package perftest

import (
	"bytes"
	"errors"
	"fmt"
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
	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// TestMain gives the programs a frequency of the processor to find, which emulated
// ones do not have: without it they divide by zero.
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

// peer is a test with a program of Debian's at the other side.
type peer struct {
	args []string // beyond those that follow from the test
	test Test
}

func (p peer) String() string {
	return strings.Join(append([]string{p.test.Program(), p.test.Type.String()}, p.args...), " ")
}

func peers() []peer {
	base := Test{
		Type: verbs.QPTypeRC, QueuePairs: 1, Iterations: 200, TxDepth: 64, RxDepth: 256, Moderation: 16, List: 1,
		Timeout: 14, RetryCount: 7, CPU: loop.NoCPU, Silence: 20 * time.Second,
	}
	make := func(verb Verb, bandwidth bool, size int, change func(*Test), args ...string) peer {
		t := base
		// Noise has the programs find no frequency of the processor; so they
		// count its cycles, or print zeros.
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
		return peer{args, t}
	}
	uc := func(t *Test) { t.Type = verbs.QPTypeUC }
	ud := func(t *Test) { t.Type = verbs.QPTypeUD }
	both := func(t *Test) { t.Bidirectional = true }
	all := func(t *Test) { t.All, t.Iterations, t.RxDepth = true, 5, 8; t.Sizes = AllSizes(1024, t.Type) }
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
	return []peer{
		make(Send, false, 2, nil), make(Send, false, 4096, uc), make(Send, false, 64, ud),
		make(Send, false, 64, of(events), "-e"),
		make(Send, false, 2, of(ud, all), "-a"),
		make(Send, false, 64, timed),
		make(Write, false, 2, nil), make(Write, false, 5000, uc), make(Write, false, 64, timed),
		make(Read, false, 64, nil), make(Atomic, false, 8, nil),
		make(Atomic, false, 8, func(t *Test) { t.CompareSwap = true }, "-A", "CMP_AND_SWAP"),
		make(Send, true, 65536, nil), make(Send, true, 1024, uc), make(Send, true, 512, ud), make(Send, true, 2048, both, "-b"),
		make(Send, true, 1024, of(qps), "-q", "4"), make(Send, true, 1024, of(events), "-e"),
		make(Write, true, 65536, nil), make(Write, true, 64, uc), make(Write, true, 3000, of(both, qps), "-b", "-q", "4"),
		make(Write, true, 64, func(t *Test) { t.List = 8 }), make(Write, true, 4096, timed),
		make(Read, true, 65536, nil), make(Read, true, 1000, of(both), "-b"), make(Read, true, 64, qps, "-q", "4"),
		make(Atomic, true, 8, nil), make(Atomic, true, 8, of(both), "-b"),
	}
}

// place opens the port of the guest, with the GID of its IPv4 address.
func place(t *testing.T) Place {
	t.Helper()
	ports, err := port.OpenAll("rxe0", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range ports[0].GIDs {
		if g.Type == verbs.GIDTypeRoCEv2 && g.GID.Is4In6() {
			return Place{Port: ports[0], GID: g}
		}
	}
	t.Fatal("no GID of an IPv4 address")
	return Place{}
}

// command is the program of Debian's, as server, or as client of one here.
func (p peer) command(t *testing.T, at Place, tcp int, client bool) (*exec.Cmd, *bytes.Buffer) {
	args := []string{"-d", "rxe0", "-x", strconv.Itoa(int(at.GID.Index)), "-p", strconv.Itoa(tcp), "-c", p.test.Type.String()}
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

// run does a test over a connection, as one side.
func (p peer) run(t *testing.T, conn net.Conn, at Place, client bool) ([]Result, error) {
	var results []Result
	s, err := Start(t.Context(), NewConn(conn, client, 20*time.Second), at, p.test)
	if err != nil {
		return nil, err
	}
	err = s.Run(func(r Result) { results = append(results, r) })
	if closed := s.Close(); closed != nil {
		t.Error(closed)
	}
	return results, err
}

// row is a line of figures that a program prints: size, iterations, figures.
var row = regexp.MustCompile(`(?m)^ *(\d+) +(\d+) +(\d+\.\d+.*)$`)

// check looks at what both sides say.
func (p peer) check(t *testing.T, client bool, results []Result, err error, theirs error, out *bytes.Buffer) {
	t.Helper()
	if err != nil || theirs != nil {
		t.Fatalf("%v; %s: %v\n%s", err, p.test.Program(), theirs, out)
	}
	sizes := p.test.Sizes
	if !client && !p.test.Both() {
		// Of those only the last is told.
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
				t.Errorf("nothing of the client's figures: %+v", r)
			}
		case r.Messages == 0, !p.test.Timed && p.test.Bandwidth && !p.server(client) && r.Messages != uint64(p.test.Iterations*p.test.QueuePairs):
			t.Errorf("%d messages of %d bytes", r.Messages, r.Size)
		case !p.test.Bandwidth && (r.Samples.Min <= 0 || r.Samples.Count != int64(p.test.Iterations) && r.Samples.Count != int64(p.test.Iterations)-1 && !p.test.Timed):
			t.Errorf("%d samples from %d ns on", r.Samples.Count, r.Samples.Min)
		case p.test.Bidirectional && (p.test.Verb != Send || !p.test.Timed) && (r.Theirs == nil || r.Theirs.Size != uint64(r.Size)):
			t.Errorf("nothing of the other side's figures: %+v", r)
		}
	}
	if !slices.Equal(got, sizes) {
		t.Errorf("figures of sizes %v, want %v", got, sizes)
	}
	// The program has figures too, unless it only served latency.
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
		t.Fatalf("%d rows of %s, want %d:\n%s", len(rows), p.test.Program(), len(sizes), out)
	}
	for i, r := range rows {
		if r[1] != strconv.Itoa(sizes[i]) {
			t.Errorf("%s says %q", p.test.Program(), r[0])
		}
	}
	t.Logf("%s says %q", p.test.Program(), rows[len(rows)-1][0])
}

// server tells whether this side does nothing but receive.
func (p peer) server(client bool) bool { return !client && !p.test.Bidirectional }

// TestGuestClient is a client of each program.
func TestGuestClient(t *testing.T) {
	for i, p := range peers() {
		t.Run(p.String(), func(t *testing.T) {
			at := place(t)
			tcp := 18800 + i
			server, out := p.command(t, at, tcp, false)
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			conn := testenv.Dial(t, tcp)
			results, err := p.run(t, conn, at, true)
			if err != nil {
				server.Process.Kill()
			}
			p.check(t, true, results, err, server.Wait(), out)
		})
	}
}

// TestGuestServer serves each program.
func TestGuestServer(t *testing.T) {
	for _, p := range peers() {
		if p.test.All {
			continue // it takes long, and both sides do the same
		}
		t.Run(p.String(), func(t *testing.T) {
			at := place(t)
			l := testenv.Listen(t)
			client, out := p.command(t, at, l.Addr().(*net.TCPAddr).Port, true)
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			results, err := p.run(t, conn, at, false)
			if err != nil {
				client.Process.Kill()
			}
			p.check(t, false, results, err, client.Wait(), out)
		})
	}
}

// TestGuestKilled kills programs in the midst of a test.
func TestGuestKilled(t *testing.T) {
	for _, c := range []struct {
		verb              Verb
		bandwidth, client bool
	}{{Send, false, false}, {Write, false, true}, {Send, true, false}, {Read, true, true}} {
		p := peers()[0]
		p.args = []string{"-F"}
		p.test.Order = Order{Verb: c.verb, Bandwidth: c.bandwidth, Sizes: []int{64}}
		p.test.Iterations = 10_000_000
		t.Run(fmt.Sprintf("%v, client %v", p, c.client), func(t *testing.T) {
			at := place(t)
			l := testenv.Listen(t)
			tcp := l.Addr().(*net.TCPAddr).Port
			if c.client {
				l.Close() // the program has it
			}
			program, _ := p.command(t, at, tcp, !c.client)
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			var conn net.Conn
			var err error
			if c.client {
				conn = testenv.Dial(t, tcp)
			} else if conn, err = l.Accept(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := p.run(t, conn, at, c.client)
				ended <- err
			}()
			for {
				out, err := exec.Command("rdma", "resource", "show", "qp").Output()
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Count(out, []byte("state RTS")) >= 2 { // without those of the kernel
					break
				}
			}
			if err := program.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = program.Wait() // it was killed
			if err := <-ended; !errors.Is(err, ErrHungUp) || !strings.Contains(err.Error(), p.test.Program()) {
				t.Error(err)
			} else {
				t.Log(err)
			}
		})
	}
}
