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
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// twoLevels is a fabric with two spines and n leaves with two hosts each; the first
// host is the local host.
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
	return newFakeFabric(nodes[3]), nodes
}

func discover(t *testing.T, f *fakeFabric, o fabric.DiscoverOptions) *fabric.Fabric {
	t.Helper()
	got, err := fabric.Discover(context.Background(), umad.NewClient(f, umad.ClientOptions{}), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// describe returns a fabric's nodes, links, failures and conflicts as text.
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
		cause := x.Err // without the route, which depends on the reply order
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

// TestDiscoverOrder checks that the result, with its failure order, does not depend on
// the reply order.
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
		f.pickAny(random.IntN)
		if got := describe(discover(t, f, fabric.DiscoverOptions{})); got != want {
			t.Fatalf("seed %d: got\n%swant\n%s", seed, got, want)
		}
	}
}

// TestDiscoverBoundedOrder checks the same with a limit on hops: the reply with
// the short route to a switch may arrive last, when the nodes behind the switch
// are beyond the limit by the long route.
func TestDiscoverBoundedOrder(t *testing.T) {
	for hops := 1; hops <= 7; hops++ {
		want := describe(discover(t, shortcut(), fabric.DiscoverOptions{MaxHops: hops}))
		late := shortcut()
		late.Pick = func(arrived []umad.Message) int {
			for i := range arrived {
				if m := arrived[i].MAD; m.InitialPath() != mad.RouteOf(1, 3) || m.Attr() != mad.AttrNodeInfo {
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
			f.pickAny(rand.New(rand.NewPCG(seed, 0)).IntN)
			if got := describe(discover(t, f, fabric.DiscoverOptions{MaxHops: hops})); got != want {
				t.Fatalf("%d hops, seed %d: got\n%swant\n%s", hops, seed, got, want)
			}
		}
	}
}

// shortcut is a row with eight switches. The fourth is also linked to the first, the
// local host's switch.
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
	return newFakeFabric(local)
}

func TestDiscoverPartOfFabric(t *testing.T) {
	for _, test := range []struct {
		name string
		from mad.Route
		hops int
		want []string
	}{
		{"around the local host", mad.Route{}, 1, []string{"host0", "leaf0"}},
		{"around a switch", mad.RouteOf(1), 1, []string{"leaf0", "spine1", "spine2", "host0", "host1"}},
		{"around a remote host", mad.RouteOf(1, 1, 2, 4), 1, []string{"host3", "leaf1"}},
		{"further around a remote host", mad.RouteOf(1, 1, 2, 4), 2, []string{"host3", "leaf1", "spine1", "spine2", "host2"}},
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

// TestDiscover_DeadNodes checks that ten hosts that do not respond cost the time for
// three attempts in parallel, and that each is listed.
func TestDiscover_DeadNodes(t *testing.T) {
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
				t.Errorf("failure without a timeout: %v", x.Err)
			}
		}
		if limit := 4 * time.Second; took > limit {
			t.Errorf("took %v, more than one timeout of 3 attempts (%v)", took, limit)
		}
	})
}

func TestDiscover_Aborted(t *testing.T) {
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

func TestDiscover_Cancelled(t *testing.T) {
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

func TestDiscover_NoReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := twoLevels(1)
		f.answer = func(*fakeNode, *mad.Packet) bool { return false }
		_, err := fabric.Discover(context.Background(), umad.NewClient(f, umad.ClientOptions{}), fabric.DiscoverOptions{})
		if !errors.Is(err, umad.ErrTimeout) {
			t.Fatalf("got error %v", err)
		}
	})
}

