package fabric

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

func TestNameMap_LabelOfNodeWithoutName(t *testing.T) {
	const guid = ib.GUID(0x2c90000800200)
	n := &Node{GUID: guid, Ports: make([]*Port, 4)}
	p := &Port{Node: n, Number: 3}
	for _, test := range []struct {
		name, label, port string
		names             *NameMap
	}{
		{"no map", "0x0002c90000800200", "0x0002c90000800200[3]", nil},
		{"mapped", "leaf1", "leaf1[3]", &NameMap{names: map[ib.GUID]string{guid: "leaf1"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.names.Label(n); got != test.label {
				t.Errorf("Label: got %q, want %q", got, test.label)
			}
			if got := test.names.LabelOf(guid, mad.NodeDescription{}); got != test.label {
				t.Errorf("LabelOf: got %q, want %q", got, test.label)
			}
			if got := test.names.PortName(p); got != test.port {
				t.Errorf("PortName: got %q, want %q", got, test.port)
			}
		})
	}
}
