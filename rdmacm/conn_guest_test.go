//go:build inguest

package rdmacm_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// ids returns the rdma resource show cm_id lines that belong to this process. The
// kernel reports the creating thread's ID as the object's process.
func ids(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("rdma", "resource", "show", "cm_id").Output()
	if err != nil {
		t.Fatal(err)
	}
	var own []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, " comm rdmacm.test ") {
			own = append(own, line)
		}
	}
	return own
}

// leaves checks that a test leaves no ID and no open device behind.
func leaves(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if open := deviceFiles(t); len(open) > 0 {
			t.Errorf("got open files %q, want none", open)
		}
		if left := ids(t); len(left) > 0 {
			t.Errorf("got IDs %q, want none", left)
		}
	})
}

// deviceFiles returns the open RDMA devices.
func deviceFiles(t *testing.T) (open []string) {
	t.Helper()
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.Contains(name, "infiniband") {
			open = append(open, name)
		}
	}
	return open
}

func withTimeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestGuestExample(t *testing.T) {
	leaves(t)
	if got, want := testenv.Stdout(t, Example), "hello, world\n"; got != want {
		t.Errorf("got output %q, want %q", got, want)
	}
}

// listen returns a listener on all addresses, and its port.
func listen(t *testing.T, c rdmacm.ListenConfig) (*rdmacm.Listener, uint16) {
	t.Helper()
	l, err := c.Listen(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, l.Addr().(rdmacm.IPAddr).Port()
}

// serveOne serves a single connection until its end, which the test waits for.
func serveOne(t *testing.T, l *rdmacm.Listener) {
	served := make(chan error, 1)
	// The test's context ends before its cleanup functions run.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	go func() { served <- serve(ctx, l) }()
	t.Cleanup(func() {
		defer cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// dial connects to a port and returns the steps that succeeded.
func dial(t *testing.T, d rdmacm.Dialer, address string) (steps []rdmacm.Step, err error) {
	t.Helper()
	var own queuePair
	defer func() {
		if err := own.close(); err != nil {
			t.Error(err)
		}
	}()
	d.Setup = own.setup
	d.Trace = func(s rdmacm.Step, _ time.Duration) { steps = append(steps, s) }
	conn, err := d.Dial(withTimeout(t), address)
	if err != nil {
		return steps, err
	}
	return steps, errors.Join(conn.Disconnect(withTimeout(t)), conn.Close())
}

// The kernel lists an ID with its addresses while it lives.
func TestGuestListed(t *testing.T) {
	leaves(t)
	l, err := rdmacm.ListenConfig{}.Listen(t.Context(), address+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, want := ids(t), l.Addr().String()
	if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), want) || !strings.Contains(got[0], "LISTEN") {
		t.Errorf("got %q, want an ID in the state LISTEN on %s", got, want)
	}
}

// Each failure names its step and its cause.
func TestGuestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		serve   func(*rdmacm.Request) error
		dialer  rdmacm.Dialer
		step    rdmacm.Step
		done    []rdmacm.Step
		check   func(error) bool
	}{
		"no listener": {
			address: address + ":1", step: rdmacm.StepConnect, done: rdmacm.Steps()[:3],
			check: func(err error) bool {
				r, ok := errors.AsType[*rdmacm.RejectError](err)
				return ok && r.Reason == rdmacm.RejectInvalidServiceID
			},
		},
		"rejected": {
			serve: func(r *rdmacm.Request) error { return r.Reject([]byte("busy")) },
			step:  rdmacm.StepConnect, done: rdmacm.Steps()[:3],
			check: func(err error) bool {
				r, ok := errors.AsType[*rdmacm.RejectError](err)
				return ok && r.Reason == rdmacm.RejectConsumer && strings.HasPrefix(string(r.PrivateData), "busy\x00")
			},
		},
		"dropped": {
			serve: func(r *rdmacm.Request) error { return r.Close() },
			step:  rdmacm.StepConnect, done: rdmacm.Steps()[:3],
			check: func(err error) bool {
				_, ok := errors.AsType[*rdmacm.RejectError](err)
				return ok
			},
		},
		"no route": {
			address: "192.0.2.1:1", step: rdmacm.StepAddress,
			check: func(err error) bool { return errors.Is(err, unix.ENETUNREACH) },
		},
		"long private data": {
			dialer: rdmacm.Dialer{Param: &rdmacm.ConnParam{PrivateData: make([]byte, 57)}},
			step:   rdmacm.StepConnect, done: rdmacm.Steps()[:3],
			check: func(err error) bool { return strings.Contains(err.Error(), "got 57 bytes, want at most 56") },
		},
		"silent peer": {
			serve:  func(r *rdmacm.Request) error { return nil },
			dialer: rdmacm.Dialer{Timeouts: rdmacm.Timeouts{Connect: 300 * time.Millisecond}},
			step:   rdmacm.StepConnect, done: rdmacm.Steps()[:3],
			check: func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			leaves(t)
			if c.serve != nil || c.address == "" {
				l, port := listen(t, rdmacm.ListenConfig{})
				c.address = fmt.Sprintf("%s:%d", address, port)
				if c.serve != nil {
					served := make(chan *rdmacm.Request, 1)
					t.Cleanup(func() {
						if r := <-served; r != nil {
							_ = r.Close()
						}
					})
					go func() {
						r, err := l.Accept(withTimeout(t))
						if err == nil {
							err = c.serve(r)
						}
						if err != nil {
							t.Error(err)
						}
						served <- r
					}()
				}
			}
			steps, err := dial(t, c.dialer, c.address)
			e, ok := errors.AsType[*rdmacm.StepError](err)
			if !ok || e.Step != c.step || !c.check(err) || !slices.Equal(steps, c.done) {
				t.Errorf("got steps %v and error %v, want steps %v and an error of step %v", steps, err, c.done, c.step)
			}
		})
	}
}

