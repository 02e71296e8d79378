package perftest

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A recorder is a participant that records its calls.
type recorder struct {
	conn   *conn
	events []string
}

func (r *recorder) note(format string, args ...any) {
	r.events = append(r.events, fmt.Sprintf(format, args...))
}
func (r *recorder) connect(remote []Key) error { r.note("connect %d", len(remote)); return nil }
func (r *recorder) connected()                 { r.note("connected") }
func (r *recorder) ready(size int) error       { r.note("ready %d", size); return nil }
func (r *recorder) hangUp() error              { return r.conn.hangUp() }
func (r *recorder) run(size int) (Report, error) {
	r.note("run %d", size)
	return Report{Size: uint64(size), Average: float64(size)}, nil
}

// sockets returns the two ends of a connection.
func sockets(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		c, err := net.FileConn(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		ends[i] = c.(*net.UnixConn)
	}
	return ends[0], ends[1]
}

// A counting connection records the length of each write.
type counting struct {
	*net.UnixConn
	writes *[]int
}

func (c counting) Write(b []byte) (int, error) {
	*c.writes = append(*c.writes, len(b))
	return c.UnixConn.Write(b)
}

// TestSession runs both sides of each test and compares their calls and messages with
// the perftest programs'.
func TestSession(t *testing.T) {
	const k, figures = sizeGID, 5
	tests := []struct {
		order          Order
		client, server string
		keys           int // exchanged
		reports        int
	}{
		{Order{Verb: Send, Sizes: []int{2}}, "ready 2, run 2", "ready 2, run 2", 2 + 1 + 2 + 1 + 1, 0},
		{Order{Verb: Send, Sizes: []int{2, 4}, All: true}, "ready 2, run 2, ready 4, run 4", "ready 2, run 2, ready 4, run 4", 2 + 1 + 2 + 2 + 1, 0},
		{Order{Verb: Write, Sizes: []int{2, 4}, All: true}, "run 2, run 4", "run 2, run 4", 1 + 2 + 2 + 1, 0},
		{Order{Verb: Read, Sizes: []int{2, 4}, All: true}, "run 2, run 4", "", 1 + 2 + 2 + 1 + 1, 0},
		{Order{Verb: Atomic, Sizes: []int{8}}, "run 8", "", 1 + 2 + 2 + 1 + 1, 0},
		{Order{Verb: Send, Bandwidth: true, Sizes: []int{2}}, "ready 2, run 2", "ready 2, run 2", 2 + 1 + 2 + 1 + 1, 0},
		{Order{Verb: Send, Bandwidth: true, Sizes: []int{2, 4}, All: true}, "ready 2, run 2, ready 4, run 4", "ready 2, run 2, ready 4, run 4", 2 + 1 + 2 + 4 + 1, 0},
		{Order{Verb: Send, Bandwidth: true, Bidirectional: true, Sizes: []int{2, 4}, All: true}, "ready 2, run 2, ready 4, run 4", "ready 2, run 2, ready 4, run 4", 2 + 1 + 2 + 4 + 1, 2},
		{Order{Verb: Send, Bandwidth: true, Bidirectional: true, Timed: true, Sizes: []int{2}}, "ready 2, run 2", "ready 2, run 2", 2 + 1 + 2 + 1 + 1, 0},
		{Order{Verb: Write, Bandwidth: true, Sizes: []int{2, 4}, All: true}, "run 2, run 4", "", 2 + 2 + 1 + 1 + 1, 1},
		{Order{Verb: Read, Bandwidth: true, Sizes: []int{2}}, "run 2", "", 2 + 2 + 1 + 1 + 1, 1},
		{Order{Verb: Write, Bandwidth: true, Bidirectional: true, Sizes: []int{2, 4}, All: true}, "run 2, run 4", "run 2, run 4", 2 + 2 + 1 + 4 + 1, 2},
		{Order{Verb: Read, Bandwidth: true, Bidirectional: true, Sizes: []int{2}}, "run 2", "run 2", 2 + 2 + 1 + 1 + 1, 1},
		{Order{Verb: Write, Imm: true, Sizes: []int{2}}, "ready 2, run 2", "ready 2, run 2", 1 + 2 + 2 + 1 + 1, 0},
		{Order{Verb: Write, Imm: true, Sizes: []int{2, 4}, All: true}, "ready 2, run 2, ready 4, run 4", "ready 2, run 2, ready 4, run 4", 1 + 2 + 2 + 1 + 2, 0},
		{Order{Verb: Write, Imm: true, Bandwidth: true, Sizes: []int{2}}, "ready 2, run 2", "ready 2, run 2", 2 + 2 + 1 + 1 + 1, 0},
		{Order{Verb: Write, Imm: true, Bandwidth: true, Sizes: []int{2, 4}, All: true}, "ready 2, run 2, ready 4, run 4", "ready 2, run 2, ready 4, run 4", 2 + 2 + 1 + 4 + 1, 0},
		{Order{Verb: Write, Imm: true, Bandwidth: true, Bidirectional: true, Sizes: []int{2}}, "ready 2, run 2", "ready 2, run 2", 2 + 2 + 1 + 1 + 1, 1},
		{Order{Verb: Write, Imm: true, Bandwidth: true, Bidirectional: true, Timed: true, Sizes: []int{2}}, "ready 2, run 2", "ready 2, run 2", 2 + 2 + 1 + 1 + 1, 0},
		{Order{Verb: Write, Imm: true, Bandwidth: true, Bidirectional: true, Sizes: []int{2, 4}, All: true}, "ready 2, run 2, ready 4, run 4", "ready 2, run 2, ready 4, run 4", 2 + 2 + 1 + 4 + 1, 2},
		{Order{Verb: Atomic, Bandwidth: true, Bidirectional: true, All: true, Sizes: []int{8}}, "run 8", "run 8", 2 + 2 + 1 + 1 + 1, 1},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s %+v", test.order.Program(), test.order), func(t *testing.T) {
			a, b := sockets(t)
			var sent []int
			c, s := newConn(counting{a, &sent}, true, time.Minute), newConn(b, false, time.Minute)
			client, server := &recorder{conn: c}, &recorder{conn: s}
			keys := []Key{key, key}
			ended := make(chan error)
			go func() { ended <- s.session(test.order, keys, server, func(int, *Report) {}) }()
			if err := c.session(test.order, keys, client, func(int, *Report) {}); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			for _, role := range []struct {
				name string
				got  *recorder
				want string
			}{{"client", client, test.client}, {"server", server, test.server}} {
				if want := strings.TrimSuffix("connect 2, connected, "+role.want, ", "); strings.Join(role.got.events, ", ") != want {
					t.Errorf("%s: got calls %q, want %q", role.name, role.got.events, want)
				}
			}
			want := slices.Concat(slices.Repeat([]int{8}, test.reports*figures), slices.Repeat([]int{k}, test.keys))
			if slices.Sort(sent); !slices.Equal(sent, want) {
				t.Errorf("got messages of %v bytes, want %v", sent, want)
			}
		})
	}
}
