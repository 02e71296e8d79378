package umad_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// TestEvent_String checks the events for a request with a lost first attempt and an error
// for the second attempt, and for packets that arrive besides.
func TestEvent_String(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(0)
		var got []string
		c := umad.NewRepeatableClient(p, umad.ClientOptions{Attempts: 2, Trace: func(e umad.Event) {
			e.TID &= 0xffffffff // the upper half is the transport's
			got = append(got, e.String())
		}})
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			switch len(p.Sent()) {
			case 0:
				stray := umadtest.Reply(m)
				stray.MAD.SetTID(0)
				p.Deliver(0, stray)
				p.Deliver(time.Second, umadtest.Returned(m))
			case 1:
				r := umadtest.Reply(m)
				r.MAD.SetStatus(mad.StatusBusy)
				p.Deliver(time.Millisecond, r)
				p.Deliver(2*time.Millisecond, r)
			case 2, 3:
				p.Deliver(1500*time.Millisecond, umadtest.Reply(m))
			default:
				p.Deliver(time.Second-time.Millisecond, umadtest.Reply(m))
			}
		})
		for _, lid := range []ib.LID{9, 8, 7} {
			_, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: lid}, Attr: mad.AttrNodeInfo})
			if (err != nil) != (lid == 9) {
				t.Errorf("LID %d: got error %v", lid, err)
			}
		}
		want := strings.Split(strings.TrimSpace(`
sent: SubnLID Get NodeInfo modifier 0x0 tid 0x1 attempt 1 of LID 9
stray: SubnLID GetResp NodeInfo modifier 0x0 tid 0x0
timed out: SubnLID Get NodeInfo modifier 0x0 tid 0x1 attempt 1 of LID 9: no reply in time
sent: SubnLID Get NodeInfo modifier 0x0 tid 0x2 attempt 2 of LID 9
received: SubnLID GetResp NodeInfo modifier 0x0 tid 0x2 attempt 2 of LID 9 after 1ms: `+mad.StatusError(mad.StatusBusy).Error()+`
sent: SubnLID Get NodeInfo modifier 0x0 tid 0x3 attempt 1 of LID 8
duplicate: SubnLID GetResp NodeInfo modifier 0x0 tid 0x2 attempt 2 of LID 9 after 2ms: `+mad.StatusError(mad.StatusBusy).Error()+`
timed out: SubnLID Get NodeInfo modifier 0x0 tid 0x3 attempt 1 of LID 8: no reply in time
sent: SubnLID Get NodeInfo modifier 0x0 tid 0x4 attempt 2 of LID 8
received: SubnLID GetResp NodeInfo modifier 0x0 tid 0x3 attempt 1 of LID 8
sent: SubnLID Get NodeInfo modifier 0x0 tid 0x5 attempt 1 of LID 7
received: SubnLID GetResp NodeInfo modifier 0x0 tid 0x5 attempt 1 of LID 7 after 999ms`), "\n")
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
