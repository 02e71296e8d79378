package ibsimproto

import (
	"strings"
	"testing"
)

func TestClientInfo(t *testing.T) {
	for _, info := range []ClientInfo{{}, {ID: 7, IsSM: true, Node: "H-1"}, {ID: 1, RoutesFromLID: true}, {ID: 1 << 31, Node: strings.Repeat("x", NodeIDSize-1)}} {
		data := info.Encode()
		if got := DecodeClientInfo(data[:]); got != info {
			t.Errorf("%+v became %+v", info, got)
		}
	}
	// A name that fills the whole field and has no end is cut there.
	data := ClientInfo{}.Encode()
	for i := range data {
		data[i] = 'x'
	}
	if got := DecodeClientInfo(data[:]).Node; len(got) != NodeIDSize {
		t.Errorf("name %q", got)
	}
}

func TestParseControl(t *testing.T) {
	c := NewControl(GetPortInfo, 3, [ControlDataSize]byte{1})
	got, ok := ParseControl(c[:])
	if !ok || got.Kind() != GetPortInfo || got.Slot() != 3 || got.Data()[0] != 1 {
		t.Errorf("got %x", got)
	}
	for name, b := range map[string][]byte{
		"nothing":     nil,
		"short":       c[:ControlSize-1],
		"long":        append(c[:], 0),
		"other magic": make([]byte, ControlSize),
	} {
		if _, ok := ParseControl(b); ok {
			t.Errorf("%s is taken for a control datagram", name)
		}
	}
}
