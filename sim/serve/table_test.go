package serve

import (
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// TestServe_Tables checks that a table is cut to one packet, and that the client notices.
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
