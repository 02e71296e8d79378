package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A misledPort was told of a subnet manager elsewhere.
type misledPort struct {
	umad.Port
	smLID uint16
}

func (p misledPort) Attr() umad.PortAttr {
	a := p.Port.Attr()
	if p.smLID != 0 {
		a.SMLID = p.smLID
	}
	return a
}

func TestInterview(t *testing.T) {
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		smLID   uint16 // 0: where it is
		verdict Verdict
		found   string
	}{
		{"there", 0, OK, "LID 4, port 0x0002c90000100301, Master with priority 0"},
		{"not at that port", 7, Error, "there is no subnet manager any more at LID 7, "},
		{"no such port", 999, Error, "the subnet manager at LID 999 does not answer: "},
	} {
		port, err := f.Open("node05")
		if err != nil {
			t.Fatal(err)
		}
		h := &host{root: t.TempDir(), timeout: 10 * time.Millisecond}
		i := h.interview(t.Context(), misledPort{port, test.smLID})
		if i.Verdict != test.verdict || !strings.HasPrefix(i.Found, test.found) {
			t.Errorf("%s: %+v", test.name, i)
		}
		port.Close()
	}
}
