package umad

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// TestBuild checks what requests look like, up to where all is 0. The upper
// half of the transaction ID is 0, the lower is checked by others.
func TestBuild(t *testing.T) {
	const anyTID = "0000000000000000"
	tests := []struct {
		name string
		r    Request
		addr Addr
		want string
	}{
		{
			name: "local port",
			r:    Request{Attr: mad.AttrNodeInfo},
			addr: Addr{LID: ib.PermissiveLID},
			want: "01810101 00000000" + anyTID + "00110000 00000000 00000000deadbeef ffffffff",
		},
		{
			name: "directed route",
			r:    Request{To: Target{Route: "\x01\x03"}, Attr: mad.AttrPortInfo, Modifier: 4, Method: mad.MethodSet, Payload: []byte{0xaa, 0xbb}},
			addr: Addr{LID: ib.PermissiveLID},
			want: "01810102 00000002" + anyTID + "00150000 00000004 00000000deadbeef ffffffff" +
				strings.Repeat("00", 28) + "aabb" + strings.Repeat("00", 62) + "000103",
		},
		{
			name: "by LID",
			r:    Request{To: Target{LID: 5, SL: 1}, Attr: mad.AttrSwitchInfo},
			addr: Addr{LID: 5, SL: 1},
			want: "01010101 00000000" + anyTID + "00120000 00000000 00000000deadbeef",
		},
		{
			name: "by LID, then directed",
			r:    Request{To: Target{LID: 5, Route: "\x09"}, Attr: mad.AttrNodeInfo},
			addr: Addr{LID: 5},
			want: "01810101 00000001" + anyTID + "00110000 00000000 00000000deadbeef 0007ffff" + strings.Repeat("00", 28+64) + "0009",
		},
		{
			name: "performance management",
			r:    Request{To: Target{LID: 6}, Class: mad.ClassPM, Attr: 0x12, Modifier: 1, Payload: []byte{1, 2, 3}},
			addr: Addr{LID: 6, QPN: 1, QKey: QP1QKey},
			want: "01040101 00000000" + anyTID + "00120000 00000001 010203",
		},
		{
			name: "subnet administration",
			r:    Request{To: Target{LID: 3, SL: 2}, Class: mad.ClassSA, Method: mad.MethodGetTable, Attr: mad.AttrPathRecord},
			addr: Addr{LID: 3, QPN: 1, QKey: QP1QKey, SL: 2},
			want: "01030212 00000000" + anyTID + "00350000",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, c := newFake(0, ClientOptions{MKey: 0xdeadbeef})
			if _, err := c.Call(t.Context(), &tt.r); err != nil {
				t.Fatal(err)
			}
			got := f.sent[0]
			if got.Addr != tt.addr {
				t.Errorf("address %+v, want %+v", got.Addr, tt.addr)
			}
			if tid := got.MAD.TID(); tid == 0 || tid>>32 != 0 {
				t.Errorf("transaction ID %#x", tid)
			}
			got.MAD.SetTID(0)
			want, err := hex.DecodeString(strings.ReplaceAll(tt.want, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if sent := bytes.TrimRight(got.MAD[:], "\x00"); !bytes.Equal(sent, bytes.TrimRight(want, "\x00")) {
				t.Errorf("sent %x\nwant %x", sent, want)
			}
		})
	}
}

func TestPayloadTooLong(t *testing.T) {
	for _, class := range []mad.Class{0, mad.ClassPM} {
		f, c := newFake(0, ClientOptions{})
		r := &Request{To: Target{LID: 1}, Class: class, Attr: mad.AttrPortInfo, Payload: make([]byte, mad.Size-headerSize+1)}
		var e *Error
		if _, err := c.Call(t.Context(), r); !errors.As(err, &e) || len(f.sent) > 0 {
			t.Errorf("class %v: sent %d, error %v", class, len(f.sent), err)
		}
		checkIdle(t, c)
	}
}
