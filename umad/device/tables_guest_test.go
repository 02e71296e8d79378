//go:build inguest

package device

import (
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// TestGuestTables queries whole tables, which the kernel assembles from segments, and
// logs the record count.
func TestGuestTables(t *testing.T) {
	port, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	c := umad.NewClient(port, umad.ClientOptions{})
	for _, kind := range []mad.Attribute{&mad.NodeRecord{}, &mad.PortInfoRecord{}, &mad.LinkRecord{}, &mad.LinearForwardingTableRecord{}} {
		table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: kind})
		if err != nil {
			t.Errorf("%s: %v", mad.AttributeName(kind), err)
			continue
		}
		if table.Clipped {
			t.Errorf("%s: clipped", mad.AttributeName(kind))
		}
		t.Logf("%s: %d records", mad.AttributeName(kind), table.Len())
	}
}
