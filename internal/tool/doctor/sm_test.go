package doctor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A misledPort reports another LID as the subnet manager's.
type misledPort struct {
	umad.Port
	smLID ib.LID
}

func (p misledPort) Attr() umad.PortAttr {
	a := p.Port.Attr()
	if p.smLID != 0 {
		a.SMLID = p.smLID
	}
	return a
}

func TestQuerySM(t *testing.T) {
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		smLID   ib.LID // 0 for the right LID
		verdict Verdict
		found   string
	}{
		{"running", 0, OK, "LID 4, port 0x0002c90000100301, Master with priority 0"},
		{"port without subnet manager", 7, Error, "the subnet manager at LID 7 is gone: "},
		{"unused LID", 999, Error, "the subnet manager at LID 999 does not respond: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				port, err := f.Open("node05")
				if err != nil {
					t.Fatal(err)
				}
				defer port.Close()
				h := &host{root: t.TempDir(), timeout: 10 * time.Millisecond}
				i := h.querySM(t.Context(), misledPort{port, test.smLID})
				if i.Verdict != test.verdict || !strings.HasPrefix(i.Found, test.found) {
					t.Errorf("got %+v, want %s, %s", i, test.verdict, test.found)
				}
			})
		})
	}
}
