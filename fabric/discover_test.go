package fabric_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// twoLevels is a fabric of two spines and n leaves with two hosts each; the
// first host is the local one.
func twoLevels(leaves int) (*fakeFabric, []*fakeNode) {
	var nodes []*fakeNode
	spines := []*fakeNode{
		newFakeNode(mad.NodeTypeSwitch, 0x100, "spine1", leaves),
		newFakeNode(mad.NodeTypeSwitch, 0x101, "spine2", leaves),
	}
	nodes = append(nodes, spines...)
	for i := range leaves {
		leaf := newFakeNode(mad.NodeTypeSwitch, 0x200+ib.GUID(i), fmt.Sprintf("leaf%d", i), 6)
		nodes = append(nodes, leaf)
		for k, spine := range spines {
			connect(leaf, uint8(1+k), spine, uint8(1+i))
		}
		for k := range 2 {
			host := newFakeNode(mad.NodeTypeCA, 0x1000+ib.GUID(i*2+k)<<4, fmt.Sprintf("host%d", i*2+k), 1)
			connect(leaf, uint8(3+k), host, 1)
			nodes = append(nodes, host)
		}
	}
	return &fakeFabric{local: nodes[3]}, nodes
}

func discover(t *testing.T, f *fakeFabric, o fabric.DiscoverOptions) *fabric.Fabric {
	t.Helper()
	got, err := fabric.Discover(context.Background(), umad.NewClient(f, umad.ClientOptions{}), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// describe writes what a fabric consists of, for comparisons.
func describe(f *fabric.Fabric) string {
	var b strings.Builder
	for _, n := range f.Nodes {
		fmt.Fprintf(&b, "%s %#x %q at %s", n.Info.NodeType, n.GUID, n.Desc.Clean(), n.Route)
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil {
				fmt.Fprintf(&b, " %d=%s.%d", p.Number, p.Peer.Node.Desc.Clean(), p.Peer.Number)
			}
		}
		b.WriteByte('\n')
	}
	for _, x := range f.Failures {
		cause := x.Err // without the route, which depends on the order of replies
		for errors.Unwrap(cause) != nil {
			cause = errors.Unwrap(cause)
		}
		fmt.Fprintf(&b, "failure: 0x%x port %d %s: %v\n", x.NodeGUID, x.Port, x.Attr, cause)
	}
	for _, c := range f.Conflicts {
		fmt.Fprintf(&b, "conflict: %s\n", c.Detail)
	}
	return b.String()
}

func TestDiscover(t *testing.T) {
	f, nodes := twoLevels(2)
	got := discover(t, f, fabric.DiscoverOptions{})
	want := strings.TrimLeft(`
CA 0x1000 "host0" at 0 1=leaf0.3
Switch 0x200 "leaf0" at 0,1 1=spine1.1 2=spine2.1 3=host0.1 4=host1.1
Switch 0x100 "spine1" at 0,1,1 1=leaf0.1 2=leaf1.1
Switch 0x101 "spine2" at 0,1,2 1=leaf0.2 2=leaf1.2
CA 0x1010 "host1" at 0,1,4 1=leaf0.4
Switch 0x201 "leaf1" at 0,1,1,2 1=spine1.2 2=spine2.2 3=host2.1 4=host3.1
CA 0x1020 "host2" at 0,1,1,2,3 1=leaf1.3
CA 0x1030 "host3" at 0,1,1,2,4 1=leaf1.4
`, "\n")
	if s := describe(got); s != want {
		t.Errorf("got\n%swant\n%s", s, want)
	}
	if got.Partial() || got.MaxHops != 4 || len(got.Nodes) != len(nodes) {
		t.Errorf("partial %t, %d hops, %d of %d nodes", got.Partial(), got.MaxHops, len(got.Nodes), len(nodes))
	}
}

// The result is the same whatever the order in which replies arrive, and so is
// the order of what failed.
func TestDiscoverOrder(t *testing.T) {
	f, _ := twoLevels(8)
	f.answer = func(n *fakeNode, p *mad.Packet) bool {
		if n.guid%16 == 5 && p.Attr() == mad.AttrPortInfo {
			p.SetStatus(mad.StatusBadMethodAttr)
		}
		return true
	}
	want := describe(discover(t, f, fabric.DiscoverOptions{}))
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		f.pick = random.IntN
		if got := describe(discover(t, f, fabric.DiscoverOptions{})); got != want {
			t.Fatalf("seed %d: got\n%swant\n%s", seed, got, want)
		}
	}
}