// IPv6 addresses, link-local addresses with a zone.
func TestGuestIPv6(t *testing.T) {
	leaves(t)
	l, port := listen(t, rdmacm.ListenConfig{})
	serveOne(t, l)
	entries, err := exec.CommandContext(t.Context(), "ip", "-6", "-brief", "address", "show", "dummy0").Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(entries))
	local, _, _ := strings.Cut(fields[2], "/")
	steps, err := dial(t, rdmacm.Dialer{}, fmt.Sprintf("[%s%%dummy0]:%d", local, port))
	if !slices.Equal(steps, rdmacm.Steps()) || err != nil {
		t.Errorf("got steps %v, error %v, want %v", steps, err, rdmacm.Steps())
	}
}

// The address, the GIDs, the device and a connection's route.
func TestGuestQueries(t *testing.T) {
	leaves(t)
	l, port := listen(t, rdmacm.ListenConfig{})
	serveOne(t, l)
	var own queuePair
	d := rdmacm.Dialer{Setup: own.setup}
	conn, err := d.Dial(withTimeout(t), fmt.Sprintf("%s:%d", address, port))
	if err != nil {
		t.Fatal(err)
	}
	id := conn.ID()
	a, err := id.Addresses()
	if err != nil || a.Port != 1 || a.Peer.String() != fmt.Sprintf("%s:%d", address, port) {
		t.Errorf("addresses: got %+v, %v", a, err)
	}
	g, err := id.GIDs()
	if peer, ok := g.Peer.(rdmacm.IBAddr); err != nil || !ok || peer.ServiceID != rdmacm.PortSpaceTCP.ServiceID(port) || peer.GID.String() != "::ffff:"+address {
		t.Errorf("GIDs: got %+v, %v", g, err)
	}
	dev, err := id.Device()
	if err != nil || dev.Name != "rxe0" {
		t.Errorf("device: got %v, %v, want rxe0", dev, err)
	}
	routes, err := id.Routes()
	if err != nil || len(routes) != 1 || routes[0].MTU.Bytes() != 1024 || routes[0].DGID.String() != "::ffff:"+address {
		t.Errorf("routes: got %+v, %v", routes, err)
	}
	records, err := id.PathRecords()
	if err != nil || len(records) != 1 || !slices.Equal(records[0][8:24], routes[0].DGID[:]) {
		t.Errorf("path records: got %x, %v, want one with the DGID %v", records, err, routes[0].DGID)
	}
	if err := errors.Join(conn.Disconnect(withTimeout(t)), conn.Close(), own.close()); err != nil {
		t.Error(err)
	}
	if err := conn.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Close: got %v, want %v", err, fs.ErrClosed)
	}
}

// A datagram service: the client learns the queue pair, its Q_Key and the path.
func TestGuestDatagrams(t *testing.T) {
	leaves(t)
	l, port := listen(t, rdmacm.ListenConfig{Space: rdmacm.PortSpaceUDP})
	qpn := make(chan uint32, 1)
	var server queuePair
	defer server.close()
	go func() {
		r, err := l.Accept(withTimeout(t))
		if err != nil {
			t.Error(err)
			return
		}
		qp, err := server.setup(t.Context(), r.ID())
		if err != nil {
			t.Error(err)
			return
		}
		conn, err := r.Accept(t.Context(), qp, nil)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { conn.Close() }) // before the test can end
		qpn <- qp.Number()
	}()
	var own queuePair
	d := rdmacm.Dialer{Setup: own.setup, Space: rdmacm.PortSpaceUDP}
	conn, err := d.Dial(withTimeout(t), fmt.Sprintf("%s:%d", address, port))
	if err != nil {
		t.Fatal(err)
	}
	to := conn.Datagram()
	if want := <-qpn; to == nil || to.QPN != want || to.QKey == 0 || to.Path.DGID.String() != "::ffff:"+address {
		t.Errorf("got destination %+v, want QP %#x", to, want)
	}
	if state := conn.QP().State(); state != verbs.QPStateRTS {
		t.Errorf("got state %v, want RTS", state)
	}
	if err := errors.Join(conn.Close(), own.close()); err != nil {
		t.Error(err)
	}
}

