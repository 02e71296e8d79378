// Package drain drains the nodes of bad hosts in Slurm.
package drain

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// A Runner runs scontrol and returns its standard output, also with an error.
type Runner func(ctx context.Context, args ...string) (string, error)

// reasonPrefix begins the reason of a node. The health check of package ibkit resumes nodes with
// "ibkit: ": it cannot find on the host why mesh drained it.
const reasonPrefix = "ibkit mesh: "

// Args returns the arguments of scontrol that drain a host.
func Args(b mesh.BadHost) []string {
	return []string{"update", "NodeName=" + b.Host, "State=DRAIN", "Reason=" + reasonPrefix + string(b.Kind) + ": " + b.Detail}
}

// Apply drains the hosts to be drained unless they exceed a number. It sets their actions and
// errors; the returned error concerns all hosts.
func Apply(ctx context.Context, run Runner, hosts []mesh.BadHost, most int) error {
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
	states, err := show(ctx, run, names)
	for _, b := range all {
		b.Action = mesh.DrainFailed
		switch state, known := states[b.Host]; {
		case !known && err != nil:
			b.Error = err.Error()
		case !known:
			b.Error = "Slurm has no node of this name"
		case strings.Contains(state, "DRAIN"):
			b.Action = mesh.DrainedBefore
		default:
			if _, err := run(ctx, Args(*b)...); err != nil {
				b.Error = err.Error()
				continue
			}
			b.Action = mesh.Drained
		}
	}
	return nil
}

// nodeName is a name that scontrol takes for a single node: no list, and not ALL.
var nodeName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// show returns the states of the nodes that Slurm knows.
func show(ctx context.Context, run Runner, names []string) (map[string]string, error) {
	states := map[string]string{}
	var single []string
	for _, name := range names {
		if nodeName.MatchString(name) && !strings.EqualFold(name, "ALL") {
			single = append(single, name)
		}
	}
	if len(single) == 0 {
		return states, nil
	}
	out, err := run(ctx, "--oneliner", "show", "node", strings.Join(single, ","))
	for line := range strings.Lines(out) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "NodeName="), " ")
		_, rest, found := strings.Cut(rest, " State=")
		if state, _, _ := strings.Cut(rest, " "); ok && found {
			states[name] = state
		}
	}
	if len(states) > 0 {
		err = nil // unknown nodes
	}
	return states, err
}

// limit is the time that a call of scontrol may take.
const limit = time.Minute

// Scontrol runs the scontrol program.
func Scontrol(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "scontrol", args...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		err = fmt.Errorf("scontrol: %w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	} else if err != nil {
		err = fmt.Errorf("scontrol: %w", err)
	}
	return string(out), err
}
