package perf

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

func TestTest_Check(t *testing.T) {
	good := NewTest(Send, Bandwidth, RC, 64)
	if err := good.Check(); err != nil {
		t.Errorf("default test: got %v, want none", err)
	}
	for name, change := range map[string]func(*Test){
		"write with immediate data": func(t *Test) { t.Op, t.Imm, t.SharedReceives = Write, true, true },
		"its events":                func(t *Test) { t.Op, t.Kind, t.Imm, t.Events = Write, Latency, true, true },
		"and over uc":               func(t *Test) { t.Op, t.Transport, t.Imm = Write, UC, true },
		"read over srd":             func(t *Test) { t.Op, t.Transport, t.Moderation = Read, SRD, 1 },
	} {
		test := good
		if change(&test); test.Check() != nil {
			t.Errorf("%s: got %v, want none", name, test.Check())
		}
	}
	for name, change := range map[string]func(*Test){
		"no operation":     func(t *Test) { t.Op = "" },
		"read over uc":     func(t *Test) { t.Op, t.Transport = Read, UC },
		"write over ud":    func(t *Test) { t.Op, t.Transport = Write, UD },
		"atomic over srd":  func(t *Test) { t.Op, t.Transport, t.Moderation = FetchAdd, SRD, 1 },
		"srd moderation":   func(t *Test) { t.Op, t.Transport, t.Moderation = Send, SRD, 2 },
		"shared over srd":  func(t *Test) { t.Op, t.Transport, t.Moderation, t.SharedReceives = Send, SRD, 1, true },
		"srd connections":  func(t *Test) { t.Op, t.Transport, t.Moderation, t.CM = Send, SRD, 1, true },
		"no size":          func(t *Test) { t.Size = 0 },
		"size":             func(t *Test) { t.Size = maxSize + 1 },
		"wide atomic":      func(t *Test) { t.Op, t.Size = FetchAdd, 16 },
		"no end":           func(t *Test) { t.Iterations = 0 },
		"two ends":         func(t *Test) { t.Duration = time.Second },
		"threads":          func(t *Test) { t.Threads, t.QueuePairs = 2, 3 },
		"latency of two":   func(t *Test) { t.Kind, t.QueuePairs = Latency, 2 },
		"moderation":       func(t *Test) { t.Moderation = t.Depth + 1 },
		"MTU":              func(t *Test) { t.MTU = 1000 },
		"inline read":      func(t *Test) { t.Op, t.Inline = Read, true },
		"rate":             func(t *Test) { t.Rate = -1 },
		"immediate read":   func(t *Test) { t.Op, t.Imm = Read, true },
		"immediate xrc":    func(t *Test) { t.Op, t.Transport, t.Imm = Write, XRC, true },
		"shared writes":    func(t *Test) { t.Op, t.SharedReceives = Write, true },
		"polled write":     func(t *Test) { t.Op, t.Kind, t.Events = Write, Latency, true },
		"service level":    func(t *Test) { t.SL = 16 },
		"lost writes":      func(t *Test) { t.Op, t.Transport, t.Verify = Write, UC, true },
		"count of warm-up": func(t *Test) { t.Warmup = 1 << 60 },
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			change(&bad)
			if err := bad.Check(); !errors.Is(err, ErrTest) {
				t.Errorf("got %v, want %v", err, ErrTest)
			}
		})
	}
}

