package linkinfo

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/report"
)

// Each link of a report is there once, with the findings of both ends.
func TestNewReportLink(t *testing.T) {
	_, f := scans(t, fabric.DiscoverOptions{})
	ends := Ends(f, f.Nodes)
	found := map[string][]report.Kind{}
	for _, l := range Links(ends) {
		r := NewReportLink(l, nil)
		if l.Near.Port.Peer == nil {
			if r.B != nil {
				t.Errorf("got end b %+v of %v, which has no link", r.B, l)
			}
			continue
		}
		name := *r.A.Name + " " + *r.B.Name
		if found[name] != nil || found[*r.B.Name+" "+*r.A.Name] != nil {
			t.Errorf("got the link %s twice", name)
		}
		found[name] = r.Findings
		if e := l.Near; r.A.Port != e.Port.Number || r.B.NodeGUID != e.Port.Peer.Node.GUID || *r.Width != e.Width.String() || *r.State != e.Port.Info.State.String() {
			t.Errorf("got %+v for %v", r, l)
		}
	}
	if len(found) != 24 {
		t.Errorf("got %d links, want 24", len(found))
	}
	for name, want := range map[string][]report.Kind{"leaf1 spine1": {"narrow"}, "leaf2 node07": {"slow"}, "leaf3 node10": {"not-active"}, "leaf1 spine2": {}} {
		if got := found[name]; !slices.Equal(got, want) {
			t.Errorf("%s: got findings %v, want %v", name, got, want)
		}
	}
	// Without its far end, a link has the peer nevertheless.
	near := slices.IndexFunc(ends, func(e End) bool { return e.Port.Peer != nil })
	if r := NewReportLink(Link{Near: &ends[near]}, nil); r.B == nil {
		t.Error("got no end b of a link with a single selected end")
	}
}
