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
	"github.com/ibkit/ibkit/perf/endpoint"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

func TestCheck(t *testing.T) {
	good := NewTest(Send, Bandwidth, RC, 64)
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Test){
		"no operation":     func(t *Test) { t.Op = "" },
		"read over uc":     func(t *Test) { t.Op, t.Transport = Read, UC },
		"write over ud":    func(t *Test) { t.Op, t.Transport = Write, UD },
		"no size":          func(t *Test) { t.Size = 0 },
		"size":             func(t *Test) { t.Size = maxSize + 1 },
		"wide atomic":      func(t *Test) { t.Op, t.Size = FetchAdd, 16 },
		"no end":           func(t *Test) { t.Iterations = 0 },
		"two ends":         func(t *Test) { t.Duration = time.Second },
		"threads":          func(t *Test) { t.Threads, t.QueuePairs = 2, 3 },
		"latency of many":  func(t *Test) { t.Kind, t.QueuePairs = Latency, 2 },
		"moderation":       func(t *Test) { t.Moderation = t.Depth + 1 },
		"MTU":              func(t *Test) { t.MTU = 1000 },
		"inline read":      func(t *Test) { t.Op, t.Inline = Read, true },
		"rate":             func(t *Test) { t.Rate = -1 },
		"polled write":     func(t *Test) { t.Op, t.Kind, t.Events = Write, Latency, true },
		"service level":    func(t *Test) { t.SL = 16 },
		"lost writes":      func(t *Test) { t.Op, t.Transport, t.Verify = Write, UC, true },
		"count of warm-up": func(t *Test) { t.Warmup = 1 << 60 },
	} {
		bad := good
		change(&bad)
		if err := bad.Check(); !errors.Is(err, ErrTest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing is allowed, and no queue is there, that the test does not need.
func TestAccess(t *testing.T) {
	for _, c := range []struct {
		op                Op
		leads             bool
		out, in, qp       verbs.Access
		receives, mirrors bool
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
		s := shape{NewTest(c.op, Bandwidth, RC, 64), c.leads}
		o := s.endpoint()
		if o.OutAccess != c.out || o.InAccess != c.in || o.QPAccess != c.qp || (o.RecvDepth > 0) != c.receives || (o.Depth > 1) != c.leads {
			t.Errorf("%s, leads %v: %+v", c.op, c.leads, o)
		}
	}
}

func TestMessage(t *testing.T) {
	gid := port.GID{Addr: netip.MustParseAddr("::ffff:10.0.0.1"), Type: verbs.GIDTypeRoCEv2}
	for _, want := range []message{
		{Hello: &Identity{Program: "ibkit", Host: "a"}},
		{Prepare: &request{Test: NewTest(Read, Latency, RC, 1<<20), GIDs: []port.GID{gid}}},
		{Prepared: &prepared{Port: Ends{Device: "rxe0", GID: gid.Addr}, ClientGID: gid, QueuePairs: []endpoint.Address{{QPN: 1<<24 - 1, Addr: 1<<64 - 1}}}},
		{Connect: &connect{GID: gid, MTU: 1024, QueuePairs: []endpoint.Address{{QPN: 17}}}},
		{Started: &struct{}{}},
		{Finish: &finish{Sent: []uint64{1<<64 - 1}}},
		{Result: &Side{Elapsed: time.Second, Out: &Throughput{Messages: 5}, Counters: port.Counters{"a": 1}}},
		{Failure: "no"},
	} {
		var b bytes.Buffer
		if err := want.write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := readMessage(&b)
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || d != "" || b.Len() > 0 {
			t.Errorf("%v\n%s", err, d)
		}
	}
}

// What comes in place of a message ends the talk, and takes no memory.
func TestBadMessage(t *testing.T) {
	for name, b := range map[string]string{
		"perftest":   "6.06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		"huge":       "\xff\xff\xff\xff",
		"no JSON":    "\x00\x00\x00\x02{!",
		"cut":        "\x00\x00\x00\x09{\"hel",
		"wrong type": "\x00\x00\x00\x0b{\"hello\":7}",
	} {
		if m, err := readMessage(strings.NewReader(b)); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, err := readMessage(strings.NewReader("")); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: %v", err)
	}
}

// What the other side says reaches no terminal as it is.
func TestPrintable(t *testing.T) {
	const nasty = "a\x1b[2J\u009b\r\n\x7f\xffz"
	long := strings.Repeat(nasty, 1000)
	safe := func(what, text string) {
		t.Helper()
		if strings.ContainsFunc(text, unicode.IsControl) || len(text) > 10000 || !strings.HasPrefix(text, "a [2J") && !strings.Contains(text, "a [2J") {
			t.Errorf("%s: %.100q", what, text)
		}
	}
	body, err := json.Marshal(message{
		Hello:    &Identity{Program: long, Host: long, Kernel: long, BootID: long},
		Prepared: &prepared{Port: Ends{Device: long, Driver: long, Link: long, GIDType: long, Why: long, GID: netip.MustParseAddr("fe80::1").WithZone(nasty)}},
		Result:   &Side{Counters: port.Counters{long: 1}},
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
	for _, text := range []string{m.Prepared.Port.Device, m.Prepared.Port.Driver, m.Prepared.Port.Link, m.Prepared.Port.GIDType, m.Prepared.Port.Why} {
		safe("port", text)
	}
	if gid := m.Prepared.Port.GID; gid != netip.MustParseAddr("fe80::1") {
		t.Errorf("GID %q", gid)
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

func FuzzMessage(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := readMessage(io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint32(nil, uint32(len(body)))), bytes.NewReader(body)))
		if err != nil || m.Prepare == nil {
			return
		}
		if checkGIDs(m.Prepare.GIDs) == nil {
			_, _ = port.Choose(nil, m.Prepare.GIDs, -1, func(netip.Addr) netip.Addr { return netip.Addr{} })
		}
		if m.Prepare.Test.Check() != nil {
			return
		}
		for _, leads := range []bool{false, true} {
			s := shape{m.Prepare.Test, leads}
			o := s.endpoint()
			if n := s.memory(); n < 0 || o.Depth < 1 || s.list() < 1 || s.moderation() > s.depth() || s.sends() && o.Out < s.Size {
				t.Errorf("%+v: %d bytes, %+v", s, n, o)
			}
		}
	})
}

// talking starts a server without devices and connects to it.
func talking(t *testing.T, change func(*ServeOptions)) net.Conn {
	t.Helper()
	l := testenv.Listen(t)
	o := ServeOptions{Device: "none", GIDIndex: -1, MaxClients: 1, MaxQueuePairs: 2, MaxMemory: 1 << 20, MaxTime: time.Minute, Idle: time.Minute}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, o) }()
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

// ask sends messages and returns the last answer.
func ask(t *testing.T, conn net.Conn, all ...message) (message, error) {
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

// TestLimits: each is told by its name.
func TestLimits(t *testing.T) {
	hello := message{Hello: &Identity{}}
	wanting := func(change func(*Test)) message {
		test := NewTest(Send, Bandwidth, RC, 64)
		change(&test)
		return message{Prepare: &request{Test: test}}
	}
	conn := talking(t, nil)
	deep := wanting(func(t *Test) { t.Depth, t.RecvDepth = maxDepth, maxDepth })
	if answer, err := ask(t, talking(t, nil), hello, deep); err != nil || !strings.Contains(answer.Failure, "--max-memory") {
		t.Errorf("large queues: %+v, %v", answer, err)
	}
	for want, m := range map[string]message{
		"--max-qps":    wanting(func(t *Test) { t.QueuePairs = 3 }),
		"--max-memory": wanting(func(t *Test) { t.Size = 1 << 24 }),
		"--max-time":   wanting(func(t *Test) { t.Iterations, t.Duration = 0, time.Hour }),
		"no such test": wanting(func(t *Test) { t.Op = "dance" }),
		"device":       wanting(func(*Test) {}),
	} {
		answer, err := ask(t, talking(t, nil), hello, m)
		if err != nil || !strings.Contains(answer.Failure, want) {
			t.Errorf("%s: %+v, %v", want, answer, err)
		}
	}
	answer, err := ask(t, talking(t, func(o *ServeOptions) { o.Allow = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} }), message{Started: &struct{}{}})
	if err != nil || !strings.Contains(answer.Failure, "--allow") {
		t.Errorf("not allowed: %+v, %v", answer, err)
	}
	answer, err = ask(t, conn, message{Finish: &finish{}})
	if err != nil || !strings.Contains(answer.Failure, errMessage.Error()) {
		t.Errorf("finish for hello: %+v, %v", answer, err)
	}
	if m, err := readMessage(talking(t, func(o *ServeOptions) { o.Idle = time.Millisecond })); err == nil {
		t.Errorf("an idle client got %+v", m)
	}
}

// What a program reports is taken for figures only where it can be some.
func TestReported(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	good := perftest.Report{Size: 1 << 20, Iterations: 100, Average: 200, Peak: 300}
	got := reported(&good, 2)
	if d := cmp.Diff(&Throughput{Messages: 200, Bytes: 200 << 20, Elapsed: time.Second, Peak: 300 << 20}, got); d != "" {
		t.Error(d)
	}
	for name, change := range map[string]func(*perftest.Report){
		"zeros":      func(r *perftest.Report) { *r = perftest.Report{} },
		"infinite":   func(r *perftest.Report) { r.Average = inf },
		"no number":  func(r *perftest.Report) { r.Average = nan },
		"negative":   func(r *perftest.Report) { r.Average = -1 },
		"for ever":   func(r *perftest.Report) { r.Average = 1e-300 },
		"iterations": func(r *perftest.Report) { r.Iterations = 1 << 63 },
		"size":       func(r *perftest.Report) { r.Size = 1 << 63 },
	} {
		bad := good
		change(&bad)
		if got := reported(&bad, 2); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, peak := range []float64{inf, nan, -1} {
		good.Peak = peak
		if got := reported(&good, 2); got == nil || got.Peak != 0 {
			t.Errorf("peak %v: %+v", peak, got)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	got, err := ParseCPUs("0-3,8")
	if d := cmp.Diff([]int{0, 1, 2, 3, 8}, got); err != nil || d != "" {
		t.Error(err, d)
	}
	for _, text := range []string{"", "x", "4-", "-", "9999999999", "1,,2"} {
		if got, err := ParseCPUs(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
