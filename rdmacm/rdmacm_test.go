package rdmacm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs"
)

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// expect reads the next event and checks its type.
func expect(t *testing.T, c *Channel, want EventType) Event {
	t.Helper()
	e, err := c.Next(testenv.Limit(t))
	if err != nil || e.Type != want {
		t.Fatalf("got %v, %v, want %v", e.Type, err, want)
	}
	return e
}

var loopback = IPAddr{netip.MustParseAddrPort("127.0.0.1:7174")}

// TestMessage compares messages with the bytes that librdmacm writes according to the
// header, <rdma/rdma_user_cm.h>.
func TestMessage(t *testing.T) {
	in := uapi.CMBind{ID: 0x01020304}
	in.AddrSize = must(putAddr(&in.Addr, loopback))(t)
	got := new(slot).command(uapi.CMCmdBind, uapi.Bytes(&in), 0)
	want := append([]byte{
		20, 0, 0, 0, 136, 0, 0, 0, // header
		4, 3, 2, 1, 16, 0, 0, 0, // ID, address size
		2, 0, 0x1c, 0x06, 127, 0, 0, 1, // AF_INET
	}, make([]byte, 120)...)
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%x, want\n%x", got, want)
	}
}

// TestHandshake connects two fake kernel IDs, with private data in both
// directions, and ends the connection.
func TestHandshake(t *testing.T) {
	k := newFakeKernel(t)
	l := must(ListenConfig{}.listen(loopback, k.open))(t)
	defer l.Close()
	if got := l.Addr().(IPAddr).Port(); got != 7174 {
		t.Errorf("got port %d, want 7174", got)
	}
	c := must(k.open())(t)
	defer c.Close()
	id := must(c.NewID(PortSpaceTCP, 0))(t)
	if err := id.ResolveAddr(nil, loopback, time.Minute); err != nil {
		t.Fatal(err)
	}
	if e := expect(t, c, EventAddrResolved); e.ID != id {
		t.Errorf("got ID %p, want %p", e.ID, id)
	}
	if err := id.Connect(loopback, ConnParam{PrivateData: []byte("ping"), QPN: 5, InitiatorDepth: 3}); err != nil {
		t.Fatal(err)
	}
	r := must(l.Accept(testenv.Limit(t)))(t)
	if p := r.Param(); string(p.PrivateData) != "ping" || p.QPN != 5 || p.InitiatorDepth != 3 {
		t.Errorf("got parameters %+v", p)
	}
	if err := r.ID().Accept(ConnParam{PrivateData: []byte("pong")}); err != nil {
		t.Fatal(err)
	}
	if e := expect(t, c, EventConnectResponse); string(e.Param.PrivateData) != "pong" {
		t.Errorf("got private data %q, want pong", e.Param.PrivateData)
	}
	if err := id.Establish(); err != nil {
		t.Fatal(err)
	}
	expect(t, r.conn.channel, EventEstablished)
	if err := id.Disconnect(); err != nil {
		t.Fatal(err)
	}
	expect(t, c, EventDisconnected)
	for range 2 { // the second call does not wait
		if err := r.conn.AwaitEnd(testenv.Limit(t)); err != nil {
			t.Errorf("await the end: got error %v", err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := id.Close(); err != nil {
		t.Error(err)
	}
	if err := id.Connect(loopback, ConnParam{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, fs.ErrClosed)
	}
}

// TestDial_Failures fails each step. The fake kernel checks that nothing is left.
func TestDial_Failures(t *testing.T) {
	errSetup := errors.New("no memory")
	for name, c := range map[string]struct {
		fail map[uint32]error
		mute bool
		want string
		step Step
	}{
		"create ID":       {fail: map[uint32]error{uapi.CMCmdCreateID: unix.ENOMEM}, want: "create ID: cannot allocate memory"},
		"resolve address": {fail: map[uint32]error{uapi.CMCmdResolveAddr: unix.ENODEV}, want: "resolve address 127.0.0.1:7174: no such device"},
		"no answer":       {mute: true, want: "resolve address 127.0.0.1:7174: no reply within " + testenv.Brief().String()},
		"resolve route":   {fail: map[uint32]error{uapi.CMCmdResolveRoute: unix.EINVAL}, want: "resolve route to 127.0.0.1:7174: invalid argument", step: StepRoute},
		"setup":           {want: "set up queue pair for 127.0.0.1:7174: no memory", step: StepSetup},
	} {
		t.Run(name, func(t *testing.T) {
			k := newFakeKernel(t)
			k.fail, k.mute = c.fail, c.mute
			d := Dialer{
				Setup:    func(context.Context, *ID) (*verbs.QP, error) { return nil, errSetup },
				Timeouts: Timeouts{Address: testenv.Brief()},
			}
			_, err := d.dial(testenv.Limit(t), must(k.open())(t), loopback)
			if err == nil || err.Error() != c.want {
				t.Fatalf("got error %v, want %s", err, c.want)
			}
			if e, ok := errors.AsType[*StepError](err); ok && e.Step != c.step {
				t.Errorf("got step %v, want %v", e.Step, c.step)
			}
		})
	}
}

// TestDial_LateAddress resolves an address again after the kernel has missed its neighbour.
func TestDial_LateAddress(t *testing.T) {
	k := newFakeKernel(t)
	k.late = 2
	errSetup := errors.New("no memory")
	d := Dialer{Setup: func(context.Context, *ID) (*verbs.QP, error) { return nil, errSetup }}
	if _, err := d.dial(testenv.Limit(t), must(k.open())(t), loopback); !errors.Is(err, errSetup) || k.late != 0 {
		t.Errorf("got error %v and %d more timeouts, want %v of the next step and 0", err, k.late, errSetup)
	}
}

func TestDial_Canceled(t *testing.T) {
	k := newFakeKernel(t)
	k.mute = true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Dialer{}).dial(ctx, must(k.open())(t), loopback); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// TestListen_Failures fails each listener step.
func TestListen_Failures(t *testing.T) {
	for _, cmd := range []uint32{uapi.CMCmdCreateID, uapi.CMCmdBind, uapi.CMCmdListen, uapi.CMCmdQuery} {
		k := newFakeKernel(t)
		k.fail[cmd] = unix.EADDRINUSE
		if _, err := (ListenConfig{}).listen(loopback, k.open); !errors.Is(err, unix.EADDRINUSE) {
			t.Errorf("command %d: got error %v, want %v", cmd, err, unix.EADDRINUSE)
		}
	}
}

// TestConn_Reason: a command that fails because the peer has given up returns the event
// that reports it. Without an event it returns its own error.
func TestConn_Reason(t *testing.T) {
	k := newFakeKernel(t)
	l := must(ListenConfig{}.listen(loopback, k.open))(t)
	defer l.Close()
	channel, id := sendRequest(t, k)
	c := &Conn{channel: channel, id: id}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := c.reason(ended, unix.EINVAL); !errors.Is(err, unix.EINVAL) {
		t.Errorf("without an event: got error %v, want %v", err, unix.EINVAL)
	}
	if err := must(l.Accept(testenv.Limit(t)))(t).Close(); err != nil {
		t.Fatal(err)
	}
	_, err := c.run(t.Context(), StepEstablish, time.Minute, func() error { return &CallError{"establish connection", unix.EINVAL} })
	if _, ok := errors.AsType[*RejectError](err); !ok {
		t.Errorf("got error %v, want a rejection", err)
	}
}

// TestRequest_PeerGone: the kernel reports no event for a request that has no reply yet,
// and rejects the reply if the peer has given up (ucma.c, ucma_event_handler).
func TestRequest_PeerGone(t *testing.T) {
	k := newFakeKernel(t)
	l := must(ListenConfig{}.listen(loopback, k.open))(t)
	defer l.Close()
	_, id := sendRequest(t, k)
	r := must(l.Accept(testenv.Limit(t)))(t)
	defer r.Close()
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	if err := replyError(r.ID().Accept(ConnParam{})); !errors.Is(err, ErrPeerGone) {
		t.Errorf("got error %v, want %v", err, ErrPeerGone)
	}
	for _, err := range []error{nil, unix.EINVAL, &CallError{"accept", unix.ENOMEM}} {
		if got := replyError(err); !errors.Is(got, err) {
			t.Errorf("got error %v, want %v", got, err)
		}
	}
}

// TestListenOn: a listener without an address accepts requests in both families on the same
// port, which another program's ID may have taken for either family.
func TestListenOn(t *testing.T) {
	k := newFakeKernel(t)
	other := must(k.open())(t)
	t.Cleanup(func() { _ = other.Close() })
	if err := must(other.NewID(PortSpaceTCP, 0))(t).Bind(IPAddr{netip.MustParseAddrPort("0.0.0.0:1000")}); err != nil {
		t.Fatal(err)
	}
	c := must(k.open())(t)
	t.Cleanup(func() { _ = c.Close() })
	ids, addr, err := ListenConfig{}.ListenOn(c, IPAddr{})
	if err != nil || len(ids) != 2 {
		t.Fatalf("got %d IDs, %v, want 2", len(ids), err)
	}
	port := addr.(IPAddr).Port()
	if port == 1000 {
		t.Error("got port 1000, which is in use")
	}
	for i, to := range []string{"[::1]", "127.0.0.1"} {
		client := must(k.open())(t)
		t.Cleanup(func() { _ = client.Close() })
		id := must(client.NewID(PortSpaceTCP, 0))(t)
		peer := IPAddr{netip.MustParseAddrPort(fmt.Sprintf("%s:%d", to, port))}
		if err := errors.Join(id.ResolveAddr(nil, peer, time.Minute), id.Connect(peer, ConnParam{})); err != nil {
			t.Fatal(err)
		}
		if e := expect(t, c, EventConnectRequest); e.Listener != ids[i] {
			t.Errorf("request to %s: got another listener than number %d", to, i)
		}
	}
	if _, _, err := (ListenConfig{}).ListenOn(c, IPAddr{netip.AddrPortFrom(netip.Addr{}, 1000)}); !errors.Is(err, unix.EADDRNOTAVAIL) {
		t.Errorf("port in use for IPv4: got error %v, want %v", err, unix.EADDRNOTAVAIL)
	}
}

// TestListenOn_OneFamily: where a listener for IPv6 takes the port of both families, there is
// one for IPv4 only, and none if another listener has the port.
func TestListenOn_OneFamily(t *testing.T) {
	k := newFakeKernel(t)
	k.both = true
	c := must(k.open())(t)
	t.Cleanup(func() { _ = c.Close() })
	for _, port := range []uint16{0, 2000} {
		ids, addr, err := ListenConfig{}.ListenOn(c, IPAddr{netip.AddrPortFrom(netip.Addr{}, port)})
		if err != nil || len(ids) != 1 {
			t.Fatalf("port %d: got %d IDs, %v, want 1", port, len(ids), err)
		}
		if got := addr.(IPAddr); !got.Addr().Is4() || port != 0 && got.Port() != port {
			t.Errorf("port %d: got address %v, want IPv4", port, got)
		}
	}
	if ids, _, err := (ListenConfig{}).ListenOn(c, IPAddr{netip.MustParseAddrPort("[::1]:2001")}); err != nil || len(ids) != 1 {
		t.Fatalf("IPv6: got %d IDs, %v, want 1", len(ids), err)
	}
	if _, _, err := (ListenConfig{}).ListenOn(c, IPAddr{netip.AddrPortFrom(netip.Addr{}, 2001)}); err == nil {
		t.Error("port in use: got no error")
	}
}

// sendRequest returns an ID that has sent a request to a listener.
func sendRequest(t *testing.T, k *fakeKernel) (*Channel, *ID) {
	t.Helper()
	c := must(k.open())(t)
	t.Cleanup(func() { _ = c.Close() })
	id := must(c.NewID(PortSpaceTCP, 0))(t)
	if err := errors.Join(id.ResolveAddr(nil, loopback, time.Minute), id.Connect(loopback, ConnParam{})); err != nil {
		t.Fatal(err)
	}
	expect(t, c, EventAddrResolved)
	return c, id
}

// TestMigrate_SameChannel: an ID that moves to its own channel keeps its events.
func TestMigrate_SameChannel(t *testing.T) {
	c := must(newFakeKernel(t).open())(t)
	defer c.Close()
	id := must(c.NewID(PortSpaceTCP, 0))(t)
	if err := errors.Join(id.Migrate(c), id.ResolveAddr(nil, loopback, time.Minute)); err != nil {
		t.Fatal(err)
	}
	if e := expect(t, c, EventAddrResolved); e.ID != id {
		t.Errorf("got event of ID %p, want %p", e.ID, id)
	}
}

// TestListener_Failures: a request that cannot move to its own channel is
// destroyed, and the listener keeps accepting.
func TestListener_Failures(t *testing.T) {
	k := newFakeKernel(t)
	l := must(ListenConfig{}.listen(loopback, k.open))(t)
	defer l.Close()
	k.fail[uapi.CMCmdMigrateID] = unix.ENOMEM
	c, _ := sendRequest(t, k)
	if _, err := l.Accept(testenv.Limit(t)); !errors.Is(err, unix.ENOMEM) {
		t.Errorf("got error %v, want %v", err, unix.ENOMEM)
	}
	expect(t, c, EventRejected)
	l.open = func() (*Channel, error) { return nil, unix.EMFILE }
	c, _ = sendRequest(t, k)
	if _, err := l.Accept(testenv.Limit(t)); !errors.Is(err, unix.EMFILE) {
		t.Errorf("got error %v, want %v", err, unix.EMFILE)
	}
	expect(t, c, EventRejected)
	l.open, k.fail = k.open, nil
	c, _ = sendRequest(t, k)
	r := must(l.Accept(testenv.Limit(t)))(t)
	if err := r.Reject([]byte("full")); err != nil {
		t.Error(err)
	}
	e := expect(t, c, EventRejected)
	want := &RejectError{Reason: RejectConsumer, PrivateData: []byte("full")}
	if got, ok := errors.AsType[*RejectError](e.Err()); !ok || got.Reason != want.Reason || string(got.PrivateData) != "full" {
		t.Errorf("got error %v, want %v", e.Err(), want)
	}
}

// TestChannel_ClosedOwner: events for a closed ID are dropped, and the ID for
// a request to it is destroyed.
func TestChannel_ClosedOwner(t *testing.T) {
	k := newFakeKernel(t)
	c := must(k.open())(t)
	defer c.Close()
	id := must(c.NewID(PortSpaceTCP, 0))(t)
	if err := errors.Join(id.Bind(loopback), id.Listen(0)); err != nil {
		t.Fatal(err)
	}
	_, _ = sendRequest(t, k)
	if err := id.Close(); err != nil {
		t.Error(err)
	}
	other := must(c.NewID(PortSpaceTCP, 0))(t)
	if err := other.ResolveRoute(0); err != nil {
		t.Fatal(err)
	}
	if e := expect(t, c, EventRouteResolved); e.ID != other {
		t.Errorf("got an event of ID %p, want %p", e.ID, other)
	}
}

func TestChannel_TryNext(t *testing.T) {
	k := newFakeKernel(t)
	c := must(k.open())(t)
	defer c.Close()
	id := must(c.NewID(PortSpaceTCP, 0))(t)
	if e, ok, err := c.TryNext(); ok || err != nil {
		t.Errorf("without an event: got %v, %v, %v, want none", e, ok, err)
	}
	if err := id.ResolveRoute(0); err != nil {
		t.Fatal(err)
	}
	if e, ok, err := c.TryNext(); !ok || err != nil || e.ID != id || e.Type != EventRouteResolved {
		t.Errorf("got %v, %v, %v, want %v", e, ok, err, EventRouteResolved)
	}
	// A closed ID's event is dropped.
	if err := errors.Join(id.ResolveRoute(0), id.Close()); err != nil {
		t.Fatal(err)
	}
	if e, ok, err := c.TryNext(); ok || err != nil {
		t.Errorf("after Close of the ID: got %v, %v, %v, want none", e, ok, err)
	}
}

// TestSlots takes more slots than are mapped at a time, writes to them all, and
// returns them.
func TestSlots(t *testing.T) {
	taken := map[*slot]bool{}
	for range 3 * slotsAtOnce {
		s := must(takeSlot())(t)
		if taken[s] {
			t.Fatal("got a slot twice")
		}
		taken[s] = true
		s.response[0], s.message[len(s.message)-1] = 1, 1
	}
	for s := range taken {
		s.free()
	}
	s := must(takeSlot())(t)
	defer s.free()
	s.command(uapi.CMCmdBind, nil, 8)
	if s.response[0] != 0 || !taken[s] {
		t.Errorf("got response %d, used before %v, want a used slot that is cleared", s.response[0], taken[s])
	}
}

func BenchmarkCommand(b *testing.B) {
	c := newChannel(nullNode{})
	id := c.register(&ID{space: PortSpaceTCP, qpType: verbs.QPTypeRC})
	peer, err := ResolveAddr(b.Context(), "127.0.0.1:1")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := id.ResolveAddr(nil, peer, time.Minute); err != nil {
			b.Fatal(err)
		}
	}
}

// A nullNode accepts all commands.
type nullNode struct{ node }

func (nullNode) command([]byte) error { return nil }

func TestGroup(t *testing.T) {
	k := newFakeKernel(t)
	c := must(k.open())(t)
	defer c.Close()
	id := must(c.NewID(PortSpaceUDP, 0))(t)
	g := must(id.Join(IPAddr{netip.MustParseAddrPort("239.0.0.1:0")}, JoinFull))(t)
	if e := expect(t, c, EventMulticastJoin); e.Group != g || e.ID != id {
		t.Errorf("got group %p, want %p", e.Group, g)
	}
	if err := g.Leave(); !errors.Is(err, unix.ENOSYS) { // not in the fake
		t.Errorf("got error %v, want %v", err, unix.ENOSYS)
	}
	if err := g.Leave(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got error %v, want %v", err, fs.ErrClosed)
	}
}

func TestAddr_Encode(t *testing.T) {
	for want, a := range map[string]Addr{
		"10.0.0.1:7174":              IPAddr{netip.MustParseAddrPort("10.0.0.1:7174")},
		"[2001:db8::1]:1":            IPAddr{netip.MustParseAddrPort("[2001:db8::1]:1")},
		"[fe80::1%2]:1":              IPAddr{netip.MustParseAddrPort("[fe80::1%2]:1")},
		"[::]:80":                    IPAddr{netip.AddrPortFrom(netip.Addr{}, 80)},
		"[fe80::2:c903]:0x1060001c6": IBAddr{GID: ib.GID(netip.MustParseAddr("fe80::2:c903").As16()), ServiceID: 0x1060001c6, PKey: 0xffff, ScopeID: 4},
	} {
		t.Run(want, func(t *testing.T) {
			var s uapi.CMSockaddr
			size := must(putAddr(&s, a))(t)
			got := must(decodeAddr(s))(t)
			if got.String() != want {
				t.Errorf("got %v of %d bytes, want %s", got, size, want)
			}
		})
	}
}

func TestResolveAddr(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1:7174": "10.0.0.1:7174", ":7174": ":7174", "[::1]:0": "[::1]:0",
		"10.0.0.1": "missing port", "x:y": "invalid port", "10.0.0.1:70000": "invalid port", "": "missing port",
	} {
		t.Run(text, func(t *testing.T) {
			a, err := ResolveAddr(t.Context(), text)
			if err != nil {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want %s", err, want)
				}
			} else if a.String() != want {
				t.Errorf("got %v, want %s", a, want)
			}
		})
	}
}

