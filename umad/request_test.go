package umad

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
)

func TestTargetString(t *testing.T) {
	tests := map[string]Target{
		"DR path slid 65535; dlid 65535; 0":             {},
		"DR path slid 65535; dlid 65535; 0,1,3":         {Route: "\x01\x03"},
		"Lid 5":                                         {LID: 5},
		"Lid 5 DR path slid 65535; dlid 65535; 0,1,255": {LID: 5, Route: "\x01\xff"},
	}
	for want, target := range tests {
		if got := target.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestErrorString(t *testing.T) {
	tests := map[string]Error{
		"Get PortInfo (modifier 0x4) of Lid 5, sent 3 times: no reply in time": {
			To: Target{LID: 5}, Class: mad.ClassSMPLIDRouted, Method: mad.MethodGet, Attr: mad.AttrPortInfo,
			Modifier: 4, Attempts: 3, Err: ErrTimeout,
		},
		"Set Perf PortCounters (modifier 0x0) of Lid 6: device removed": {
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

// TestTrace checks what is told of a request that is lost once, between a
// packet of someone else and the answer.
func TestTrace(t *testing.T) {
	var got []string
	f, c := newFake(0, ClientOptions{Trace: func(e Event) {
		e.TID &= maxAttempts
		got = append(got, e.String())
	}})
	f.onSend = func(m *Message) {
		if len(f.sent) == 1 {
			stray := reply(m)
			stray.MAD.SetTID(0)
			f.arrive(0, stray)
			f.arrive(time.Second, returned(m))
			return
		}
		r := reply(m)
		r.MAD.SetStatus(mad.StatusBusy)
		f.arrive(time.Millisecond, r)
	}
	_, err := c.Call(t.Context(), &Request{To: Target{LID: 9}, Attr: mad.AttrNodeInfo})
	if err == nil {
		t.Error("no error")
	}
	want := []string{
		"sent: SubnLID Get NodeInfo modifier 0x0 tid 0x1 attempt 1 of Lid 9",
		"stray: SubnLID GetResp NodeInfo modifier 0x0 tid 0x0",
		"timed out: SubnLID Get NodeInfo modifier 0x0 tid 0x1 attempt 1 of Lid 9: no reply in time",
		"sent: SubnLID Get NodeInfo modifier 0x0 tid 0x2 attempt 2 of Lid 9",
		"received: SubnLID GetResp NodeInfo modifier 0x0 tid 0x2 attempt 2 of Lid 9 after 1ms: " + mad.StatusError(mad.StatusBusy).Error(),
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %q\nwant %q", got[i], want[i])
		}
	}
}
