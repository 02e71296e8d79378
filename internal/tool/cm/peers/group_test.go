package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestParticipant_encode has struct peer_info as gcc lays it out, with an address family and
// a role in the host's byte order.
func TestParticipant_encode(t *testing.T) {
	family := func(n uint16) string { return fmt.Sprintf("%x", binary.NativeEndian.AppendUint16(nil, n)) }
	role := fmt.Sprintf("%x", binary.NativeEndian.AppendUint32(nil, 1))
	zeros := func(n int) string { return strings.Repeat("00", n) }
	for _, test := range []struct {
		peer participant
		want string
	}{
		{participant{}, zeros(136)},
		{participant{true, netip.MustParseAddrPort("10.1.2.3:4660")}, family(2) + "12340a010203" + zeros(120) + role + zeros(4)},
		{participant{true, netip.MustParseAddrPort("[2001:db8::7]:4660")}, family(10) + "12340000000020010db8" + zeros(11) + "07" + zeros(104) + role + zeros(4)},
	} {
		t.Run(fmt.Sprint(test.peer), func(t *testing.T) {
			b := test.peer.encode()
			if got := fmt.Sprintf("%x", b); got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
			if p, err := decodeParticipant(b); err != nil || p != test.peer {
				t.Errorf("decoded: got %v, error %v", p, err)
			}
		})
	}
	for want, change := range map[string]func(b []byte){
		"role 7":           func(b []byte) { binary.NativeEndian.PutUint32(b[addrSize:], 7) },
		"address family 9": func(b []byte) { binary.NativeEndian.PutUint16(b, 9) },
	} {
		b := participant{true, netip.MustParseAddrPort("10.1.2.3:1")}.encode()
		change(b)
		if _, err := decodeParticipant(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// joinAll joins peers to a group, the root first.
func joinAll(t *testing.T, n int) []*group {
	t.Helper()
	l := testenv.Listen(t)
	address := l.Addr().String()
	l.Close()
	groups := make([]*group, n)
	var all sync.WaitGroup
	rooted := make(chan struct{})
	start := func(i int, begun func()) {
		all.Go(func() {
			var err error
			if groups[i], err = join(t.Context(), address, n, begun); err != nil {
				t.Error(err)
			}
		})
	}
	start(0, func() { close(rooted) })
	<-rooted
	for i := 1; i < n; i++ {
		start(i, func() { t.Error("a second root") })
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	t.Cleanup(func() {
		for _, g := range groups {
			_ = g.close()
		}
	})
	return groups
}

func TestGroup(t *testing.T) {
	groups := joinAll(t, 3)
	at := netip.MustParseAddrPort("10.1.2.3:7")
	var all sync.WaitGroup
	lists := make([][]participant, len(groups))
	for i, g := range groups {
		all.Go(func() {
			var err error
			own := participant{}
			if i == 0 {
				own = participant{true, at}
			}
			if lists[i], err = g.exchange(own, len(groups)); err != nil {
				t.Error(err)
			}
			for _, s := range []Step{StepFull, StepInit, StepConnect, StepDisconnect} {
				if err := g.sync(s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i, list := range lists {
		if want := []participant{{true, at}, {}, {}}; !slices.Equal(list, want) {
			t.Errorf("peer %d: got %v, want %v", i, list, want)
		}
	}
	if groups[0].root == groups[1].root {
		t.Error("got no single root")
	}
}

// TestRun_meet meets a server as releases 52 to 58: without an exchange of addresses, and
// without a step before the connections.
func TestRun_meet(t *testing.T) {
	l := testenv.Listen(t)
	server := l.Addr().(*net.TCPAddr).AddrPort()
	r := &run{Options: Options{Server: server, Peers: 2}}
	got, err := r.meet(t.Context(), participant{})
	if want := []participant{{true, server}, {}}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.prepared(), r.group.close()); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(conn); err != nil || len(b) > 0 {
		t.Errorf("got bytes %v, error %v, want none", b, err)
	}
}

// TestGroup_otherStep synchronizes with peers that are at another step, or gone.
func TestGroup_otherStep(t *testing.T) {
	a, b := net.Pipe()
	g := &group{root: true, conns: []net.Conn{a}}
	go func() {
		b.Write([]byte{byte(StepInit)})
		b.Read(make([]byte, 1))
		b.Close()
	}()
	if err := g.sync(StepConnect); err == nil || !strings.Contains(err.Error(), "wait for cm connect at a peer: it is at step 7") {
		t.Errorf("got %v", err)
	}
	if err := g.sync(StepConnect); err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("closed: got %v", err)
	}
}

// TestSummarize has the figures of show_perf: the sum of full connects has no meaning.
func TestSummarize(t *testing.T) {
	begin := time.Now()
	at := func(from, to int) span {
		return span{begin.Add(time.Duration(from) * time.Microsecond), begin.Add(time.Duration(to) * time.Microsecond)}
	}
	conns := []*conn{{}, {}, {}}
	conns[0].spans[StepConnect], conns[1].spans[StepConnect] = at(0, 10), at(5, 12)
	conns[0].spans[StepFull] = at(0, 20)
	var whole [stepCount]span
	whole[StepConnect] = at(0, 15)
	all := summarize(whole, conns)
	want := map[Step]Times{StepConnect: {StepConnect, 15, 17, 7, 10}, StepFull: {StepFull, 0, 0, 20, 20}, StepBind: {StepBind, 0, 0, 0, 0}}
	for step, times := range want {
		if d := cmp.Diff(times, all[step]); d != "" {
			t.Errorf("%v: (-want +got)\n%s", step, d)
		}
	}
	if len(all) != 17 || StepConnect != 12 || StepDisconnect != 14 {
		t.Errorf("got %d steps, connect %d, disconnect %d", len(all), StepConnect, StepDisconnect)
	}
}