// TestPrivateData_Limits sends 1 byte more than each message has room for.
func TestPrivateData_Limits(t *testing.T) {
	k := newFakeKernel(t)
	c := must(k.open())(t)
	defer c.Close()
	tcp, udp := must(c.NewID(PortSpaceTCP, 0))(t), must(c.NewID(PortSpaceUDP, 0))(t)
	for want, send := range map[int]func(data []byte) error{
		56:  func(b []byte) error { return tcp.Connect(loopback, ConnParam{PrivateData: b}) },
		92:  func(b []byte) error { return tcp.Connect(IBAddr{}, ConnParam{PrivateData: b}) },
		180: func(b []byte) error { return udp.Connect(loopback, ConnParam{PrivateData: b}) },
		196: func(b []byte) error { return tcp.Accept(ConnParam{PrivateData: b}) },
		136: func(b []byte) error { return udp.Accept(ConnParam{PrivateData: b}) },
		148: tcp.Reject,
	} {
		if err := send(make([]byte, want+1)); err == nil || !strings.Contains(err.Error(), "want at most") {
			t.Errorf("%d bytes: got error %v, want a limit of %d", want+1, err, want)
		}
	}
}

func TestEvent_Err(t *testing.T) {
	minus := func(e unix.Errno) int32 { return -int32(e) }
	for want, e := range map[string]Event{
		"":                                              {Type: EventEstablished},
		"address not resolved: no such device":          {Type: EventAddrError, Status: minus(unix.ENODEV)},
		"rejected by the peer: stale connection":        {Type: EventRejected, Status: 10},
		"rejected by the peer: reason 34":               {Type: EventRejected, Status: 34},
		"connection refused: connection refused":        {Type: EventRejected, Status: minus(unix.ECONNREFUSED)},
		"refused by the peer: service ID not supported": {Type: EventUnreachable, Status: 1},
		"peer unreachable: connection timed out":        {Type: EventUnreachable, Status: minus(unix.ETIMEDOUT)},
		"device removed":                                {Type: EventDeviceRemoval},
		"event 99: status 5":                            {Type: 99, Status: 5},
	} {
		t.Run(want, func(t *testing.T) {
			got := ""
			if err := e.Err(); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if !errors.Is(Event{Type: EventDeviceRemoval}.Err(), verbs.ErrDeviceRemoved) {
		t.Errorf("device removal: want %v", verbs.ErrDeviceRemoved)
	}
}

func TestStep_Text(t *testing.T) {
	for _, want := range Steps() {
		var got Step
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	if err := new(Step).UnmarshalText([]byte("x")); err == nil {
		t.Error("got no error")
	}
}

func TestStepError(t *testing.T) {
	call := func(op string) error { return callError(op, unix.EINVAL) }
	for want, e := range map[string]*StepError{
		"resolve address 127.0.0.1:7174: invalid argument":          {Peer: loopback, Err: call("resolve address 127.0.0.1:7174")},
		"resolve address: invalid argument":                         {Err: call("resolve address 127.0.0.1:7174")},
		"resolve route to 127.0.0.1:7174: invalid argument":         {Step: StepRoute, Peer: loopback, Err: call("resolve route")},
		"set up queue pair: create ID: invalid argument":            {Step: StepSetup, Err: call("create ID")},
		"connect: accept: invalid argument":                         {Step: StepConnect, Err: call("accept")},
		"establish connection to 127.0.0.1:7174: invalid argument":  {Step: StepEstablish, Peer: loopback, Err: call("establish connection")},
		"disconnect from 127.0.0.1:7174: no reply within 1s":        {Step: StepDisconnect, Peer: loopback, Err: &TimeoutError{time.Second}},
		"disconnect from 127.0.0.1:7174: disconnected by the peer":  {Step: 99, Peer: loopback, Err: &EventError{Type: EventDisconnected}},
		"establish connection to 127.0.0.1:7174: context cancelled": {Step: StepEstablish, Peer: loopback, Err: errors.New("context cancelled")},
	} {
		t.Run(want, func(t *testing.T) {
			if got := e.Error(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// An error's event has its type and status.
func TestStepError_Event(t *testing.T) {
	for _, want := range []Event{
		{Type: EventRejected, Status: int32(RejectStale)},
		{Type: EventRejected, Status: -int32(unix.ECONNREFUSED)},
		{Type: EventUnreachable, Status: 1},
		{Type: EventUnreachable, Status: -int32(unix.ETIMEDOUT)},
		{Type: EventDeviceRemoval},
	} {
		t.Run(fmt.Sprint(want.Type, want.Status), func(t *testing.T) {
			e := &StepError{Step: StepConnect, Err: want.Err()}
			if got, ok := e.Event(); !ok || got.Type != want.Type || got.Status != want.Status {
				t.Errorf("got %v, status %d, %v, want %v, status %d", got.Type, got.Status, ok, want.Type, want.Status)
			}
		})
	}
	late := &TimeoutError{time.Second}
	for step, want := range map[Step]EventType{StepAddress: EventAddrError, StepRoute: EventRouteError, StepConnect: 0} {
		e := &StepError{Step: step, Err: late}
		if got, ok := e.Event(); got.Type != want || ok != (want != 0) {
			t.Errorf("timeout of %v: got %v, %v, want %v", step, got.Type, ok, want)
		}
	}
}

// FuzzEvent decodes kernel events.
func FuzzEvent(f *testing.F) {
	f.Add(make([]byte, 336), false)
	f.Add(bytes.Repeat([]byte{255}, 336), true)
	f.Fuzz(func(t *testing.T, b []byte, datagrams bool) {
		r := uapi.Decode[uapi.CMEventResp](b)
		e, err := decodeEvent(&r, datagrams)
		if err != nil {
			t.Fatal(err) // every event has the structure size
		}
		if len(e.Param.PrivateData) > uapi.CMPrivateDataSize {
			t.Errorf("got %d bytes of private data", len(e.Param.PrivateData))
		}
		if err := e.Err(); err != nil && err.Error() == "" {
			t.Error("got an error without text")
		}
		_ = e.Type.String()
	})
}

// FuzzQuery decodes responses to queries.
func FuzzQuery(f *testing.F) {
	var s uapi.CMSockaddr
	for _, a := range []Addr{loopback, IPAddr{netip.MustParseAddrPort("[fe80::1%2]:1")}, IBAddr{ServiceID: 1}} {
		_, _ = putAddr(&s, a)
		f.Add(slices.Concat(make([]byte, 16), s[:], s[:]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := decodeAddresses(uapi.Decode[uapi.CMQueryAddrResp](b)); err == nil {
			for _, addr := range []Addr{a.Local, a.Peer} {
				if addr != nil {
					_ = addr.String()
				}
			}
		}
		if n := len(decodeRoutes(uapi.Decode[uapi.CMQueryRouteResp](b))); n > 2 {
			t.Errorf("got %d routes, want at most 2", n)
		}
		_, _, _ = verbs.DecodeQPAttr(b)
	})
}
