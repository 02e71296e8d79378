package report

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// A place has a name also if its node's description is unknown.
func TestPlace_String(t *testing.T) {
	for want, p := range map[string]Place{
		"leaf1":              {Name: new("leaf1"), LID: new(ib.LID(3))},
		"leaf1[3]":           {Name: new("leaf1"), Port: new(3)},
		"ff12::1":            {GID: new("ff12::1"), LID: new(ib.LID(3))},
		"LID 3":              {LID: new(ib.LID(3)), NodeGUID: new(ib.GUID(17))},
		"0x0000000000000011": {NodeGUID: new(ib.GUID(17)), Port: new(1)},
	} {
		t.Run(want, func(t *testing.T) {
			if got := p.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
