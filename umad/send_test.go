package umad_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// TestClient_Build checks request packets without the zeros at their end. The upper half
// of the transaction ID is 0; other tests check the lower half.
func TestClient_Build(t *testing.T) {
	const anyTID = "0000000000000000"
	tests := []struct {
		name string
		r    umad.Request
		addr umad.Addr
		want string
	}{
		{
			name: "local port",
			r:    umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrNodeInfo},
			addr: umad.Addr{LID: ib.PermissiveLID},
			want: "01810101 00000000" + anyTID + "00110000 00000000 00000000deadbeef ffffffff",
		},
		{
			name: "directed route",
			r:    umad.Request{To: umad.Target{Route: mad.RouteOf(1, 3)}, Attr: mad.AttrPortInfo, Modifier: 4, Method: mad.MethodSet, Data: []byte{0xaa, 0xbb}, Expect: &umad.Identity{}},
			addr: umad.Addr{LID: ib.PermissiveLID},
			want: "01810102 00000002" + anyTID + "00150000 00000004 00000000deadbeef ffffffff" +
				strings.Repeat("00", 28) + "aabb" + strings.Repeat("00", 62) + "000103",
		},
		{
			name: "by LID",
			r:    umad.Request{To: umad.Target{LID: 5, SL: 1}, Attr: mad.AttrSwitchInfo},
			addr: umad.Addr{LID: 5, SL: 1},
			want: "01010101 00000000" + anyTID + "00120000 00000000 00000000deadbeef",
		},
		{
			name: "by LID, then directed",
			r:    umad.Request{To: umad.Target{LID: 5, Route: mad.RouteOf(9)}, Attr: mad.AttrNodeInfo},
			addr: umad.Addr{LID: 5},
			want: "01810101 00000001" + anyTID + "00110000 00000000 00000000deadbeef 0007ffff" + strings.Repeat("00", 28+64) + "0009",
		},
		{
			name: "performance management",
			r:    umad.Request{To: umad.Target{LID: 6}, Class: mad.ClassPM, Attr: 0x12, Modifier: 1, Data: []byte{1, 2, 3}},
			addr: umad.Addr{LID: 6, QPN: 1, QKey: umad.QP1QKey, PKeyIndex: 2},
			want: "01040101 00000000" + anyTID + "00120000 00000001" + strings.Repeat("00", 40) + "010203",
		},
		{
			name: "subnet administration",
			r:    umad.Request{To: umad.Target{LID: 3, SL: 2}, Class: mad.ClassSA, Method: mad.MethodGetTable, Attr: mad.AttrPathRecord},
			addr: umad.Addr{LID: 3, QPN: 1, QKey: umad.QP1QKey, PKeyIndex: 2, SL: 2},
			want: "01030212 00000000" + anyTID + "00350000",
		},
		{
			name: "value of performance management",
			r:    umad.Request{To: umad.Target{LID: 6}, Value: &mad.PortCounters{PortSelection: mad.PortSelection{PortSelect: 3}}},
			addr: umad.Addr{LID: 6, QPN: 1, QKey: umad.QP1QKey, PKeyIndex: 2},
			want: "01040101 00000000" + anyTID + "00120000 00000000" + strings.Repeat("00", 41) + "03",
		},
		{
			name: "value of subnet management",
			r:    umad.Request{To: umad.Target{LID: 5}, Value: &mad.SMInfo{SMKey: 7, Priority: 15}, Modifier: 2, Key: 1},
			addr: umad.Addr{LID: 5},
			want: "01010101 00000000" + anyTID + "00200000 00000002 0000000000000001",
		},
		{
			name: "value of congestion control",
			r:    umad.Request{To: umad.Target{LID: 5}, Method: mad.MethodSet, Value: &mad.CongestionKeyInfo{Key: 9}, Key: 8, Expect: &umad.Identity{}},
			addr: umad.Addr{LID: 5, QPN: 1, QKey: umad.QP1QKey, PKeyIndex: 2},
			want: "01210202 00000000" + anyTID + "00120000 00000000 0000000000000008" + strings.Repeat("00", 39) + "09",
		},
		{
			name: "value of subnet administration",
			r:    umad.Request{To: umad.Target{LID: 3}, Value: &mad.LinkRecord{FromLID: 5}, Mask: 1, Key: 6},
			addr: umad.Addr{LID: 3, QPN: 1, QKey: umad.QP1QKey, PKeyIndex: 2},
			want: "01030201 00000000" + anyTID + "00200000 00000000" + strings.Repeat("00", 12) + "0000000000000006 00000000 0000000000000001 0005",
		},
		{
			name: "OUI",
			r:    umad.Request{To: umad.Target{LID: 3}, Class: mad.ClassSysstat, Attr: mad.AttrSysstatPing, OUI: mad.OpenIB},
			addr: umad.Addr{LID: 3, QPN: 1, QKey: umad.QP1QKey, PKeyIndex: 2},
			want: "01330101 00000000" + anyTID + "00100000 00000000" + strings.Repeat("00", 13) + "001405",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{MKey: 0xdeadbeef, PKeyIndex: 2}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				if _, err := c.Call(t.Context(), &tt.r); err != nil {
					t.Fatal(err)
				}
				got := p.Sent()[0]
				if got.Addr != tt.addr {
					t.Errorf("address: got %+v, want %+v", got.Addr, tt.addr)
				}
				if tid := got.MAD.TID(); tid == 0 || tid>>32 != 0 {
					t.Errorf("transaction ID: got %#x, want 32 bits and not 0", tid)
				}
				got.MAD.SetTID(0)
				want, err := hex.DecodeString(strings.ReplaceAll(tt.want, " ", ""))
				if err != nil {
					t.Fatal(err)
				}
				if sent := bytes.TrimRight(got.MAD[:], "\x00"); !bytes.Equal(sent, bytes.TrimRight(want, "\x00")) {
					t.Errorf("packet:\ngot  %x\nwant %x", sent, want)
				}
			})
		})
	}
}

func TestClient_DataTooLong(t *testing.T) {
	for _, class := range []mad.Class{0, mad.ClassPM} {
		t.Run(class.String(), func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				r := &umad.Request{To: umad.Target{LID: 1}, Class: class, Attr: mad.AttrPortInfo, Data: make([]byte, mad.PerfDataSize+1)}
				var e *umad.Error
				if _, err := c.Call(t.Context(), r); !errors.As(err, &e) || len(p.Sent()) > 0 {
					t.Errorf("got error %v after %d messages, want an error and no message", err, len(p.Sent()))
				}
			})
		})
	}
}
