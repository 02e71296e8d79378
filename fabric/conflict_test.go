package fabric_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// TestDuplicateHosts checks that two hosts with the same GUID are two nodes, marked as
// duplicates.
func TestDuplicateHosts(t *testing.T) {
	f, nodes := twoLevels(2)
	first, second := nodes[4], nodes[7] // host1, host3
	second.guid = first.guid
	got := discover(t, f, fabric.DiscoverOptions{})
	if len(got.Nodes) != len(nodes) {
		t.Errorf("%d nodes, want %d:\n%s", len(got.Nodes), len(nodes), describe(got))
	}
	duplicates := 0
	for _, n := range got.Nodes {
		if n.Duplicate {
			duplicates++
		}
	}
	if duplicates != 2 || len(got.Conflicts) == 0 {
		t.Errorf("%d duplicates, conflicts %v", duplicates, got.Conflicts)
	}
}

// twins is a host at a switch with two switches with the same GUID; packets enter one of
// them by a port. It returns the host and the switches.
func twins(entry uint8) (local *fakeNode, switches []*fakeNode) {
	local = newFakeNode(mad.NodeTypeCA, 1, "local", 1)
	hub := newFakeNode(mad.NodeTypeSwitch, 2, "hub", 4)
	a := newFakeNode(mad.NodeTypeSwitch, 3, "twin", 6)
	b := newFakeNode(mad.NodeTypeSwitch, 3, "twin", 6)
	connect(local, 1, hub, 1)
	connect(hub, 2, a, 1)
	connect(hub, 3, b, entry)
	connect(a, 5, newFakeNode(mad.NodeTypeCA, 0x40, "behind a", 1), 1)
	connect(b, 4, newFakeNode(mad.NodeTypeCA, 0x50, "behind b", 1), 1)
	return local, []*fakeNode{hub, a, b}
}

// hasTwins reports whether a fabric description has both switches and a conflict.
func hasTwins(s string) bool {
	return strings.Contains(s, "5=behind a.1") && strings.Contains(s, "4=behind b.1") &&
		strings.Contains(s, "two nodes have this GUID")
}

// TestDuplicateSwitches checks that two switches with the same GUID are two nodes, and
// that the nodes behind both are found: if packets arrive through different ports, and
// if a host occupies the first switch's port through which packets arrive at the
// second.
func TestDuplicateSwitches(t *testing.T) {
	for _, entry := range []uint8{2, 5} {
		local, _ := twins(entry)
		for seed := range uint64(20) {
			f := newFakeFabric(local)
			f.pickAny(rand.New(rand.NewPCG(seed, 0)).IntN)
			got := discover(t, f, fabric.DiscoverOptions{})
			if s := describe(got); len(got.Nodes) != 6 || !hasTwins(s) {
				t.Fatalf("entered by port %d, seed %d: got\n%s", entry, seed, s)
			}
		}
	}
}

// TestDuplicateOfAnotherKind checks nodes with different types and the same GUID.
func TestDuplicateOfAnotherKind(t *testing.T) {
	f, nodes := twoLevels(2)
	nodes[7].guid = nodes[1].guid // host3 has spine2's GUID
	got := discover(t, f, fabric.DiscoverOptions{})
	if len(got.Nodes) != len(nodes) || len(got.Conflicts) == 0 {
		t.Errorf("got\n%s", describe(got))
	}
}

// TestLinkMoves moves a cable during the scan: the result has the new link only.
func TestLinkMoves(t *testing.T) {
	synctest.Test(t, testLinkMoves)
}

func testLinkMoves(t *testing.T) {
	f, nodes := twoLevels(2)
	leaf0, leaf1, host := nodes[2], nodes[5], nodes[4] // host1 at leaf0
	f.answer = func(n *fakeNode, p *mad.Packet) bool {
		if n == host && p.Attr() == mad.AttrNodeInfo && host.ports[1].peer == leaf0 {
			leaf0.ports[4].peer = nil
			leaf0.ports[4].info.PhysState = ib.PhysPolling
			connect(leaf1, 6, host, 1)
		}
		return true
	}
	got := discover(t, f, fabric.DiscoverOptions{})
	n := got.NodeByGUID(host.guid)
	if n == nil || n.Ports[1].Peer == nil || n.Ports[1].Peer.Node.GUID != leaf1.guid || len(got.Nodes) != len(nodes) || len(got.Conflicts) == 0 {
		t.Errorf("got\n%s", describe(got))
	}
}

// TestLinkRecovers checks that a link with a single end in error recovery is a single
// link to a single node.
func TestLinkRecovers(t *testing.T) {
	f, nodes := twoLevels(2)
	nodes[4].ports[1].info.PhysState = ib.PhysLinkErrorRecovery // host1
	got := discover(t, f, fabric.DiscoverOptions{})
	if len(got.Nodes) != len(nodes) || len(got.Conflicts) != 0 {
		t.Errorf("got\n%s", describe(got))
	}
}