// Nor does a bound on hops make the result depend on it: the reply by which a
// short way to a switch is known may come last of all, after what is behind that
// switch was found to be out of bounds by the long way.
func TestDiscoverBoundedOrder(t *testing.T) {
	for hops := 1; hops <= 7; hops++ {
		want := describe(discover(t, shortcut(), fabric.DiscoverOptions{MaxHops: hops}))
		late := shortcut()
		late.pick = func(n int) int {
			for i := range n {
				if m := late.replies[i].MAD; m.InitialPath() != "\x01\x03" || m.Attr() != mad.AttrNodeInfo {
					return i
				}
			}
			return 0
		}
		if got := describe(discover(t, late, fabric.DiscoverOptions{MaxHops: hops})); got != want {
			t.Errorf("%d hops, with a late reply: got\n%swant\n%s", hops, got, want)
		}
		for seed := range uint64(50) {
			f := shortcut()
			f.pick = rand.New(rand.NewPCG(seed, 0)).IntN
			if got := describe(discover(t, f, fabric.DiscoverOptions{MaxHops: hops})); got != want {
				t.Fatalf("%d hops, seed %d: got\n%swant\n%s", hops, seed, got, want)
			}
		}
	}
}

// shortcut is a row of eight switches in which the fourth is also linked to the
// first, where the local host is.
func shortcut() *fakeFabric {
	local := newFakeNode(mad.NodeTypeCA, 1, "local", 1)
	row := make([]*fakeNode, 8)
	for i := range row {
		row[i] = newFakeNode(mad.NodeTypeSwitch, ib.GUID(0x100+i), fmt.Sprintf("s%d", i), 4)
		if i > 0 {
			connect(row[i-1], 1, row[i], 2)
		}
	}
	connect(row[0], 3, row[3], 3)
	connect(local, 1, row[0], 4)
	return &fakeFabric{local: local}
}

func TestDiscoverPartOfFabric(t *testing.T) {
	for _, test := range []struct {
		name string
		from mad.Route
		hops int
		want []string
	}{
		{"around the local host", "", 1, []string{"host0", "leaf0"}},
		{"around a switch", "\x01", 1, []string{"leaf0", "spine1", "spine2", "host0", "host1"}},
		{"around a remote host", "\x01\x01\x02\x04", 1, []string{"host3", "leaf1"}},
		{"further around a remote host", "\x01\x01\x02\x04", 2, []string{"host3", "leaf1", "spine1", "spine2", "host2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, _ := twoLevels(2)
			got := discover(t, f, fabric.DiscoverOptions{From: umad.Target{Route: test.from}, MaxHops: test.hops})
			var names []string
			for _, n := range got.Nodes {
				names = append(names, n.Desc.Clean())
				for _, p := range n.Ports {
					if p != nil && p.Peer != nil && p.Peer.Peer != p {
						t.Errorf("%s port %d: the peer does not point back", n.Desc.Clean(), p.Number)
					}
				}
			}
			if fmt.Sprint(names) != fmt.Sprint(test.want) {
				t.Errorf("got %v, want %v", names, test.want)
			}
		})
	}
}

// Ten hosts that do not answer cost one time-out of three attempts, all side by
// side, and are each listed.
func TestDiscoverDeadNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := twoLevels(10)
		f.answer = func(n *fakeNode, _ *mad.Packet) bool {
			return n.kind != mad.NodeTypeCA || n == f.local || n.guid>>4%2 == 0
		}
		start := time.Now()
		got := discover(t, f, fabric.DiscoverOptions{})
		took := time.Since(start)
		if len(got.Failures) != 10 || !got.Partial() {
			t.Errorf("%d failures, partial %t", len(got.Failures), got.Partial())
		}
		for _, x := range got.Failures {
			if !errors.Is(x.Err, umad.ErrTimeout) {
				t.Errorf("failure without a time-out: %v", x.Err)
			}
		}
		if limit := 4 * time.Second; took > limit {
			t.Errorf("took %v, more than one time-out of 3 attempts (%v)", took, limit)
		}
	})
}

