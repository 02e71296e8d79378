package sim

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

func TestVLArbitration(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	f.Node("switch1").Ports[3].Info.VLArbLowCap = 40
	c := client(t, f, "host001", umad.ClientOptions{})
	sw, host := umad.Target{Route: mad.RouteOf(1)}, umad.Target{LID: f.Node("host002").Ports[1].Info.LID}

	var got mad.VLArbitration
	if err := get(t, c, sw, &got, 3<<16|2); err != nil {
		t.Fatal(err)
	}
	want := mad.VLArbitration{}
	for vl := range uint8(8) {
		want.Entries[vl] = mad.VLArbEntry{VL: vl}
	}
	want.Entries[0].Weight = 4
	if got != want {
		t.Errorf("default: got %v, want %v", got, want)
	}

	var full mad.VLArbitration
	for i := range full.Entries {
		full.Entries[i] = mad.VLArbEntry{VL: uint8(i % 8), Weight: uint8(i)}
	}
	for _, test := range []struct {
		to       umad.Target
		modifier uint32
		entries  int // that the block has; 0: no such block
	}{
		{sw, 1<<16 | 1, 8}, {sw, 2<<16 | 1, 0}, {sw, 4<<16 | 1, 0}, {sw, 5<<16 | 1, 0}, {sw, 1, 0}, {sw, 1<<16 | 5, 0},
		{sw, 1<<16 | 3, 32}, {sw, 2<<16 | 3, 8}, {sw, 3<<16 | 3, 8},
		{host, 1 << 16, 8}, {host, 1<<16 | 7, 8}, {host, 3 << 16, 8}, {host, 2 << 16, 0},
	} {
		t.Run(fmt.Sprintf("%v/%#x", test.to, test.modifier), func(t *testing.T) {
			written := full
			err := set(t, c, test.to, &written, test.modifier)
			if test.entries == 0 {
				if err == nil {
					t.Error("got success, want an error")
				}
				return
			}
			want := mad.VLArbitration{}
			copy(want.Entries[:], full.Entries[:test.entries])
			if err != nil || written != want {
				t.Errorf("got %v, %v, want %v", written, err, want)
			}
			var again mad.VLArbitration
			if err := get(t, c, test.to, &again, test.modifier); err != nil || again != want {
				t.Errorf("read again: got %v, %v, want %v", again, err, want)
			}
		})
	}
}

func TestMulticastForwardingTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2,radix=40", "sm=off")
		c := client(t, f, "host001", umad.ClientOptions{Timeout: time.Millisecond})
		sw, host := umad.Target{Route: mad.RouteOf(1)}, umad.Target{Route: mad.RouteOf(1, 2)}
		want := mad.MulticastForwardingTable{Masks: [32]uint16{0: 0x8001, 31: 0xffff}}
		for _, modifier := range []uint32{0, 31, 2<<28 | 31} {
			written := want
			if err := set(t, c, sw, &written, modifier); err != nil || written != want {
				t.Errorf("set %#x: got %v, %v, want %v", modifier, written, err, want)
			}
		}
		empty := mad.MulticastForwardingTable{}
		for modifier, want := range map[uint32]mad.MulticastForwardingTable{
			0: want, 31: want, 2<<28 | 31: want, 1 << 28: empty, 1<<28 | 31: empty, 30: empty,
		} {
			var got mad.MulticastForwardingTable
			if err := get(t, c, sw, &got, modifier); err != nil || got != want {
				t.Errorf("get %#x: got %v, %v, want %v", modifier, got, err, want)
			}
		}
		for _, modifier := range []uint32{32, 3 << 28} {
			if err := get(t, c, sw, &empty, modifier); err == nil {
				t.Errorf("get %#x: got success, want an error", modifier)
			}
		}
		if err := get(t, c, host, &empty, 0); err == nil {
			t.Error("adapter: got success, want an error")
		}
		f.Unconfigure()
		if n := len(f.Node("switch1").mft); n != 0 {
			t.Errorf("after Unconfigure: got %d multicast LIDs, want 0", n)
		}
	})
}

// TestMulticastRoutes checks that a packet from each group member reaches all other
// members, and no other port, exactly once.
func TestMulticastRoutes(t *testing.T) {
	for _, fabric := range []string{"demo", "fat-tree:radix=8,pods=4", "torus:x=4,y=4", "single-switch:hosts=4"} {
		t.Run(fabric, func(t *testing.T) {
			f := build(t, fabric)
			if _, err := f.Open(""); err != nil { // the fabric is in use
				t.Fatal(err)
			}
			var hosts []*Port
			for p := range f.endPorts() {
				if !p.Node.IsSwitch() {
					hosts = append(hosts, p)
				}
			}
			g := f.multicast()[0]
			members := map[*Port]bool{}
			for i, p := range hosts {
				if i%3 != 0 {
					members[p] = true
					g.members = append(g.members, mad.MCMemberRecord{PortGID: p.gid(), JoinState: 1})
				}
			}
			f.routeGroups()
			for from := range members {
				received := map[*Port]int{}
				flood(t, g.common.MLID, from.Peer, received, 0)
				for _, p := range hosts {
					want := 0
					if members[p] && p != from {
						want = 1
					}
					if received[p] != want {
						t.Fatalf("from %s: %s got %d packets, want %d", from, p, received[p], want)
					}
				}
			}
		})
	}
}

