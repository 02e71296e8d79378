package fabric_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// discoverLean returns a lean scan's result after its nodes were read.
func discoverLean(t *testing.T, f *fakeFabric) string {
	t.Helper()
	client := umad.NewClient(f, umad.ClientOptions{})
	got, err := fabric.Discover(t.Context(), client, fabric.DiscoverOptions{Lean: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time without effect
		if err := got.ReadPorts(t.Context(), client, got.Nodes); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range got.Nodes {
		for i, p := range n.Ports {
			if n.IsSwitch() && (p == nil || p.Info == nil && !p.Omitted) {
				t.Errorf("%s port %d has no PortInfo", n.Desc.Clean(), i)
			}
		}
		if n.IsSwitch() && n.Switch == nil {
			t.Errorf("%s has no SwitchInfo", n.Desc.Clean())
		}
	}
	return describe(got)
}

// addStateTables makes switches have a SwitchPortStateTable.
func addStateTables(nodes []*fakeNode) {
	for _, n := range nodes {
		if n.kind == mad.NodeTypeSwitch {
			n.ports[0].info.CapMask2 |= mad.Cap2SwitchPortStateTable
		}
	}
}

// TestDiscover_Lean compares a lean scan with a full scan.
func TestDiscover_Lean(t *testing.T) {
	for _, tables := range []bool{false, true} {
		t.Run(fmt.Sprintf("state tables %t", tables), func(t *testing.T) {
			f, nodes := twoLevels(8)
			if tables {
				addStateTables(nodes)
			}
			want := describe(discover(t, f, fabric.DiscoverOptions{}))
			full := f.sent
			for seed := range uint64(50) {
				f.pickAny(rand.New(rand.NewPCG(seed, 0)).IntN)
				f.sent = 0
				if read := discoverLean(t, f); read != want {
					t.Fatalf("seed %d: got\n%swant\n%s", seed, read, want)
				}
				if tables && f.sent > full {
					t.Errorf("seed %d: got %d packets, the full scan sent %d", seed, f.sent, full)
				}
			}
		})
	}
}

// TestDiscover_LeanOmits counts the packets in a lean scan across 10 switches and 16
// hosts.
func TestDiscover_LeanOmits(t *testing.T) {
	// NodeInfo from the start, and through each port of a switch or the start that is
	// up except for the port that leads back; PortInfo for hosts and port 0.
	const needed = 1 + 1 + (8*3 + 2*7) + 16 + 10
	for _, test := range []struct {
		tables bool
		want   int
	}{
		{true, needed + 10},
		// PortInfo for ports without a known link: on leaf0 except for port 3, on the
		// spines except for port 1, on the other leaves except for ports 1 and 2.
		{false, needed + 5 + 2*7 + 7*4},
	} {
		t.Run(fmt.Sprintf("state tables %t", test.tables), func(t *testing.T) {
			f, nodes := twoLevels(8)
			if test.tables {
				addStateTables(nodes)
			}
			if got := discover(t, f, fabric.DiscoverOptions{Lean: true}).Stats.Sent; got != test.want {
				t.Errorf("got %d packets, want %d", got, test.want)
			}
		})
	}
}

// TestDiscover_LeanTwins finds both switches with the same GUID.
func TestDiscover_LeanTwins(t *testing.T) {
	for _, tables := range []bool{false, true} {
		for _, entry := range []uint8{2, 5} {
			t.Run(fmt.Sprintf("state tables %t, entered by port %d", tables, entry), func(t *testing.T) {
				local, switches := twins(entry)
				if tables {
					addStateTables(switches)
				}
				synctest.Test(t, func(t *testing.T) {
					for seed := range uint64(20) {
						f := newFakeFabric(local)
						f.pickAny(rand.New(rand.NewPCG(seed, 0)).IntN)
						if read := discoverLean(t, f); !hasTwins(read) {
							t.Fatalf("seed %d: got\n%s", seed, read)
						}
					}
				})
			})
		}
	}
}
