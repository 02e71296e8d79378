package fabricflag

import (
	"fmt"
	"sync"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/umad"
)

// FormatStats formats the counts of a client that commands print with -v.
func FormatStats(s umad.Stats) string {
	return fmt.Sprintf("%s sent, including %s; %d timed out", plural.Count(s.Sent, "MAD", "MADs"), plural.Count(s.Retries, "retry", "retries"), s.Timeouts)
}

// A packetCounter adds up the packets of all clients of a command, which may run at the same
// time.
type packetCounter struct {
	mu    sync.Mutex
	stats umad.Stats
}

// count is a trace of a client.
func (c *packetCounter) count(e umad.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Kind {
	case umad.EventSent:
		c.stats.Sent++
		if e.Attempt > 1 {
			c.stats.Retries++
		}
	case umad.EventTimedOut:
		c.stats.Timeouts++
	}
}

// PrintStats prints with -v the counts of all clients whose options are from
// [Settings.Client].
func (s *Settings) PrintStats(env *cmdutil.Env) {
	if s.counter == nil {
		return
	}
	s.counter.mu.Lock()
	defer s.counter.mu.Unlock()
	fmt.Fprintln(env.ErrOut, FormatStats(s.counter.stats))
}
