package ping

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ping"
)

// On a terminal there is one line, which is written over now and again and gives
// way to the account.
func TestPingLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		out := render.NewOutput(&b)
		targets := []*ping.Target{{Name: "LID 3"}, {Name: "LID 4", Stats: ping.Stats{Silent: 2}}}
		v := &view{out: out, live: &liveLine{targets: targets}}
		total := &ping.Stats{}
		for range 4 {
			total.Sent++
			total.Lost++
			v.probe(&ping.Probe{Target: targets[0], Total: total, Outcome: ping.Lost})
			v.idle()
			time.Sleep(60 * time.Millisecond)
		}
		v.idle()
		time.Sleep(liveEvery)
		v.idle() // nothing has changed
		for range liveLook {
			total.Sent++
			total.Lost++
			v.probe(&ping.Probe{Target: targets[0], Total: total, Outcome: ping.Lost})
		}
		v.live.clear(out)
		v.live.clear(out)
		out.Flush()
		const want = "\r\x1b[K2 targets: 1 sent, 0 received, 100% loss; 1 silent" +
			"\r\x1b[K2 targets: 3 sent, 0 received, 100% loss; 1 silent" +
			"\r\x1b[K2 targets: 4 sent, 0 received, 100% loss; 1 silent" +
			"\r\x1b[K2 targets: 260 sent, 0 received, 100% loss; 1 silent\r\x1b[K"
		if got := b.String(); got != want {
			t.Errorf("got %q", got)
		}
	})
}