// IDs that are opened and abandoned vanish with their channel.
func TestGuestManyIDs(t *testing.T) {
	leaves(t)
	c := openMany(t)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// manyIDs is the ID count in openMany.
const manyIDs = 10_000

// openMany opens IDs with a device and an address, and checks that the kernel has them
// all.
func openMany(t *testing.T) *rdmacm.Channel {
	t.Helper()
	c, err := rdmacm.NewChannel()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // for a failed test
	local := rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort(address + ":0")}
	for range manyIDs {
		id, err := c.NewID(rdmacm.PortSpaceTCP, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := id.Bind(local); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(ids(t)); got != manyIDs {
		t.Fatalf("got %d IDs of the process in the kernel, want %d", got, manyIDs)
	}
	return c
}

// TestAbandon opens IDs and waits until the process is killed.
func TestAbandon(t *testing.T) {
	c := openMany(t)
	fmt.Println("abandoned")
	e, err := c.Next(context.Background())
	t.Errorf("got %v, %v, want no event", e.Type, err)
}

// The requester and the responder exchange options for enhanced connection establishment
// in the request and in the reply.
func TestGuestECE(t *testing.T) {
	leaves(t)
	l, port := listen(t, rdmacm.ListenConfig{})
	request, reply := rdmacm.ECE{VendorID: 0x15b3, Options: 0x10000001}, rdmacm.ECE{VendorID: 0x15b3, Options: 1}
	var theirs queuePair
	t.Cleanup(func() { _ = theirs.close() })
	served := make(chan error, 1)
	go func() {
		served <- func() error {
			r, err := l.Accept(withTimeout(t))
			if err != nil {
				return err
			}
			if got := r.Param().ECE; got != request {
				t.Errorf("request: got %+v, want %+v", got, request)
			}
			qp, err := theirs.setup(t.Context(), r.ID())
			if err != nil {
				return err
			}
			p := rdmacm.DefaultParam
			p.ECE = reply
			conn, err := r.Accept(withTimeout(t), qp, &p)
			if err != nil {
				return err
			}
			return errors.Join(conn.AwaitEnd(withTimeout(t)), conn.Close())
		}()
	}()
	p := rdmacm.DefaultParam
	p.ECE = request
	var ours queuePair
	conn, err := rdmacm.Dialer{Param: &p, Setup: ours.setup}.Dial(withTimeout(t), fmt.Sprintf("%s:%d", address, port))
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.Param().ECE; got != reply {
		t.Errorf("reply: got %+v, want %+v", got, reply)
	}
	if err := errors.Join(conn.Disconnect(withTimeout(t)), conn.Close(), ours.close(), <-served); err != nil {
		t.Error(err)
	}
}

// Options are accepted.
func TestGuestOptions(t *testing.T) {
	leaves(t)
	control := func(id *rdmacm.ID) error {
		return errors.Join(id.SetTOS(32), id.SetReuseAddr(true), id.SetACKTimeout(15))
	}
	c := rdmacm.ListenConfig{Control: func(id *rdmacm.ID) error { return errors.Join(control(id), id.SetAFOnly(true)) }}
	l, err := c.Listen(t.Context(), "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(rdmacm.IPAddr).Port()
	go func() {
		if r, err := l.Accept(withTimeout(t)); err == nil {
			t.Error("AFOnly: got a request to an IPv4 address")
			_ = r.Close()
		}
	}()
	_, err = dial(t, rdmacm.Dialer{Control: control}, fmt.Sprintf("%s:%d", address, port))
	if _, ok := errors.AsType[*rdmacm.RejectError](err); !ok {
		t.Errorf("AFOnly: got error %v, want a rejection", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Close interrupts a wait, and so does a context's end.
func TestGuestInterrupted(t *testing.T) {
	leaves(t)
	l, _ := listen(t, rdmacm.ListenConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Accept(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	short, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := l.Accept(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
	}
	ended := make(chan error)
	go func() {
		_, err := l.Accept(t.Context())
		ended <- err
	}()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got error %v, want %v", err, fs.ErrClosed)
	}
}
