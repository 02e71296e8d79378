package sim

import (
	"testing"

	"github.com/ibkit/ibkit/mad"
)

func TestPortSamplesControl(t *testing.T) {
	_, s, p := openPerf(t)
	lid := s.Ports[0].Info.LID
	a := &mad.PortSamplesControl{PortSelect: 2}
	if status := perf(t, p, lid, mad.MethodGet, a); status != 0 || a.PortSelect != 2 || a.Tick != defaultTick {
		t.Errorf("got status %v, port %d, tick %d; want 0, 2, %d", status, a.PortSelect, a.Tick, defaultTick)
	}
	if status := perf(t, p, lid, mad.MethodGet, &mad.PortSamplesControl{PortSelect: 99}); status != mad.StatusBadValue {
		t.Errorf("port 99: got status %v, want %v", status, mad.StatusBadValue)
	}
	if status := perf(t, p, lid, mad.MethodSet, &mad.PortSamplesControl{PortSelect: 2}); status != mad.StatusBadMethodAttr {
		t.Errorf("set: got status %v, want %v", status, mad.StatusBadMethodAttr)
	}
}
