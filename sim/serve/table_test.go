package serve

import (
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// TestTables: a served fabric answers with what one packet holds, and a client
// knows whether that is all.
func TestTables(t *testing.T) {
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
		table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: test.kind})
		if err != nil {
			t.Fatal(err)
		}
		if table.Len() != test.records || table.Clipped != test.clipped {
			t.Errorf("%T: %d records, clipped %v", test.kind, table.Len(), table.Clipped)
		}
	}
}
