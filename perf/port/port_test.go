package port

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/verbs"
)

func entry(index uint32, gid string, kind verbs.GIDType) verbs.GIDEntry {
	return verbs.GIDEntry{Index: index, GID: netip.AddrFrom16(netip.MustParseAddr(gid).As16()), Type: kind, Port: 1}
}

func ethernet(name string, gids ...verbs.GIDEntry) *Port {
	return &Port{Device: name, Number: 1, Attr: verbs.PortAttr{LinkLayer: ib.LinkLayerEthernet}, GIDs: gids}
}

func TestChoose(t *testing.T) {
	const v1, v2 = verbs.GIDTypeRoCEv1, verbs.GIDTypeRoCEv2
	a := ethernet("a", entry(0, "fe80::1", v1), entry(1, "fe80::1", v2), entry(2, "10.0.0.1", v1), entry(3, "10.0.0.1", v2), entry(4, "2001:db8::1", v2))
	b := ethernet("b", entry(0, "fe80::2", v2), entry(1, "192.168.1.1", v2))
	routes := func(to netip.Addr) netip.Addr {
		switch {
		case to.Is4In6() && netip.MustParsePrefix("192.168.0.0/16").Contains(to.Unmap()):
			return netip.MustParseAddr("192.168.1.1")
		case to == netip.MustParseAddr("2001:db8::9"):
			return netip.MustParseAddr("2001:db8::1")
		}
		return netip.Addr{}
	}
	gid := func(text string, kind verbs.GIDType) GID {
		return GID{netip.AddrFrom16(netip.MustParseAddr(text).As16()), kind}
	}
	for _, c := range []struct {
		name   string
		remote []GID
		index  int
		device string
		want   uint8
	}{
		{"a route", []GID{gid("10.9.9.9", v2), gid("192.168.7.7", v2)}, -1, "b", 1},
		{"a route of IPv6 before an address without", []GID{gid("10.9.9.9", v2), gid("2001:db8::9", v2)}, -1, "a", 4},
		{"IPv4 without a route", []GID{gid("fe80::9", v2), gid("10.9.9.9", v2)}, -1, "a", 3},
		{"v1 only", []GID{gid("fe80::9", v1)}, -1, "a", 0},
		{"link-local", []GID{gid("fe80::9", v2)}, -1, "a", 1},
		{"as asked", []GID{gid("10.9.9.9", v1), gid("192.168.7.7", v2)}, 2, "a", 2},
	} {
		got, err := Choose([]*Port{a, b}, c.remote, c.index, routes)
		if err != nil || got.Port.Device != c.device || got.Index != c.want || got.Why == "" {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	for name, remote := range map[string][]GID{"nothing": nil, "other kinds": {gid("2001:db8::9", v1)}} {
		if c, err := Choose([]*Port{a, b}, remote, -1, routes); !errors.Is(err, ErrNoGID) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	asked := 0
	_, err := Choose([]*Port{a, b}, []GID{gid("10.9.9.9", v2)}, -1, func(netip.Addr) netip.Addr { asked++; return netip.Addr{} })
	if err != nil || asked != 1 {
		t.Errorf("asked %d times for a route to one address, %v", asked, err)
	}
	// A peer of which nothing but its address is known.
	got, err := ChooseFor([]*Port{a, b}, netip.MustParseAddr("192.168.7.7"), -1, routes)
	if err != nil || got.Port != b || got.Index != 1 {
		t.Errorf("by its address: %+v, %v", got, err)
	}
	got, err = ChooseFor([]*Port{a, b}, netip.MustParseAddr("127.0.0.1"), -1, routes)
	if err != nil || got.Local.Type != v2 || !got.Local.Addr.Is4In6() {
		t.Errorf("by an address that leads nowhere: %+v, %v", got, err)
	}
}

func TestCounters(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, "class/infiniband/rxe0", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("ports/1/hw_counters/sent_pkts", "10\n")
	write("ports/1/hw_counters/send_rnr_err", "1\n")
	write("ports/1/hw_counters/lifespan", "10\n")
	write("ports/1/counters/symbol_error", "0\n")
	write("ports/1/counters/link_downed", "7\n")
	before := ReadCounters(sysfs.FS(root), "rxe0", 1)
	write("ports/1/hw_counters/sent_pkts", "25\n")
	write("ports/1/counters/link_downed", "1\n")
	write("ports/1/counters/port_rcv_errors", "3\n") // of which there was none before
	after := ReadCounters(sysfs.FS(root), "rxe0", 1)
	if d := cmp.Diff(Counters{"sent_pkts": 15, "link_downed": 1}, after.Since(before)); d != "" {
		t.Error(d)
	}
	if Trouble("send_rnr_err") == "" || Trouble("sent_pkts") != "" {
		t.Error("which counters tell of trouble")
	}
}
