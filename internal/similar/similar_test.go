package similar

import (
	"slices"
	"testing"
)

func TestTo(t *testing.T) {
	nodes := []string{"leaf1", "leaf2", "leaf3", "leaf4", "node01", "node10", "node11", "spine1"}
	for _, c := range []struct {
		word  string
		names []string
		want  []string
	}{
		{"laef1", nodes, []string{"leaf1", "leaf2", "leaf3"}},
		{"LEAF1", nodes, []string{"leaf1", "leaf2", "leaf3"}},
		{"leaf99", nodes, []string{"leaf1", "leaf2", "leaf3"}},
		{"node1", nodes, []string{"node01", "node10", "node11"}},
		{"spine", nodes, []string{"spine1"}},
		{"pine", nodes, []string{"spine1"}},
		{"router", nodes, nil},
		{"", nodes, nil},
		{"l", nodes, nil},
		{"dmeo", []string{"demo", "faults"}, []string{"demo"}},
		{"sminof", []string{"sa", "sm", "sminfo"}, []string{"sminfo"}},
		{"man", []string{"sa", "sm", "cm"}, nil},
		{"linkinf", []string{"linkinfo", "iblinkinfo"}, []string{"linkinfo"}},
		{"topo", []string{"top", "topology", "isotope"}, []string{"top", "topology"}},
		{"prob", []string{"from", "Port", "problems"}, []string{"problems", "from", "Port"}},
		{"ndr400", []string{"SDR", "NDR", "XDR"}, []string{"NDR"}},
		{"smart", []string{"sm"}, nil},
		{"ab", []string{"a", "b", "abc"}, []string{"abc"}},
	} {
		t.Run(c.word, func(t *testing.T) {
			if got := To(c.word, c.names); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"links", "links", 0},
		{"links", "link", 1},
		{"laef", "leaf", 1}, // swapped
		{"kitten", "sitting", 3},
		{"ca", "abc", 3}, // a swap of bytes that are edited again does not count
	} {
		t.Run(c.a+" "+c.b, func(t *testing.T) {
			if got := distance(c.a, c.b, 5); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if got := distance(c.b, c.a, 5); got != c.want {
				t.Errorf("reversed: got %d, want %d", got, c.want)
			}
		})
	}
	if got := distance("a", "abcdef", 2); got <= 2 {
		t.Errorf("got %d, want more than 2", got)
	}
}
