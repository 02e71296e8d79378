package fields

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/mad"
)

func TestReader(t *testing.T) {
	r := NewReader([]string{"LinkState", "CapMask", "nosuch"})
	r.Read(&mad.PortInfo{State: 4, CapMask: mad.CapSM | mad.CapTrap})
	if got, want := r.AppendStrings(nil), []string{"Active", "0xa IsSM IsTrapSupported", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Read(nil)
	if got, want := r.AppendStrings(nil), []string{"", "", ""}; !slices.Equal(got, want) {
		t.Errorf("after nil: got %q, want %q", got, want)
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
