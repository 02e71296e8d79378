package guest

import (
	"context"
	"fmt"
	"time"
)

// poll is the least time between two attempts of Await.
const poll = 10 * time.Millisecond

// Await runs a command repeatedly until the exit code is 0. It pauses for as long as the
// command takes, so that the awaited program has a processor.
func (g *Guest) Await(ctx context.Context, args ...string) error {
	w := g.watch(ctx, fmt.Sprintf("success of %q", args))
	defer w.timer.Stop()
	polls := context.WithValue(ctx, watching{}, w)
	for {
		r, err := g.Run(polls, Command{Args: args, poll: true})
		if err != nil || r.Code == 0 {
			return err
		}
		select {
		case <-w.timer.C:
			err = w.ask()
		case all := <-w.reply:
			err = w.look(all)
		case <-time.After(max(poll, r.Elapsed)):
		case <-ctx.Done():
			return fmt.Errorf("wait for success: %w: %w", context.Cause(ctx), &ExitError{args, r})
		}
		if err != nil {
			return err
		}
	}
}

// AwaitTCP returns when a program listens on a TCP port over IPv4 or IPv6.
func (g *Guest) AwaitTCP(ctx context.Context, port uint16) error {
	// "sl local_address rem_address st", addresses in hexadecimal digits, state
	// 0A is LISTEN (Documentation/networking/proc_net_tcp.rst).
	err := g.Await(ctx, "grep", "-q", fmt.Sprintf("^ *[0-9]*: [0-9A-F]*:%04X [0-9A-F]*:0000 0A ", port), "/proc/net/tcp", "/proc/net/tcp6")
	if err != nil {
		return fmt.Errorf("wait for a listener on TCP port %d: %w", port, err)
	}
	return nil
}
