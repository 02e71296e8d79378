package fabric

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
)

func TestPort_String(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"leaf1", "leaf1[3]"},
		{"", "0x0000000000000002[3]"},
	} {
		n := &Node{GUID: ib.GUID(2)}
		copy(n.Desc[:], test.name)
		if got := (&Port{Node: n, Number: 3}).String(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

func TestCutPort(t *testing.T) {
	for _, test := range []struct {
		name, node string
		number     int
		ok         bool
	}{
		{"leaf1[3]", "leaf1", 3, true},
		{"leaf1/3", "leaf1", 3, true},
		{"leaf1[300]", "leaf1", 300, true},
		{"MF0;sw:IS5300/L01/U1[20]", "MF0;sw:IS5300/L01/U1", 20, true},
		{"Blade 16_Port 2/20", "Blade 16_Port 2", 20, true},
		{"node01 mlx5_0[1]", "node01 mlx5_0", 1, true},
		{"leaf[12][1]", "leaf[12]", 1, true},
		{"leaf1", "leaf1", 0, false},
		{"leaf1[", "leaf1[", 0, false},
		{"leaf1[]", "leaf1[]", 0, false},
		{"leaf1]", "leaf1]", 0, false},
		{"leaf[ab]", "leaf[ab]", 0, false},
		{"leaf[1-4]", "leaf[1-4]", 0, false},
		{"leaf1/-1", "leaf1/-1", 0, false},
		{"leaf1/+1", "leaf1/+1", 0, false},
		{"leaf1/99999999999", "leaf1/99999999999", 0, false},
		{"[1]", "[1]", 0, false},
		{"/1", "/1", 0, false},
		{"", "", 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			node, number, ok := CutPort(test.name)
			if node != test.node || number != test.number || ok != test.ok {
				t.Errorf("got %q, %d, %v, want %q, %d, %v", node, number, ok, test.node, test.number, test.ok)
			}
			if ok && test.name[len(test.name)-1] == ']' && PortName(node, number) != test.name {
				t.Errorf("PortName: got %s, want %s", PortName(node, number), test.name)
			}
		})
	}
}
