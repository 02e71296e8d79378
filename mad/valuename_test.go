package mad

import (
	"slices"
	"testing"
)

func TestParseValueName(t *testing.T) {
	for _, test := range []struct {
		a           Attribute
		field, name string
		want        uint64
		ok          bool
	}{
		{&NodeInfo{}, "NodeType", "CA", uint64(NodeTypeCA), true},
		{&NodeInfo{}, "NodeType", "channel adapter", uint64(NodeTypeCA), true},
		{&NodeInfo{}, "NodeType", "?(9)?", 9, true},
		{&NodeInfo{}, "NodeType", "nosuch", 0, false},
		{&NodeInfo{}, "NodeType", "CA+Switch", 0, false},
		{&NodeInfo{}, "NumPorts", "1", 0, false}, // a plain number
		{&NodeInfo{}, "nosuch", "CA", 0, false},
		{&NodeRecord{}, "NodeType", "Switch", uint64(NodeTypeSwitch), true},
		{&PortInfo{}, "CapMask", "istrapsupported+IsSM", uint64(CapSM | CapTrap), true},
		{&PortInfo{}, "CapMask", "IsSM+", 0, false},
		{&PortInfo{}, "LinkWidthSupported", "1X or 4X", 3, true},
		{&PortInfo{}, "LinkWidthSupported", "4X+1X", 3, true},
		{&PortInfo{}, "LinkSpeedExtEnabled", "Extended link speeds disabled", 30, true},
	} {
		t.Run(test.field+"="+test.name, func(t *testing.T) {
			if got, ok := ParseValueName(test.a, test.field, test.name); got != test.want || ok != test.ok {
				t.Errorf("got %d, %v, want %d, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// Fields passes the wanted fields' names and texts.
func TestFields(t *testing.T) {
	a := &NodeRecord{LID: 7, NodeInfo: NodeInfo{NodeType: NodeTypeSwitch}, Description: NewNodeDescription("leaf1")}
	var got []string
	Fields(a, []string{"NodeDesc", "LID", "NodeType"}, func(name string, text []byte) {
		got = append(got, name+"="+string(text))
	})
	if want := []string{"LID=7", "NodeType=Switch", "NodeDesc=leaf1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