// flood forwards a multicast packet that arrives at a port.
func flood(t *testing.T, mlid ib.LID, at *Port, received map[*Port]int, hops int) {
	t.Helper()
	if hops > mad.MaxHops {
		t.Fatal("a multicast packet travels in a loop")
	}
	if !at.Node.IsSwitch() {
		received[at]++
		return
	}
	ports := at.Node.mft[mlid]
	if ports == nil {
		return
	}
	for i := range at.Node.Ports {
		if p := &at.Node.Ports[i]; p != at && ports.Has(p.Number) && p.Peer != nil {
			flood(t, mlid, p.Peer, received, hops+1)
		}
	}
}

// TestMulticastFollowsGroups joins and leaves groups through subnet administration.
func TestMulticastFollowsGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3")
		sw := umad.Target{Route: mad.RouteOf(1)}
		c := client(t, f, "host001", umad.ClientOptions{Timeout: time.Millisecond})
		masks := func() uint16 {
			t.Helper()
			var table mad.MulticastForwardingTable
			if err := get(t, c, sw, &table, 0); err != nil {
				t.Fatal(err)
			}
			return table.Masks[1] // for the group after the broadcast group
		}
		if got := masks(); got != 0 {
			t.Errorf("no group: got mask %#x, want 0", got)
		}
		g := &group{common: mad.MCMemberRecord{MGID: ib.GID{0: 0xff, 15: 9}, MLID: firstMLID + 1}}
		f.admin.groups = append(f.multicast(), g)
		for i, want := range []uint16{1 << 1, 1<<1 | 1<<2, 1<<1 | 1<<2 | 1<<3} {
			p := &f.Node(fmt.Sprintf("host%03d", i+1)).Ports[1]
			q := &saQuery{fabric: f, from: p, method: mad.MethodSet}
			r := mad.MCMemberRecord{MGID: g.common.MGID, PortGID: p.gid(), JoinState: 1}
			q.mask, q.data = mad.Components(&r, &r.MGID, &r.PortGID, &r.JoinState), make([]byte, r.Spec().Size)
			if err := mad.Encode(&r, q.data); err != nil {
				t.Fatal(err)
			}
			if _, status := join(q); status != 0 {
				t.Fatalf("join: got status %#x", status)
			}
			if got := masks(); got != want {
				t.Errorf("%d members: got mask %#x, want %#x", i+1, got, want)
			}
			if i == 2 {
				if _, status := leave(q); status != 0 {
					t.Fatalf("leave: got status %#x", status)
				}
			}
		}
		if got := masks(); got != 1<<1|1<<2 {
			t.Errorf("after one left: got mask %#x, want 0x6", got)
		}
		do(t, f, "sweep")
		if got := masks(); got != 1<<1|1<<2 {
			t.Errorf("after a sweep: got mask %#x, want 0x6", got)
		}
	})
}

func TestSwitchPortStateTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3,radix=200")
		c := client(t, f, "host001", umad.ClientOptions{Timeout: time.Millisecond})
		sw, host := umad.Target{Route: mad.RouteOf(1)}, umad.Target{Route: mad.RouteOf(1, 2)}
		if err := f.Connect(&f.Node("switch1").Ports[150], &f.Node("switch1").Ports[4]); err != nil {
			t.Fatal(err)
		}
		for block, want := range map[uint32]map[int]ib.PortState{
			0: {0: ib.PortActive, 1: ib.PortActive, 3: ib.PortActive, 4: ib.PortInit, 5: ib.PortDown, 127: ib.PortDown},
			1: {150 - 128: ib.PortInit, 200 - 128: ib.PortDown, 201 - 128: 0},
		} {
			var got mad.SwitchPortStateTable
			if err := get(t, c, sw, &got, block); err != nil {
				t.Fatal(err)
			}
			for i, state := range want {
				if got.States[i] != state {
					t.Errorf("block %d, state %d: got %v, want %v", block, i, got.States[i], state)
				}
			}
		}
		var table mad.SwitchPortStateTable
		if err := get(t, c, host, &table, 0); err == nil {
			t.Error("adapter: got success, want an error")
		}
		f.Node("switch1").Ports[0].Info.CapMask2 = 0
		if err := get(t, c, sw, &table, 0); err == nil {
			t.Error("without the capability: got success, want an error")
		}
		small := client(t, build(t, "single-switch:hosts=1,radix=4"), "", umad.ClientOptions{Timeout: time.Millisecond})
		if err := get(t, small, sw, &table, 1); err == nil {
			t.Error("block without ports: got success, want an error")
		}
	})
}
