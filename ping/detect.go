package ping

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// A ping server is asked twice whether it is there, and gets so long at most each
// time: in a fabric that takes longer, say what is to answer.
const (
	detectAttempts = 2
	detectTimeout  = 250 * time.Millisecond
)

// Detect finds out which targets have a ping server, and has those that have
// none, or do not answer at all, asked for their performance management agent:
// it sets their Via. Nobody has to run anything for that one, and it is on the
// queue pair that the server would be on. Over RoCE there is none.
func Detect(ctx context.Context, port umad.Port, targets []*Target, o Options) error {
	for _, t := range targets {
		t.Via = ViaVendor
	}
	o.Count, o.Interval, o.Deadline = 1, 0, 0
	o.Attempts, o.Timeout = detectAttempts, min(o.Timeout, detectTimeout)
	if o.Timeout <= 0 {
		o.Timeout = detectTimeout
	}
	o.Done, o.Idle, o.Status = nil, nil, nil
	_, err := Run(ctx, port, targets, o)
	for _, t := range targets {
		if t.Stats.Received == 0 && t.GRH == nil {
			t.Via = ViaPMA
		}
	}
	return err
}
