package dcbnl

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"
)

// reply encodes a kernel reply, including an attribute that parse ignores.
func reply(tb testing.TB, pfc []byte) []byte {
	tb.Helper()
	e := netlink.NewAttributeEncoder()
	e.String(attrIfname, "eth0")
	e.Nested(attrIEEE, func(e *netlink.AttributeEncoder) error {
		e.Bytes(attrETS, schedule())
		if pfc != nil {
			e.Bytes(attrPFC, pfc)
		}
		e.Nested(attrTable, func(e *netlink.AttributeEncoder) error {
			e.Bytes(attrApp, app(byDSCP, 3, 26))
			e.Bytes(attrApp, app(byDSCP, 2, 26))
			e.Bytes(attrApp, app(byDSCP, 6, 48))
			e.Bytes(attrApp, app(byDSCP, 6, 64))     // invalid code point
			e.Bytes(attrApp, app(byDSCP, 8, 1))      // invalid priority
			e.Bytes(attrApp, app(byType, 3, 0x8915)) // RoCE v1
			e.Bytes(attrApp, app(byType, 1, 0))
			return nil
		})
		e.Bytes(attrPeerPFC, append([]byte{8, 1 << 4}, make([]byte, pfcSize-2)...))
		e.Bytes(attrBuffer, buffers())
		e.Nested(attrTrust, func(e *netlink.AttributeEncoder) error {
			e.Bytes(attrApp, []byte{byDSCP})
			e.Bytes(2, []byte{255})
			e.Bytes(attrApp, []byte{99}) // unknown
			return nil
		})
		return nil
	})
	e.Uint8(attrDCBX, 0x09)
	b, err := e.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return append([]byte{0, cmdIEEEGet, 0, 0}, b...)
}

func app(selector, priority uint8, protocol uint16) []byte {
	return binary.NativeEndian.AppendUint16([]byte{selector, priority}, protocol)
}

// schedule encodes struct ieee_ets: priority 3 has traffic class 1 with 60 percent.
func schedule() []byte {
	b := make([]byte, etsSize)
	b[0], b[1], b[3+1], b[19+1], b[19+2], b[27+3] = 1, 8, 60, 2, 255, 1
	return b
}

// buffers encodes struct dcbnl_buffer: priority 3 has buffer 1 with 64 KiB of 128 KiB.
func buffers() []byte {
	b := make([]byte, bufferSize)
	b[3] = 1
	binary.NativeEndian.PutUint32(b[12:], 64<<10)
	binary.NativeEndian.PutUint32(b[40:], 128<<10)
	return b
}

func flowControl() []byte {
	b := make([]byte, pfcSize)
	b[0], b[1] = 8, 1<<3
	binary.NativeEndian.PutUint64(b[8+8*3:], 17)
	binary.NativeEndian.PutUint64(b[72+8*7:], 5)
	return b
}

func TestParse(t *testing.T) {
	p, err := parse(reply(t, flowControl()))
	want := Bridging{
		Classes: 8, Enabled: 1 << 3, DSCP: map[uint8]uint8{26: 3, 48: 6}, Default: new(uint8(1)),
		ETS: &ETS{
			Willing: true, Classes: 8, Share: [8]uint8{1: 60}, Algorithm: [8]Algorithm{1: Shared, 2: Private}, Class: [8]uint8{3: 1},
		},
		Buffers: &Buffers{Buffer: [8]uint8{3: 1}, Size: [8]uint32{1: 64 << 10}, Total: 128 << 10},
		Trust:   []string{"dscp", "pcp"}, DCBX: new(ByHost | IEEE), Peer: new(uint8(1 << 4)),
	}
	want.Requests[3], want.Indications[7] = 17, 5
	if d := cmp.Diff(want, p); d != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, d)
	}
	for _, short := range [][]byte{nil, {}, make([]byte, pfcSize-1)} {
		if p, err := parse(reply(t, short)); !errors.Is(err, ErrNone) {
			t.Errorf("PFC of %d bytes: got %+v, error %v, want %v", len(short), p, err, ErrNone)
		}
	}
	if p, err := parse([]byte{0, cmdIEEEGet}); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("truncated: got %+v, error %v, want another error than %v", p, err, ErrNone)
	}
}

// TestGet queries the loopback device, which does not support data center bridging,
// and a device that does not exist.
func TestGet(t *testing.T) {
	if p, err := Get("lo"); !errors.Is(err, ErrNone) {
		t.Errorf("lo: got %+v, error %v, want %v", p, err, ErrNone)
	}
	if p, err := Get("nosuch"); err == nil {
		t.Errorf("nosuch: got %+v, want an error", p)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(reply(f, flowControl()))
	f.Add(reply(f, nil))
	f.Add([]byte{0, cmdIEEEGet, 0, 0, 3, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parse(b)
		if err != nil && p.DSCP != nil {
			t.Errorf("got %+v with error %v", p, err)
		}
		for code, priority := range p.DSCP {
			if code >= codePoints || priority >= Priorities {
				t.Errorf("got DSCP %d with priority %d", code, priority)
			}
		}
	})
}