// TestDiscover_InvalidNodeInfo checks that nodes with invalid data stay in the
// fabric, are marked, and do not make the result partial.
func TestDiscover_InvalidNodeInfo(t *testing.T) {
	const leaf1, host2 = 5, 6 // a switch with two hosts, and the first host
	zero := func(i *mad.NodeInfo) { *i = mad.NodeInfo{} }
	for _, test := range []struct {
		name     string
		node     int
		wrong    func(*mad.NodeInfo)
		nodes    int
		contains string // a description line
		invalid  string // for the node and its ports
		conflict string
	}{
		{"switch of unknown type", leaf1, func(i *mad.NodeInfo) { i.NodeType = 9 }, 6,
			`?(9) 0x201 "leaf1" at 0,1,1,2 1=spine1.2 2=spine2.2`, "[node type 9]", ""},
		{"switch without GUID", leaf1, func(i *mad.NodeInfo) { i.NodeGUID = 0 }, 8,
			`Switch 0x0 "leaf1" at 0,1,1,2 1=spine1.2 2=spine2.2 3=host2.1 4=host3.1`, "[node GUID 0]", ""},
		{"switch without ports", leaf1, func(i *mad.NodeInfo) { i.NumPorts = 0 }, 6,
			`Switch 0x201 "leaf1" at 0,1,1,2 1=spine1.2 2=spine2.2`,
			"[node with 0 ports port number 1 port number 2]",
			"port 2 of 0x0000000000000100 leads to port 1 of 0x0000000000000201 which has 0 ports, numbered from 1"},
		{"switch with 255 ports", leaf1, func(i *mad.NodeInfo) { i.NumPorts = 255 }, 8,
			`Switch 0x201 "leaf1" at 0,1,1,2 1=spine1.2 2=spine2.2 3=host2.1 4=host3.1`, "[node with 255 ports]", ""},
		{"switch entered through a port that it does not have", leaf1, func(i *mad.NodeInfo) { i.LocalPort = 200 }, 8,
			`Switch 0x201 "leaf1" at 0,1,1,2 1=spine1.2 2=spine2.2 3=host2.1 4=host3.1`, "[]",
			"port 2 of 0x0000000000000101 leads to port 200 of 0x0000000000000201 which has 6 ports, numbered from 1"},
		{"switch entered through port 0", leaf1, func(i *mad.NodeInfo) { i.LocalPort = 0 }, 8,
			`Switch 0x201 "leaf1" at 0,1,1,2 1=spine1.2 2=spine2.2 3=host2.1 4=host3.1`, "[]",
			"port 2 of 0x0000000000000101 leads to port 0 of 0x0000000000000201 which has 6 ports, numbered from 1"},
		{"router without GUID", host2, func(i *mad.NodeInfo) { i.NodeType, i.NodeGUID = mad.NodeTypeRouter, 0 }, 8,
			`Router 0x0 "host2" at 0,1,1,2,3 1=leaf1.3`, "[node GUID 0]", ""},
		{"adapter entered through a port that it does not have", host2, func(i *mad.NodeInfo) { i.LocalPort = 9 }, 8,
			`CA 0x1020 "host2" at 0,1,1,2,3 9=leaf1.3`, "[port number 9]",
			"port 3 of 0x0000000000000201 leads to port 9 of 0x0000000000001020 which has 1 ports, numbered from 1"},
		{"adapter without port GUID", host2, func(i *mad.NodeInfo) { i.PortGUID = 0 }, 8,
			`CA 0x1020 "host2" at 0,1,1,2,3 1=leaf1.3`, "[port GUID 0]", ""},
		{"adapter with zeros only", host2, zero, 8,
			`?(0) 0x0 "host2" at 0,1,1,2,3 0=leaf1.3`,
			"[node type 0 node GUID 0 node with 0 ports port number 0 port GUID 0]",
			"port 3 of 0x0000000000000201 leads to port 0 of 0x0000000000000000 which has 0 ports, numbered from 1"},
		{"switch with zeros only", leaf1, zero, 6,
			`?(0) 0x0 "leaf1" at 0,1,1,2 0=spine1.2`,
			"[node type 0 node GUID 0 node with 0 ports port number 0 port GUID 0]",
			"port 2 of 0x0000000000000101 leads to port 0 of 0x0000000000000000 which has 0 ports, numbered from 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, nodes := twoLevels(2)
			f.answer = changing(t, nodes[test.node], test.wrong)
			for seed := range uint64(10) {
				random := rand.New(rand.NewPCG(seed, 0))
				f.pickAny(random.IntN)
				got := discover(t, f, fabric.DiscoverOptions{})
				if s := describe(got); !strings.Contains(s, test.contains+"\n") || got.Partial() || len(got.Nodes) != test.nodes {
					t.Fatalf("got partial %t, %d nodes\n%swant %d nodes with\n%s", got.Partial(), len(got.Nodes), s, test.nodes, test.contains)
				}
				if s := invalid(got); fmt.Sprint(s) != test.invalid {
					t.Fatalf("got invalid %v, want %s", s, test.invalid)
				}
				if test.conflict == "" && len(got.Conflicts) > 0 || test.conflict != "" && !strings.Contains(describe(got), "conflict: "+test.conflict+"\n") {
					t.Fatalf("got conflicts %v, want %q", got.Conflicts, test.conflict)
				}
			}
		})
	}
}

