package ibsim

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// word returns a uint32 in this host's byte order, as hexadecimal digits, which holds two
// bytes of a big-endian number in its low half on either kind of host.
func word(hi, lo byte) string {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], uint32(binary.NativeEndian.Uint16([]byte{hi, lo})))
	return hex.EncodeToString(b[:])
}

func TestEncodePacket(t *testing.T) {
	tests := map[string]struct {
		addr umad.Addr
		head string
	}{
		"directed": {
			addr: umad.Addr{LID: ib.PermissiveLID},
			head: word(0xff, 0xff) + word(0xff, 0xff) + "00000000" + "00000000" + "00000000" + "00000000" + "0000000000000100",
		},
		"general": {
			addr: umad.Addr{LID: 0x1234, QPN: 1, QKey: umad.QP1QKey, SL: 5},
			head: word(0x12, 0x34) + word(0, 0) + "00000001" + "00000001" + "00000000" + "00000000" + "0000000000000100",
		},
	}
	for name, tt := range tests {
		m := umad.Message{Addr: tt.addr}
		for i := range m.MAD {
			m.MAD[i] = byte(i)
		}
		b := ibsimproto.Packet{16: 0xff} // the previous contents must be overwritten
		encodePacket(&b, &m)
		if got := hex.EncodeToString(b[:len(b)-256]); got != tt.head {
			t.Errorf("%s: got %s, want %s", name, got, tt.head)
		}
		if !bytes.Equal(b.MAD(), m.MAD[:]) {
			t.Errorf("%s: MAD %x", name, b.MAD())
		}
	}
}

func TestDecodePacket(t *testing.T) {
	head := word(0, 1) + word(0x12, 0x34) + "00000001" + "00000001" + "0000006e" + "00000000" + "0000000000000100"
	b, err := hex.DecodeString(head)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, bytes.Repeat([]byte{0xaa}, 256)...)
	var m umad.Message
	if !decodePacket(&m, b) {
		t.Fatal("not a packet")
	}
	if m.Addr != (umad.Addr{LID: 0x1234, QPN: 1, QKey: umad.QP1QKey}) || m.Status != 110 || m.MAD[255] != 0xaa {
		t.Errorf("got %+v", m)
	}
}

// FuzzDecodePacket decodes any bytes, and checks that a valid packet is the same after
// encoding, but for a length that only the packet contained.
func FuzzDecodePacket(f *testing.F) {
	f.Add([]byte{})
	f.Add(packet(directed(1)))
	f.Add(packet(directed(1))[:ibsimproto.PacketSize-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again umad.Message
		if !decodePacket(&m, b) {
			return
		}
		var out ibsimproto.Packet
		encodePacket(&out, &m)
		setLongLength(&m.MAD, out.Length())
		if !decodePacket(&again, out[:]) || again.MAD != m.MAD || again.Addr.QPN != m.Addr.QPN {
			t.Errorf("sent on as %+v, was %+v", again, m)
		}
	})
}

// TestTableLength checks that the packet gives a table's length without segments.
func TestTableLength(t *testing.T) {
	for _, test := range []struct {
		class mad.Class
		rmpp  mad.RMPP
		bytes int
		want  uint32
	}{
		{mad.ClassSA, mad.RMPP{Flags: mad.RMPPActive}, 56 + 112, 132},
		{mad.ClassSA, mad.RMPP{Flags: mad.RMPPActive}, 256, 220},
		{mad.ClassSA, mad.RMPP{Flags: mad.RMPPActive}, 0, 0},
		{mad.ClassSA, mad.RMPP{}, 56 + 112, 0},
		{mad.ClassSA, mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive}, 168, 0},
		{mad.ClassPM, mad.RMPP{Flags: mad.RMPPActive}, 168, 0},
	} {
		t.Run(fmt.Sprintf("%v %+v %d", test.class, test.rmpp, test.bytes), func(t *testing.T) {
			var p ibsimproto.Packet
			p.Reset()
			p.SetLength(test.bytes)
			var m umad.Message
			m.MAD.PutGMP(mad.Header{Class: test.class})
			m.MAD.SetRMPP(test.rmpp)
			copy(p.MAD(), m.MAD[:])
			if !decodePacket(&m, p[:]) || m.MAD.RMPP().Length != test.want {
				t.Errorf("%+v: got %d", test, m.MAD.RMPP().Length)
			}
		})
	}
}
