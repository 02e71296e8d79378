package mad

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// A testRecord embeds attributes as subnet administration records do, the last
// attribute with its reserved rest cut off.
type testRecord struct {
	LID      ib.LID
	NodeInfo NodeInfo
	Desc     NodeDescription
	SM       SMInfo
}

const testRecordSize = 4 + 40 + 64 + 24

func (*testRecord) Spec() Spec                    { return saSpec(0x11, testRecordSize) }
func (a testRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *testRecord) Layout(c *Codec) {
	Bits(c, &a.LID, 0, 16, "Lid", Decimal)
	nested(c, &a.NodeInfo, 32, "NodeInfo")
	nested(c, &a.Desc, 352, "NodeDesc")
	nested(c, &a.SM, 864, "SMInfo")
}

func TestNested(t *testing.T) {
	in := testRecord{
		LID: 7, NodeInfo: NodeInfo{NodeType: NodeTypeCA, VendorID: 0x2c9},
		Desc: NewNodeDescription("node"), SM: SMInfo{GUID: 1, Priority: 15, State: SMMaster},
	}
	b := make([]byte, testRecordSize)
	if err := Encode(&in, b); err != nil {
		t.Fatal(err)
	}
	var info NodeInfo
	if err := Decode(&info, append(b[4:44:44], make([]byte, 24)...)); err != nil || info != in.NodeInfo {
		t.Errorf("node info in the record: %+v, %v", info, err)
	}
	if string(b[44:48]) != "node" || b[108+20] != 0xf3 {
		t.Errorf("encoded % x", b)
	}
	var out testRecord
	if err := Decode(&out, b); err != nil || out != in {
		t.Errorf("got %+v, %v", out, err)
	}
	if err := Decode(&out, b[:131]); err == nil || !strings.Contains(err.Error(), "132 bytes wanted, got 131") {
		t.Errorf("got %v", err)
	}
	in.SM.Priority = 16
	if err := Encode(&in, b); err == nil || !strings.Contains(err.Error(), "SmPriority: value 16 does not fit") {
		t.Errorf("got %v", err)
	}

	text, err := json.Marshal(out)
	if err != nil || !strings.HasPrefix(string(text), `{"lid":7,"node_info":{"base_vers":0,`) ||
		!strings.Contains(string(text), `,"node_desc":"node","sm_info":{"`) {
		t.Errorf("got %s, %v", text, err)
	}
	var one, two bytes.Buffer
	if err := Dump(&one, &out); err != nil {
		t.Fatal(err)
	}
	two.WriteString("Lid:.............................7\n")
	for _, a := range []Attribute{&out.NodeInfo, &out.Desc, &out.SM} {
		if err := Dump(&two, a); err != nil {
			t.Fatal(err)
		}
	}
	if one.String() != two.String() {
		t.Errorf("got\n%s\nwant\n%s", &one, &two)
	}
	if n := testing.AllocsPerRun(100, func() { _ = Decode(&out, b) }); n > 0 && !raceEnabled {
		t.Errorf("%v allocations a decoding", n)
	}
}

// TestNewAttribute: numbers are looked up by class.
func TestNewAttribute(t *testing.T) {
	for kind, empty := range attributes {
		a := empty()
		again := a.Spec().Class.NewAttribute(a.Spec().ID)
		if again == nil || AttributeName(again) != AttributeName(a) || again.Spec().Size != a.Spec().Size {
			t.Errorf("%s: got %T", kind, again)
		}
	}
	if a := ClassSA.NewAttribute(AttrPortInfo); a != nil {
		if _, ok := a.(*PortInfo); ok {
			t.Error("subnet administration has subnet management's PortInfo")
		}
	}
	if a := Class(0x32).NewAttribute(AttrPortInfo); a != nil {
		t.Errorf("a vendor's class has %T", a)
	}
}

func TestDataRange(t *testing.T) {
	for class, want := range map[Class][2]int{
		ClassSMPLIDRouted: {64, 64}, ClassSMPDirected: {64, 64}, ClassSA: {56, 200}, ClassPM: {64, 192},
		0x32: {40, 216}, 0x09: {24, 232}, 0xff: {24, 232},
	} {
		var p Packet
		p.PutGMP(Header{Class: class})
		data := p.Data()
		if offset, size := class.DataRange(); offset != want[0] || size != want[1] || len(data) != size || &data[0] != &p[offset] {
			t.Errorf("%v: got %d, %d and %d bytes", class, offset, size, len(data))
		}
	}
}
