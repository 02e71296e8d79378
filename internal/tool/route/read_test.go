package route

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// build makes a simulated fabric.
func build(t testing.TB, description string) *sim.Fabric {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// open returns a client at a fabric's first adapter.
func open(t testing.TB, f *sim.Fabric) *umad.Client {
	t.Helper()
	port, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close() })
	return umad.NewClient(port, umad.ClientOptions{})
}

// scan returns a fabric's nodes and links.
func scan(t testing.TB, c *umad.Client) *Routing {
	t.Helper()
	f, err := fabric.Discover(context.Background(), c, fabric.DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return FromFabric(f)
}

// mustRead scans a fabric and reads its tables.
func mustRead(t testing.TB, f *sim.Fabric) *Routing {
	t.Helper()
	c := open(t, f)
	r := scan(t, c)
	if err := Read(context.Background(), c, r, ReadOptions{Multicast: true}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=8,pods=8")
		r := mustRead(t, f)
		for _, n := range f.Nodes {
			got := r.NodeByGUID(n.Info.NodeGUID)
			if got == nil {
				t.Fatalf("%s is missing", n.ID)
			}
			if !n.IsSwitch() {
				continue
			}
			if table := got.Tables.LFT[:len(n.LFT)]; !slices.Equal(table, n.LFT) || got.Tables.Top != n.Switch.LinearFDBTop {
				t.Errorf("%s: got table %v up to %d, want %v up to %d", n.ID, table, got.Tables.Top, n.LFT, n.Switch.LinearFDBTop)
			}
			for i := range n.Ports {
				p := &got.Ports[i]
				if (p.Peer != nil) != (n.Ports[i].Peer != nil) || p.Peer != nil && p.Peer.Node.GUID != n.Ports[i].Peer.Node.Info.NodeGUID {
					t.Errorf("%s: got peer %v of port %d, want %v", n.ID, p.Peer, i, n.Ports[i].Peer)
				}
			}
		}
		if r.Partial() || len(r.Changing) > 0 {
			t.Errorf("got failures %v, changing switches %v", r.Failures, r.Changing)
		}
	})
}

// A switch that stops to respond costs two requests, and its blocks are missing.
func TestRead_SilentSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=16,pods=16")
		c := open(t, f)
		r := scan(t, c)
		f.Node("spine003").Silent = true
		before := c.Stats()
		if err := Read(context.Background(), c, r, ReadOptions{Multicast: true}); err != nil {
			t.Fatal(err)
		}
		silent := r.NodeByGUID(f.Node("spine003").Info.NodeGUID)
		if len(r.Failures) != 2 || r.Failures[0].Node != silent || r.Failures[1].Node != silent {
			t.Errorf("got failures %v, want two of spine003", r.Failures)
		}
		if got, want := len(silent.Tables.Missing), len(silent.Tables.LFT)/lftBlock; got != want {
			t.Errorf("got %d missing blocks, want %d", got, want)
		}
		if got := c.Stats().Timeouts - before.Timeouts; got > 6 {
			t.Errorf("got %d timeouts, want at most those of two requests", got)
		}
	})
}

// A block without a response does not hide the others, be it the first or the last
// block.
func TestRead_SilentBlock(t *testing.T) {
	for block := range 3 {
		t.Run(fmt.Sprint(block), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, "fat-tree:radix=16,pods=16")
				do(t, f, fmt.Sprintf("mute spine003 LinearForwardingTable %d", block))
				r := mustRead(t, f)
				n := f.Node("spine003")
				got := r.NodeByGUID(n.Info.NodeGUID).Tables
				if len(r.Failures) != 1 || !slices.Equal(got.Missing, []uint16{uint16(block)}) {
					t.Errorf("got failures %v, missing blocks %v, want block %d", r.Failures, got.Missing, block)
				}
				for lid, port := range n.LFT {
					if lid/lftBlock != block && got.LFT[lid] != port {
						t.Fatalf("LID %d: got port %d, want %d", lid, got.LFT[lid], port)
					}
				}
			})
		})
	}
}

// do applies a command to a simulated fabric.
func do(t *testing.T, f *sim.Fabric, command string) {
	t.Helper()
	c, err := f.ParseCommand("test", 1, command)
	if err == nil {
		err = f.Do(c, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A table that grows while it is read is read again.
func TestRead_Changed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=4,pods=4")
		c := open(t, f)
		r := scan(t, c)
		leaf := f.Node("leaf001")
		leaf.LFT = append(leaf.LFT, slices.Repeat([]uint8{2}, 70)...)
		leaf.Switch.LinearFDBTop = ib.LID(len(leaf.LFT) - 1)
		if err := Read(context.Background(), c, r, ReadOptions{}); err != nil {
			t.Fatal(err)
		}
		n := r.NodeByGUID(leaf.Info.NodeGUID)
		if got := n.Tables.LFT[:len(leaf.LFT)]; !slices.Equal(got, leaf.LFT) || len(r.Changing) > 0 {
			t.Errorf("got table %v, changing switches %v; want %v", got, r.Changing, leaf.LFT)
		}
	})
}

func TestMulticastModifier(t *testing.T) {
	n := (&Routing{}).Add(1, mad.NodeTypeSwitch, 40)
	n.Tables = &Tables{MulticastCap: 64}
	if got := n.multicastBlocks(); got != 6 {
		t.Errorf("got %d blocks, want 2 blocks of 3 groups of ports", got)
	}
	n.storeMulticast(n.multicastModifier(5), &mad.MulticastForwardingTable{Masks: [32]uint16{3: 1 << 8}})
	mask := n.Tables.MFT[0xc023]
	if !mask.Has(40) {
		t.Errorf("got tables %v, want port 40 of LID 0xc023", n.Tables.MFT)
	}
	n.Tables.MulticastTop = 0xbfff
	if got := n.multicastBlocks(); got != 0 {
		t.Errorf("got %d blocks of an empty table, want 0", got)
	}
}