// TestRole_endpoint checks that a test gets no access and no queue beyond its needs.
func TestRole_endpoint(t *testing.T) {
	for _, c := range []struct {
		op          Op
		leads       bool
		out, in, qp verbs.Access
		receives    bool
	}{
		{op: Send, leads: true},
		{op: Send, in: verbs.AccessLocalWrite, receives: true},
		{op: Write, leads: true},
		{op: Write, in: verbs.AccessLocalWrite | verbs.AccessRemoteWrite, qp: verbs.AccessRemoteWrite},
		{op: Read, leads: true, out: verbs.AccessLocalWrite},
		{op: Read, in: verbs.AccessRemoteRead, qp: verbs.AccessRemoteRead},
		{op: FetchAdd, leads: true, out: verbs.AccessLocalWrite},
		{op: FetchAdd, in: verbs.AccessLocalWrite | verbs.AccessRemoteAtomic, qp: verbs.AccessRemoteAtomic},
	} {
		t.Run(fmt.Sprintf("%s, leads %v", c.op, c.leads), func(t *testing.T) {
			o := role{NewTest(c.op, Bandwidth, RC, 64), c.leads}.endpoint()
			if o.OutAccess != c.out || o.InAccess != c.in || o.QPAccess != c.qp || (o.RecvDepth > 0) != c.receives || (o.Depth > 1) != c.leads {
				t.Errorf("got %+v, want access %v, %v and %v, receives %v", o, c.out, c.in, c.qp, c.receives)
			}
			relaxed := NewTest(c.op, Bandwidth, RC, 64)
			relaxed.Relaxed = true
			const flag = verbs.AccessRelaxedOrdering
			if o := (role{relaxed, c.leads}).endpoint(); o.OutAccess != c.out|flag || o.InAccess != c.in|flag || o.QPAccess != c.qp {
				t.Errorf("relaxed ordering: got %+v, want access %v, %v and %v", o, c.out|flag, c.in|flag, c.qp)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	gid := port.GID{Addr: netip.MustParseAddr("::ffff:10.0.0.1"), Type: verbs.GIDTypeRoCEv2}
	for _, want := range []message{
		{Hello: &host.Identity{Program: "ibkit", Host: "a"}},
		{Prepare: &request{Test: NewTest(Read, Latency, RC, 1<<20), GIDs: []port.GID{gid}}},
		{Prepared: &prepared{Port: host.PortInfo{Device: "rxe0", GID: gid.Addr}, ClientGID: gid, QueuePairs: []endpoint.Address{{QPN: 1<<24 - 1, Addr: 1<<64 - 1}}}},
		{Connect: &connect{GID: gid, MTU: 1024, QueuePairs: []endpoint.Address{{QPN: 17}}}},
		{Started: &struct{}{}},
		{Finish: &finish{Sent: []uint64{1<<64 - 1}}},
		{Result: &Side{Elapsed: time.Second, Out: &Throughput{Messages: 5}, Counters: host.Counters{"a": 1}}},
		{Failure: "no"},
	} {
		var b bytes.Buffer
		if err := want.write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := readMessage(&b)
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || d != "" || b.Len() > 0 {
			t.Errorf("got error %v, %d bytes left and difference\n%s", err, b.Len(), d)
		}
	}
}

// TestReadMessage_invalid checks that an invalid message is an error.
func TestReadMessage_invalid(t *testing.T) {
	for name, b := range map[string]string{
		"perftest":   "6.06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"huge":       "\xff\xff\xff\xff",
		"no JSON":    "\x00\x00\x00\x02{!",
		"cut":        "\x00\x00\x00\x09{\"hel",
		"wrong type": "\x00\x00\x00\x0b{\"hello\":7}",
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := readMessage(strings.NewReader(b)); err == nil {
				t.Errorf("got %+v, want an error", m)
			}
		})
	}
	if _, err := readMessage(strings.NewReader("")); !errors.Is(err, io.EOF) {
		t.Errorf("end of input: got %v, want %v", err, io.EOF)
	}
}

// TestPrintable checks that texts of the peer are safe for a terminal.
func TestPrintable(t *testing.T) {
	const nasty = "a\x1b[2J\u009b\r\n\x7f\xffz"
	long := strings.Repeat(nasty, 1000)
	safe := func(name, text string) {
		t.Helper()
		if strings.ContainsFunc(text, unicode.IsControl) || len(text) > 10000 || !strings.HasPrefix(text, "a [2J") && !strings.Contains(text, "a [2J") {
			t.Errorf("%s: got %.100q, want no control characters", name, text)
		}
	}
	body, err := json.Marshal(message{
		Hello:    &host.Identity{Program: long, Host: long, Kernel: long, BootID: long},
		Prepared: &prepared{Port: host.PortInfo{Device: long, Driver: long, Link: long, GIDType: long, Why: long, Memory: long, GID: netip.MustParseAddr("fe80::1").WithZone(nasty)}},
		Result:   &Side{Counters: host.Counters{long: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := readMessage(bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{m.Hello.Program, m.Hello.Host, m.Hello.Kernel, m.Hello.BootID} {
		safe("identity", text)
	}
	for _, text := range []string{m.Prepared.Port.Device, m.Prepared.Port.Driver, m.Prepared.Port.Link, m.Prepared.Port.GIDType, m.Prepared.Port.Why, m.Prepared.Port.Memory} {
		safe("port", text)
	}
	if gid := m.Prepared.Port.GID; gid != netip.MustParseAddr("fe80::1") {
		t.Errorf("got GID %q, want no zone", gid)
	}
	for name := range m.Result.Counters {
		safe("counter", name)
	}
	safe("test", Test{Op: Op(long), Kind: Kind(long), Transport: Transport(long)}.String())
	body = fmt.Appendf(nil, `{"connect":{"gid":{"gid":%q}}}`, strings.Repeat("a [2J", 10000))
	if _, err := readMessage(bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))); !errors.Is(err, errMessage) {
		t.Error(err)
	} else {
		safe("error", err.Error())
	}
}

// A server from before immediate data ignores the member of the test.
func TestEndpointTest_oldServer(t *testing.T) {
	test := NewTest(Write, Bandwidth, RC, 64)
	test.Imm = true
	e := &endpointTest{role: role{test, true}, measurement: new(Measurement)}
	if err := e.open(nil, &prepared{}, port.Selector{}); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("got %v, want an error about an old server", err)
	}
}

func FuzzMessage(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := readMessage(io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint32(nil, uint32(len(body)))), bytes.NewReader(body)))
		if err != nil || m.Prepare == nil {
			return
		}
		if checkGIDs(m.Prepare.GIDs) == nil {
			s := port.Selector{Index: -1, Source: func(netip.Addr) netip.Addr { return netip.Addr{} }}
			_, _ = s.Choose(nil, port.Remote{GIDs: m.Prepare.GIDs, InfiniBand: m.Prepare.InfiniBandGIDs})
		}
		if m.Prepare.Test.Check() != nil {
			return
		}
		for _, leads := range []bool{false, true} {
			r := role{m.Prepare.Test, leads}
			o := r.endpoint()
			if n := r.memory(); n < 0 || o.Depth < 1 || r.list() < 1 || r.moderation() > r.depth() || r.sends() && o.Out < r.Size {
				t.Errorf("%+v: got %d bytes and endpoint %+v", r, n, o)
			}
		}
	})
}

