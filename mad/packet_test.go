package mad

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func TestPutSMPLIDRouted(t *testing.T) {
	var p Packet
	for i := range p {
		p[i] = 0xee // PutSMP clears the packet
	}
	p.PutSMP(SMPRequest{
		TID: 0x1122334455667788, Method: MethodGet, Attr: AttrPortInfo,
		Modifier: 0x01020304, MKey: 0xa1a2a3a4a5a6a7a8,
		Route: RouteOf(1), DrSLID: 1, DrDLID: 2, // no effect
	})
	want := "01010101" + "00000000" + "1122334455667788" + "0015" + "0000" + "01020304" + "a1a2a3a4a5a6a7a8" +
		strings.Repeat("00", Size-32)
	if got := hex.EncodeToString(p[:]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPutSMPDirected(t *testing.T) {
	var p Packet
	p.PutSMP(SMPRequest{
		TID: 5, Method: MethodSet, Attr: AttrNodeInfo, Directed: true, Route: RouteOf(1, 5),
		DrSLID: 0xffff, DrDLID: 0x1234,
	})
	want := "01810102" + "00000002" + "0000000000000005" + "0011" + "0000" + "00000000" + "0000000000000000" +
		"ffff1234" + strings.Repeat("00", 128-36) +
		"000105" + strings.Repeat("00", Size-131)
	if got := hex.EncodeToString(p[:]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r := p.InitialPath(); r != RouteOf(1, 5) {
		t.Errorf("initial path %v", r)
	}
	if r := p.ReturnPath(); r != RouteOf(0, 0) {
		t.Errorf("return path %v", r)
	}
	if p.DrSLID() != 0xffff || p.DrDLID() != 0x1234 || p.Returning() {
		t.Errorf("got DrSLID %#x, DrDLID %#x, returning %v", p.DrSLID(), p.DrDLID(), p.Returning())
	}
}

// TestHostilePath: a packet from the network may claim any hop count.
func TestHostilePath(t *testing.T) {
	var p Packet
	p.PutSMP(SMPRequest{Directed: true, Route: RouteOf([]byte(strings.Repeat("\x07", 200))...)})
	if p[offHopCount] != MaxHops || p[offReturnPath] != 0 {
		t.Errorf("hop count %d, first byte behind the path %d", p[offHopCount], p[offReturnPath])
	}
	p[offHopCount] = 255
	if n := p.InitialPath().Hops(); n != MaxHops {
		t.Errorf("initial path of %d hops", n)
	}
	if n := p.ReturnPath().Hops(); n != MaxHops {
		t.Errorf("return path of %d hops", n)
	}
}

// FuzzPacket calls all packet methods with any content.
func FuzzPacket(f *testing.F) {
	f.Add([]byte{1, 0x81, 1, 0x81, 0x80, 0, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		var p Packet
		copy(p[:], b)
		h := p.Header()
		if n := max(p.InitialPath().Hops(), p.ReturnPath().Hops()); n > MaxHops {
			t.Errorf("a path of %d hops", n)
		}
		if err := h.Status.Err(); (err == nil) != (h.Status == 0) {
			t.Errorf("status %#x: %v", h.Status, err)
		}
		if h.Class.String() == "" || h.Method.String() == "" || h.Attr.String() == "" {
			t.Errorf("a part of %+v has no name", h)
		}
		if h.Class == ClassSMPDirected {
			return // PutGMP does not write the hop fields and the direction
		}
		var again Packet
		again.PutGMP(h)
		if got := again.Header(); got != h {
			t.Errorf("got %+v, want %+v", got, h)
		}
	})
}

func TestHeader(t *testing.T) {
	var p Packet
	h := Header{
		BaseVersion: 1, Class: ClassSA, ClassVersion: 2, Method: MethodGetTable, Status: 0x8300,
		TID: 9, Attr: 0x35, Modifier: 7,
	}
	p.PutGMP(h)
	if got := p.Header(); got != h {
		t.Errorf("got %+v, want %+v", got, h)
	}

	// In a directed-route packet the top status bit is the direction.
	p.PutSMP(SMPRequest{Method: MethodGetResp, Directed: true, Route: RouteOf(1)})
	p[offStatus], p[offStatus+1], p[offHopPointer] = 0x80, 0x1c, 3
	got := p.Header()
	if got.Status != StatusBadValue || got.HopPointer != 3 || got.HopCount != 1 || !p.Returning() {
		t.Errorf("got %+v, returning %v", got, p.Returning())
	}
	if p.SetStatus(0); p.Status() != 0 || !p.Returning() {
		t.Errorf("got status %#x, returning %v", p.Status(), p.Returning())
	}
	if p.SetStatus(0xffff); p.Status() != 0x7fff {
		t.Errorf("got status %#x", p.Status())
	}
}

func TestStatus(t *testing.T) {
	if err := Status(0).Err(); err != nil {
		t.Errorf("got %v", err)
	}
	for s, want := range map[Status]string{
		0x0001: "busy, the request was discarded",
		0x0002: "redirection required",
		0x0004: "base version, class version or their combination not supported",
		0x0008: "method not supported",
		0x000c: "method and attribute combination not supported",
		0x0014: "reserved code 5",
		0x001c: "invalid value in attribute or attribute modifier",
		0x0041: "busy, the request was discarded, reserved flags 0x40",
		0x0300: "class-specific code 0x03 (subnet administration: no records)",
		0x1200: "class-specific code 0x12",
	} {
		err := s.Err()
		var se StatusError
		if !errors.As(err, &se) || Status(se) != s {
			t.Errorf("%#x: got %#v", s, err)
		}
		if _, got, _ := strings.Cut(err.Error(), ": "); got != want {
			t.Errorf("%#x: got %q, want %q", s, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		ClassSMPDirected.String():     "SubnDR",
		Class(0x32).String():          "Vendor(0x32)",
		Class(0x09).String():          "Vendor(0x09)",
		Class(0x50).String():          "Class(0x50)",
		MethodGetTableResp.String():   "GetTableResp",
		Method(0x44).String():         "Method(0x44)",
		AttrPortInfoExtended.String(): "PortInfoExtended",
		AttrID(0x99).String():         "Attribute(0x0099)",
		LinkDownPolling.String():      "Polling",
		NodeTypeCA.String():           "CA",
		SMMaster.String():             "Master",
		PKey(0x7fff).String():         "0x7fff",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for m, want := range map[Method]bool{MethodGet: false, MethodGetResp: true, MethodTrap: false, MethodTrapRepress: true} {
		if m.IsResponse() != want {
			t.Errorf("%v: IsResponse is %v", m, !want)
		}
	}
}

func TestPKey(t *testing.T) {
	for k, want := range map[PKey][2]bool{0xffff: {true, false}, 0x7fff: {false, true}, 0: {false, false}} {
		if got := [2]bool{k.Full(), k.Limited()}; got != want {
			t.Errorf("%v: full, limited %v, want %v", k, got, want)
		}
	}
	if PKey(0x8001).Base() != PKey(1).Base() {
		t.Error("full and limited members of a partition have different bases")
	}
}

func TestPacket_Decode(t *testing.T) {
	var p Packet
	p.PutSMP(SMPRequest{Method: MethodGetResp, Attr: AttrNodeInfo, Directed: true})
	if err := Encode(&NodeInfo{NumPorts: 3}, p.Data()); err != nil {
		t.Fatal(err)
	}
	var node NodeInfo
	if err := p.Decode(&node); err != nil || node.NumPorts != 3 {
		t.Errorf("got %d ports, %v, want 3", node.NumPorts, err)
	}
	for _, test := range []struct {
		attr Attribute
		want string
	}{
		{&PortInfo{}, "decode packet: got NodeInfo, want PortInfo"},
		{&NodeRecord{}, "decode packet: got NodeInfo, want NodeRecord"}, // the same number in another class
	} {
		if err := p.Decode(test.attr); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}

	var info ClassPortInfo // of all classes
	p.PutGMP(Header{Class: ClassCC, Method: MethodGetResp, Attr: AttrClassPortInfo})
	if err := p.Decode(&info); err != nil {
		t.Errorf("ClassPortInfo of congestion control: %v", err)
	}
}