func TestDiscoverBreaksOff(t *testing.T) {
	f, _ := twoLevels(4)
	f.answer = func(*fakeNode, *mad.Packet) bool {
		if f.sent == 40 {
			f.broken = umad.ErrDeviceRemoved
		}
		return true
	}
	got, err := fabric.Discover(context.Background(), umad.NewClient(f, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if !errors.Is(err, umad.ErrDeviceRemoved) {
		t.Fatalf("got error %v", err)
	}
	if got == nil || len(got.Nodes) == 0 || !got.Partial() || got.Aborted == nil {
		t.Fatalf("no partial result: %+v", got)
	}
}

func TestDiscoverCancelled(t *testing.T) {
	f, _ := twoLevels(4)
	ctx, cancel := context.WithCancel(context.Background())
	f.answer = func(*fakeNode, *mad.Packet) bool {
		if f.sent == 40 {
			cancel()
		}
		return true
	}
	got, err := fabric.Discover(ctx, umad.NewClient(f, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if !errors.Is(err, context.Canceled) || got == nil || !got.Partial() {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestDiscoverNothingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := twoLevels(1)
		f.answer = func(*fakeNode, *mad.Packet) bool { return false }
		_, err := fabric.Discover(context.Background(), umad.NewClient(f, umad.ClientOptions{}), fabric.DiscoverOptions{})
		if !errors.Is(err, umad.ErrTimeout) {
			t.Fatalf("got error %v", err)
		}
	})
}

func TestDiscoverNonsense(t *testing.T) {
	for _, test := range []struct {
		name  string
		wrong func(*mad.NodeInfo)
		want  string
	}{
		{"node type", func(i *mad.NodeInfo) { i.NodeType = 9 }, "node type 9"},
		{"no GUID", func(i *mad.NodeInfo) { i.NodeGUID = 0 }, "node GUID 0"},
		{"no ports", func(i *mad.NodeInfo) { i.NumPorts = 0 }, "0 ports"},
		{"too many ports", func(i *mad.NodeInfo) { i.NumPorts = 255 }, "255 ports"},
		{"entered by a port it has not", func(i *mad.NodeInfo) { i.LocalPort = 200 }, "reached through port 200 of 6"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, nodes := twoLevels(2)
			liar := nodes[5] // leaf1
			f.answer = func(n *fakeNode, p *mad.Packet) bool {
				if n == liar && p.Attr() == mad.AttrNodeInfo {
					var info mad.NodeInfo
					if err := mad.Decode(&info, p.Data()); err != nil {
						t.Error(err)
					}
					test.wrong(&info)
					if err := mad.Encode(&info, p.Data()); err != nil {
						t.Error(err)
					}
				}
				return true
			}
			got := discover(t, f, fabric.DiscoverOptions{})
			if s := describe(got); !strings.Contains(s, test.want) || !got.Partial() || len(got.Nodes) != 5 {
				t.Errorf("got\n%s", s)
			}
		})
	}
}

// A fabric that makes up a new switch behind each port does not keep the scan
// for ever.
func TestDiscoverEndless(t *testing.T) {
	f, nodes := twoLevels(1)
	guid := ib.GUID(1 << 32)
	f.answer = func(n *fakeNode, p *mad.Packet) bool {
		if p.Attr() == mad.AttrNodeInfo && n != f.local {
			guid++
			_ = mad.Encode(&mad.NodeInfo{NodeType: mad.NodeTypeSwitch, NumPorts: 6, NodeGUID: guid, PortGUID: guid, LocalPort: 3}, p.Data())
		}
		return true
	}
	loop := nodes[2]
	connect(loop, 5, loop, 6)
	done := make(chan *fabric.Fabric, 1)
	go func() {
		got, _ := fabric.Discover(context.Background(), umad.NewClient(f, umad.ClientOptions{}), fabric.DiscoverOptions{})
		done <- got
	}()
	select {
	case got := <-done:
		if got == nil {
			t.Error("no result")
		}
	case <-time.After(time.Minute):
		t.Error("still scanning after a minute")
	}
}