// changing returns an answer function that changes a single node's NodeInfo.
func changing(t *testing.T, node *fakeNode, change func(*mad.NodeInfo)) func(*fakeNode, *mad.Packet) bool {
	return func(n *fakeNode, p *mad.Packet) bool {
		if n != node || p.Attr() != mad.AttrNodeInfo {
			return true
		}
		var info mad.NodeInfo
		if err := p.Decode(&info); err != nil {
			t.Error(err)
		}
		change(&info)
		if err := mad.Encode(&info, p.Data()); err != nil {
			t.Error(err)
		}
		return true
	}
}

// invalid lists a fabric's invalid data.
func invalid(f *fabric.Fabric) []string {
	var s []string
	for _, n := range f.Nodes {
		s = append(s, n.Invalid()...)
		for _, p := range n.Ports {
			if p != nil {
				s = append(s, p.Invalid()...)
			}
		}
	}
	return s
}

// TestDiscover_InvalidStart checks that a scan from a node with an invalid local
// port is partial: the scan cannot leave the node.
func TestDiscover_InvalidStart(t *testing.T) {
	for name, port := range map[string]uint8{"port 0": 0, "port that it does not have": 7} {
		t.Run(name, func(t *testing.T) {
			f, _ := twoLevels(1)
			f.answer = changing(t, f.local, func(i *mad.NodeInfo) { i.LocalPort = port })
			if got := discover(t, f, fabric.DiscoverOptions{}); len(got.Nodes) != 1 || !got.Partial() || len(invalid(got)) != 1 {
				t.Errorf("got partial %t\n%swant one node and a partial result", got.Partial(), describe(got))
			}
		})
	}
}

// TestPort_Invalid checks PortInfo values.
func TestPort_Invalid(t *testing.T) {
	n := &fabric.Node{GUID: 1, Info: mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 1}}
	for _, test := range []struct {
		name string
		info mad.PortInfo
		want string
	}{
		{"valid", mad.PortInfo{State: ib.PortActive, PhysState: ib.PhysLinkUp, LID: 0xbffc, LMC: 2}, "[]"},
		{"no LID", mad.PortInfo{State: ib.PortInit, PhysState: ib.PhysLinkUp, LMC: 7}, "[]"},
		{"multicast LID", mad.PortInfo{State: ib.PortActive, LID: 0xc000}, "[LID 49152 with LMC 0]"},
		{"LIDs beyond the unicast range", mad.PortInfo{State: ib.PortActive, LID: 0xbffe, LMC: 2}, "[LID 49150 with LMC 2]"},
		{"undefined state", mad.PortInfo{State: 9, PhysState: ib.PhysPolling}, "[state ?(9)/Polling]"},
		{"undefined physical state", mad.PortInfo{State: ib.PortDown, PhysState: 12}, "[state Down/?(12)]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &fabric.Port{Node: n, Number: 1, GUID: 2, Info: &test.info}
			if got := fmt.Sprint(p.Invalid()); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestDiscover_Endless checks that a scan ends for a fabric with a new switch behind
// every port.
func TestDiscover_Endless(t *testing.T) {
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
	if got := testenv.Receive(t, "result of the scan", done); got == nil {
		t.Error("got no fabric, want one")
	}
}
