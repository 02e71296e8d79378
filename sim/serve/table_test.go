package serve

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// TestServe_Tables checks that a table is cut to a single packet, and that the client
// notices.
func TestServe_Tables(t *testing.T) {
	_, name := serve(t, build(t, "single-switch:hosts=3"), 0)
	c := umad.NewClient(attach(t, name, ""), umad.ClientOptions{})
	for _, test := range []struct {
		kind    mad.Attribute
		records int
		clipped bool
	}{
		{&mad.LinkRecord{}, 6, false},
		{&mad.NodeRecord{}, 1, true},
		{&mad.SMInfoRecord{}, 1, false},
		{&mad.ServiceRecord{}, 0, false},
	} {
		t.Run(mad.AttributeName(test.kind), func(t *testing.T) {
			table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: test.kind})
			if err != nil {
				t.Fatal(err)
			}
			if table.Len() != test.records || table.Clipped != test.clipped {
				t.Errorf("got %d records, clipped %v, want %d, %v", table.Len(), table.Clipped, test.records, test.clipped)
			}
		})
	}
}

// TestServe_RMPP reads a table in segments; some segments are lost or arrive twice.
func TestServe_RMPP(t *testing.T) {
	for _, model := range []string{"seed=1", "loss=0.02", "loss=0.02,duplicate=0.1", "jitter=200us"} {
		t.Run(model, func(t *testing.T) {
			f := build(t, "fat-tree:radix=16,pods=16")
			if err := f.Model.ParseModel(model); err != nil {
				t.Fatal(err)
			}
			_, name := serveWith(t, f, Options{RMPP: true})
			c := umad.NewClient(attach(t, name, ""), umad.ClientOptions{})
			table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.NodeRecord{}})
			if err != nil {
				t.Fatal(err)
			}
			if table.Len() != len(f.Nodes) || table.Clipped {
				t.Errorf("got %d records, clipped %v, want %d", table.Len(), table.Clipped, len(f.Nodes))
			}
			known := map[ib.GUID]bool{}
			for _, n := range f.Nodes {
				known[n.Info.NodeGUID] = true
			}
			records, err := umad.Records[mad.NodeRecord](table)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if !known[r.NodeInfo.NodeGUID] {
					t.Errorf("got an unknown or repeated node %v", r.NodeInfo.NodeGUID)
				}
				delete(known, r.NodeInfo.NodeGUID)
			}
		})
	}
}