// connectToServer starts a server without devices and connects to it.
func connectToServer(t *testing.T, change func(*ServeOptions)) net.Conn {
	t.Helper()
	l := testenv.Listen(t)
	o := ServeOptions{Device: "none", GIDIndex: -1, MaxClients: 1, MaxQueuePairs: 2, MaxMemory: 1 << 20, MaxTime: time.Minute, Idle: time.Minute}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- newServer(o).Serve(ctx, l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// exchange sends messages and returns the last answer.
func exchange(t *testing.T, conn net.Conn, all ...message) (message, error) {
	t.Helper()
	var m message
	for _, q := range all {
		if err := q.write(conn); err != nil {
			t.Fatal(err)
		}
		var err error
		if m, err = readMessage(conn); err != nil {
			return m, err
		}
	}
	return m, nil
}

// TestServer_limits checks that a refusal names the limit.
func TestServer_limits(t *testing.T) {
	hello := message{Hello: &host.Identity{}}
	prepare := func(change func(*Test)) message {
		test := NewTest(Send, Bandwidth, RC, 64)
		change(&test)
		return message{Prepare: &request{Test: test}}
	}
	for _, c := range []struct {
		name, want string
		m          message
	}{
		{"queues", "max-memory", prepare(func(t *Test) { t.Depth, t.RecvDepth = maxDepth, maxDepth })},
		{"queue pairs", "max-qps", prepare(func(t *Test) { t.QueuePairs = 3 })},
		{"size", "max-memory", prepare(func(t *Test) { t.Size = 1 << 24 })},
		{"duration", "max-time", prepare(func(t *Test) { t.Iterations, t.Duration = 0, time.Hour })},
		{"duration equal to the limit", "max-time", prepare(func(t *Test) { t.Iterations, t.Duration = 0, time.Minute })},
		{"operation", "invalid test", prepare(func(t *Test) { t.Op = "dance" })},
		{"device", "no RDMA device", prepare(func(*Test) {})},
		{"duration within the limit", "no RDMA device", prepare(func(t *Test) { t.Iterations, t.Duration = 0, 58*time.Second })},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := exchange(t, connectToServer(t, nil), hello, c.m)
			if err != nil || !strings.Contains(answer.Failure, c.want) {
				t.Errorf("got %+v, %v, want a failure with %q", answer, err, c.want)
			}
		})
	}
	t.Run("address", func(t *testing.T) {
		conn := connectToServer(t, func(o *ServeOptions) { o.Allow = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
		answer, err := exchange(t, conn, message{Started: &struct{}{}})
		if err != nil || !strings.Contains(answer.Failure, "does not allow") {
			t.Errorf("got %+v, %v, want a refusal", answer, err)
		}
	})
	t.Run("finish instead of hello", func(t *testing.T) {
		answer, err := exchange(t, connectToServer(t, nil), message{Finish: &finish{}})
		if err != nil || !strings.Contains(answer.Failure, errMessage.Error()) {
			t.Errorf("got %+v, %v, want a failure with %q", answer, err, errMessage)
		}
	})
	t.Run("idle client", func(t *testing.T) {
		if m, err := readMessage(connectToServer(t, func(o *ServeOptions) { o.Idle = testenv.Brief() })); err == nil {
			t.Errorf("got %+v, want a closed connection", m)
		}
	})
}

// TestNewServer_noDevice checks that a server without a usable device does not start.
func TestNewServer_noDevice(t *testing.T) {
	o := DefaultServeOptions()
	o.Device = "none"
	if _, err := NewServer(o); !errors.Is(err, ErrNoDevice) {
		t.Errorf("got %v, want %v", err, ErrNoDevice)
	}
}

// TestReported checks that meaningless figures of a program are ignored.
func TestReported(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	good := perftest.Report{Size: 1 << 20, Iterations: 200, Average: 200, Peak: 300}
	got := reported(&good)
	if d := cmp.Diff(&Throughput{Messages: 200, Bytes: 200 << 20, Elapsed: time.Second, Peak: 300 << 20}, got); d != "" {
		t.Error(d)
	}
	for name, change := range map[string]func(*perftest.Report){
		"zeros":        func(r *perftest.Report) { *r = perftest.Report{} },
		"infinite":     func(r *perftest.Report) { r.Average = inf },
		"not a number": func(r *perftest.Report) { r.Average = nan },
		"negative":     func(r *perftest.Report) { r.Average = -1 },
		"for ever":     func(r *perftest.Report) { r.Average = 1e-300 },
		"iterations":   func(r *perftest.Report) { r.Iterations = 1 << 63 },
		"size":         func(r *perftest.Report) { r.Size = 1 << 63 },
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			change(&bad)
			if got := reported(&bad); got != nil {
				t.Errorf("got %+v, want none", got)
			}
		})
	}
	for _, peak := range []float64{inf, nan, -1} {
		good.Peak = peak
		if got := reported(&good); got == nil || got.Peak != 0 {
			t.Errorf("peak %v: got %+v, want no peak", peak, got)
		}
	}
}

