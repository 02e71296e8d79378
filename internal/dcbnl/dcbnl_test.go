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
		e.Bytes(1, make([]byte, 59)) // struct ieee_ets
		if pfc != nil {
			e.Bytes(attrPFC, pfc)
		}
		e.Nested(attrTable, func(e *netlink.AttributeEncoder) error {
			e.Bytes(attrApp, app(byDSCP, 3, 26))
			e.Bytes(attrApp, app(byDSCP, 2, 26))
			e.Bytes(attrApp, app(byDSCP, 6, 48))
			e.Bytes(attrApp, app(byDSCP, 6, 64)) // invalid code point
			e.Bytes(attrApp, app(byDSCP, 8, 1))  // invalid priority
			e.Bytes(attrApp, app(1, 3, 0x8915))  // RoCE v1, by its EtherType
			return nil
		})
		return nil
	})
	b, err := e.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return append([]byte{0, cmdIEEEGet, 0, 0}, b...)
}

func app(selector, priority uint8, protocol uint16) []byte {
	return binary.NativeEndian.AppendUint16([]byte{selector, priority}, protocol)
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
	want := Bridging{Classes: 8, Enabled: 1 << 3, DSCP: map[uint8]uint8{26: 3, 48: 6}}
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
