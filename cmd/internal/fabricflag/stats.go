package fabricflag

import (
	"fmt"

	"github.com/ibkit/ibkit/umad"
)

// FormatStats formats the counts of a client that commands print with -v.
func FormatStats(s umad.Stats) string {
	return fmt.Sprintf("%d MADs sent, including %d retries; %d timed out", s.Sent, s.Retries, s.Timeouts)
}
