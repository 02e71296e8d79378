package fields

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/mad"
)

func TestReader(t *testing.T) {
	r := NewReader([]string{"LinkState", "CapMask", "nosuch"})
	r.Read(&mad.PortInfo{State: 4, CapMask: mad.CapSM | mad.CapTrap})
	if got, want := r.AppendTexts(nil), []string{"Active", "0xa IsSM IsTrapSupported", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Read(nil)
	if got, want := r.AppendTexts(nil), []string{"", "", ""}; !slices.Equal(got, want) {
		t.Errorf("after nil: got %q, want %q", got, want)
	}
}

// TestReader_Allocations checks that the texts of all fields of a row take one allocation.
func TestReader_Allocations(t *testing.T) {
	r := NewReader([]string{"LID", "NodeType", "NodeDesc"})
	record := &mad.NodeRecord{LID: 12345, NodeInfo: mad.NodeInfo{NodeType: mad.NodeTypeSwitch}, Description: mad.NewNodeDescription("leaf1")}
	var cells []string
	if n := testing.AllocsPerRun(100, func() {
		r.Read(record)
		cells = r.AppendTexts(cells[:0])
	}); n != 1 {
		t.Errorf("got %v allocations, want 1", n)
	}
	if want := []string{"12345", "Switch", "leaf1"}; !slices.Equal(cells, want) {
		t.Errorf("got %q, want %q", cells, want)
	}
}

func TestRenumber(t *testing.T) {
	parts := []Field{{"", "   0: 0xffff"}, {"", "  24: 0x0000"}, {"Name", "1: x"}, {"", "|0|1|"}}
	Renumber(parts, 96)
	want := []Field{{"", "  96: 0xffff"}, {"", " 120: 0x0000"}, {"Name", "1: x"}, {"", "|0|1|"}}
	if !slices.Equal(parts, want) {
		t.Errorf("got %q, want %q", parts, want)
	}
}
