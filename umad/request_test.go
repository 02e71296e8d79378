package umad

import (
	"errors"
	"testing"

	"github.com/ibkit/ibkit/mad"
)

func TestTargetString(t *testing.T) {
	tests := map[string]Target{
		"DR path slid 65535; dlid 65535; 0":             {Route: mad.Local},
		"DR path slid 65535; dlid 65535; 0,1,3":         {Route: mad.RouteOf(1, 3)},
		"DR path slid 65535; dlid 65535; none":          {},
		"Lid 5":                                         {LID: 5},
		"Lid 5 DR path slid 65535; dlid 65535; 0,1,255": {LID: 5, Route: mad.RouteOf(1, 255)},
	}
	for want, target := range tests {
		if got := target.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestErrorString(t *testing.T) {
	tests := map[string]Error{
		"Get PortInfo (modifier 0x4) of LID 5, sent 3 times: no reply in time": {
			To: Target{LID: 5}, Class: mad.ClassSMPLIDRouted, Method: mad.MethodGet, Attr: mad.AttrPortInfo,
			Modifier: 4, Attempts: 3, Err: ErrTimeout,
		},
		"Set Perf PortCounters of LID 6: device removed": {
			To: Target{LID: 6}, Class: mad.ClassPM, Method: mad.MethodSet, Attr: 0x12, Attempts: 1, Err: ErrDeviceRemoved,
		},
	}
	for want, err := range tests {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if !errors.Is(&err, err.Err) {
			t.Errorf("%q hides its cause", want)
		}
	}
}

func TestTarget_Through(t *testing.T) {
	for name, test := range map[string]struct{ at, want Target }{
		"directed":       {Target{Route: mad.RouteOf(1)}, Target{Route: mad.RouteOf(1, 3)}},
		"LID":            {Target{LID: 5}, Target{LID: 5, Route: mad.RouteOf(3)}},
		"LID and route":  {Target{LID: 5, Route: mad.RouteOf(1)}, Target{LID: 5, Route: mad.RouteOf(1, 3)}},
		"no destination": {Target{}, Target{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.at.Through(3); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
