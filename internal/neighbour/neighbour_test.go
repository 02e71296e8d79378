package neighbour

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

var (
	ip      = netip.MustParseAddr("192.0.2.7")
	gateway = netip.MustParseAddr("192.0.2.1")
	mac     = []byte{2, 0, 0, 0, 0, 7}
)

func encode(t testing.TB, head []byte, build func(*netlink.AttributeEncoder)) []byte {
	t.Helper()
	e := netlink.NewAttributeEncoder()
	build(e)
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(head, b...)
}

func routeMessage(t testing.TB) []byte {
	return encode(t, make([]byte, unix.SizeofRtMsg), func(e *netlink.AttributeEncoder) {
		e.Uint32(unix.RTA_OIF, 4)
		e.Bytes(unix.RTA_PREFSRC, netip.MustParseAddr("192.0.2.2").AsSlice())
		e.Bytes(unix.RTA_GATEWAY, gateway.AsSlice())
		e.Uint64(999, 1)
	})
}

func entryMessage(t testing.TB, state uint16) []byte {
	head := neighboursRequest(unix.AF_INET)
	native.PutUint32(head[offNetdev:], 4)
	native.PutUint16(head[offState:], state)
	return encode(t, head, func(e *netlink.AttributeEncoder) {
		e.Bytes(unix.NDA_DST, ip.AsSlice())
		e.Bytes(unix.NDA_LLADDR, mac)
	})
}

func TestParse(t *testing.T) {
	same := cmp.Options{cmp.AllowUnexported(route{}, entry{}), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })}
	r, err := parseRoute(routeMessage(t))
	if d := cmp.Diff(route{netdev: 4, source: netip.MustParseAddr("192.0.2.2"), gateway: gateway}, r, same); err != nil || d != "" {
		t.Errorf("route: error %v, (-want +got):\n%s", err, d)
	}
	// The address family precedes a gateway with the other IP version.
	via := encode(t, make([]byte, unix.SizeofRtMsg), func(e *netlink.AttributeEncoder) {
		e.Bytes(unix.RTA_VIA, append([]byte{unix.AF_INET6, 0}, netip.MustParseAddr("fe80::1").AsSlice()...))
	})
	if r, err := parseRoute(via); err != nil || r.gateway != netip.MustParseAddr("fe80::1") {
		t.Errorf("got %+v, %v, want gateway fe80::1", r, err)
	}
	// For a device without address resolution, the kernel reports the device's own
	// address.
	if e, err := parseEntry(entryMessage(t, unix.NUD_NOARP)); err != nil || !e.known() || e.linkAddr != nil {
		t.Errorf("got %+v, %v, want a known entry without an address", e, err)
	}
	for state, known := range map[uint16]bool{unix.NUD_REACHABLE: true, unix.NUD_STALE: true, unix.NUD_PERMANENT: true, unix.NUD_FAILED: false, unix.NUD_INCOMPLETE: false} {
		e, err := parseEntry(entryMessage(t, state))
		if d := cmp.Diff(entry{ip: ip, netdev: 4, state: state, linkAddr: mac}, e, same); err != nil || d != "" || e.known() != known {
			t.Errorf("state %#x: error %v, got known %v, want %v, (-want +got):\n%s", state, err, e.known(), known, d)
		}
	}
}

func TestLookup_Local(t *testing.T) {
	hop, err := Lookup(t.Context(), netip.MustParseAddr("127.0.0.1"))
	if err != nil || !hop.Local || hop.Netdev == "" {
		t.Errorf("got %+v, %v, want a local address with a device", hop, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := parseRoute(b); err == nil && len(b) < unix.SizeofRtMsg {
			t.Errorf("got route %+v from %d bytes", r, len(b))
		}
		if e, err := parseEntry(b); err == nil && e.known() && len(e.linkAddr) == 0 && e.state&unix.NUD_NOARP == 0 {
			t.Errorf("got known entry %+v without an address", e)
		}
	})
}
