package ping

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// Detect sends two probes to each ping server, with a short timeout. In a fabric
// that is slower, the caller selects the agent.
const (
	detectAttempts = 2
	detectTimeout  = 250 * time.Millisecond
)

// Detect sets the Agent field of targets: [AgentServer] if a ping server replies, else
// [AgentPMA], which is on the same queue pair as a server would be. Over RoCE there is no
// management agent, and the Agent is always AgentServer. If ctx ends, Detect returns the
// context's error.
func Detect(ctx context.Context, port umad.Port, targets []*Target, o Options) error {
	for _, t := range targets {
		t.Agent = AgentServer
	}
	o.Count, o.Interval, o.Deadline = 1, 0, 0
	o.Attempts, o.Timeout = detectAttempts, min(o.Timeout, detectTimeout)
	if o.Timeout <= 0 {
		o.Timeout = detectTimeout
	}
	o.Done, o.Idle, o.Status = nil, nil, nil
	if _, err := Run(ctx, port, targets, o); err != nil {
		return err
	}
	for _, t := range targets {
		if t.Stats.Received == 0 && t.GRH == nil {
			t.Agent = AgentPMA
		}
	}
	return ctx.Err()
}
