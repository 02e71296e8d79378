// Package drain takes the nodes of bad hosts out of service in Slurm and Kubernetes.
package drain

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// A Scheduler takes nodes out of service.
type Scheduler interface {
	String() string
	// Drained returns the nodes that the scheduler knows, and whether they are out of service
	// already. An error explains why others are unknown.
	Drained(ctx context.Context, names []string) (map[string]bool, error)
	// Drain takes a host out of service.
	Drain(ctx context.Context, b mesh.BadHost) error
	// Command returns the command that does the same.
	Command(b mesh.BadHost) []string
	// Hint returns advice after errors, or "".
	Hint() string
}

// reason returns why a host is drained.
func reason(b mesh.BadHost) string { return string(b.Kind) + ": " + b.Detail }

// Apply drains the hosts to be drained unless they exceed a number. It sets their actions and
// errors; the returned error concerns all hosts.
func Apply(ctx context.Context, s Scheduler, hosts []mesh.BadHost, most int) error {
	var all []*mesh.BadHost
	var names []string
	for i := range hosts {
		if hosts[i].Action == mesh.Drain {
			all, names = append(all, &hosts[i]), append(names, hosts[i].Host)
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case len(all) > most:
		for _, b := range all {
			b.Action = mesh.Withheld
		}
		return fmt.Errorf("drain %s: want at most %d", plural.Count(len(all), "host", "hosts"), most)
	}
	before, err := s.Drained(ctx, names)
	for _, b := range all {
		b.Action = mesh.DrainFailed
		switch drained, known := before[b.Host]; {
		case !known && err != nil:
			b.Error = err.Error()
		case !known:
			b.Error = s.String() + " has no node of this name"
		case drained:
			b.Action = mesh.DrainedBefore
		default:
			if err := s.Drain(ctx, *b); err != nil {
				b.Error = err.Error()
				continue
			}
			b.Action = mesh.Drained
		}
	}
	return nil
}