// TestRole_reduced checks that queue pairs that share a completion queue get as many
// entries as the device supports.
func TestRole_reduced(t *testing.T) {
	limits := verbs.DeviceAttr{MaxQPWR: 16351, MaxCQE: 32767}
	for _, c := range []struct {
		name            string
		op              Op
		leads           bool
		change          func(*Test)
		depth, received int
	}{
		{"few queue pairs", Send, false, func(t *Test) { t.QueuePairs = 4 }, 128, 512},
		{"client of writes", Write, true, func(t *Test) { t.QueuePairs = 1000 }, 32, 512},
		{"client of writes, threads", Write, true, func(t *Test) { t.QueuePairs, t.Threads = 1000, 4 }, 128, 512},
		{"server of sends", Send, false, func(t *Test) { t.QueuePairs = 1000 }, 128, 31},
		{"bidirectional sends", Send, true, func(t *Test) { t.QueuePairs, t.Bidirectional = 1000, true }, 6, 26},
		{"layout of both sides", Write, true, func(t *Test) { t.QueuePairs, t.Verify = 1000, true }, 128, 512},
	} {
		t.Run(c.name, func(t *testing.T) {
			test := NewTest(c.op, Bandwidth, RC, 64)
			c.change(&test)
			r := role{test, c.leads}
			r.Test = r.reduced(limits)
			if r.Depth != c.depth || r.RecvDepth != c.received {
				t.Errorf("got depths %d and %d, want %d and %d", r.Depth, r.RecvDepth, c.depth, c.received)
			}
			if err := r.Test.Check(); err != nil {
				t.Errorf("got invalid test: %v", err)
			}
			if o := r.endpoint(); !test.Verify && o.GroupSize*(o.Depth+o.RecvDepth) > int(limits.MaxCQE) {
				t.Errorf("got %d entries, want at most %d", o.GroupSize*(o.Depth+o.RecvDepth), limits.MaxCQE)
			}
		})
	}
}
