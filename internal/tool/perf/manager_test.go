package perf

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// TestTest_Connection checks the fields of connections of the connection manager and of
// groups.
func TestTest_Connection(t *testing.T) {
	group := netip.MustParseAddr("239.1.2.3")
	for _, c := range []struct {
		name   string
		change func(*Test)
		field  string
	}{
		{"connection manager", func(t *Test) { t.CM, t.TOS = true, 8 }, ""},
		{"type of service", func(t *Test) { t.TOS = 8 }, "tos"},
		{"sl", func(t *Test) { t.CM, t.SL = true, 1 }, "sl"},
		{"traffic class", func(t *Test) { t.CM, t.TrafficClass = true, 1 }, "tclass"},
		{"flow label", func(t *Test) { t.CM, t.FlowLabel = true, 1 }, "flow-label"},
		{"hop limit", func(t *Test) { t.CM, t.HopLimit = true, 1 }, "hop-limit"},
		{"P_Key", func(t *Test) { t.CM, t.PKeyIndex = true, 1 }, "pkey-index"},
		{"group", func(t *Test) { t.Transport, t.Multicast = UD, group }, ""},
		{"group of rc", func(t *Test) { t.Multicast = group }, "group"},
		{"no group", func(t *Test) { t.Transport, t.Multicast = UD, netip.MustParseAddr("10.0.0.1") }, "group"},
		{"group and connection", func(t *Test) { t.Transport, t.Multicast, t.CM = UD, group, true }, "group"},
		{"group of queue pairs", func(t *Test) { t.Transport, t.Multicast, t.QueuePairs = UD, group, 2 }, "group"},
		{"group in both directions", func(t *Test) { t.Transport, t.Multicast, t.Bidirectional = UD, group, true }, "group"},
	} {
		t.Run(c.name, func(t *testing.T) {
			test := NewTest(Send, Bandwidth, RC, 64)
			c.change(&test)
			err := test.Check()
			field, _ := errors.AsType[*FieldError](err)
			if c.field == "" && err != nil || c.field != "" && (field == nil || field.Field != c.field) {
				t.Errorf("got %v, want an error of %q", err, c.field)
			}
		})
	}
}

// TestManaged checks that requests without the token of a test are rejected.
func TestManaged(t *testing.T) {
	m := &managed{Token: []byte("0123456789abcdef")}
	padded := append(m.privateData(77), make([]byte, 20)...) // as it arrives
	if i, err := m.position(padded); i != 77 || err != nil {
		t.Errorf("got %d, %v, want 77", i, err)
	}
	for _, data := range [][]byte{nil, padded[:tokenSize+3], append([]byte("x"), padded[1:]...)} {
		if i, err := m.position(data); err == nil {
			t.Errorf("%q: got %d, want an error", data, i)
		}
	}
}

// TestManagerAddr checks the addresses of ports.
func TestManagerAddr(t *testing.T) {
	choice := port.Choice{Index: 1, Port: &port.Port{GIDs: []verbs.GIDEntry{{Index: 0, Ifindex: 4}, {Index: 1, Ifindex: 7}}}}
	control := &net.TCPAddr{IP: net.ParseIP("10.9.0.1"), Port: 5}
	for gid, want := range map[string]string{
		"::ffff:10.0.0.1": "10.0.0.1:3", "fd00::1": "[fd00::1]:3", "fe80::1": "[fe80::1%7]:3", "": "10.9.0.1:3",
	} {
		addr, _ := netip.ParseAddr(gid)
		got, err := managerAddr(choice, addr, control, 3)
		if ip, ok := got.(rdmacm.IPAddr); err != nil || !ok || ip.String() != want {
			t.Errorf("%s: got %v, %v, want %s", gid, got, err, want)
		}
	}
}
