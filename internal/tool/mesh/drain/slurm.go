package drain

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// Slurm drains nodes in Slurm. It runs scontrol, which returns its standard output, also with an
// error; nil: the program.
type Slurm struct {
	Run func(ctx context.Context, args ...string) (string, error)
}

func (Slurm) String() string { return "Slurm" }

// Hint returns the next step for hosts that could not be drained.
func (Slurm) Hint() string {
	return "run the printed command as a Slurm operator on a host with scontrol and slurm.conf; other names for hosts: --node-name-map FILE"
}

// Command returns the command that drains a host.
func (s Slurm) Command(b mesh.BadHost) []string { return append([]string{"scontrol"}, slurmArgs(b)...) }

// Drain drains a host.
func (s Slurm) Drain(ctx context.Context, b mesh.BadHost) error {
	_, err := s.scontrol(ctx, slurmArgs(b)...)
	return err
}

func slurmArgs(b mesh.BadHost) []string {
	return []string{"update", "NodeName=" + b.Host, "State=DRAIN", "Reason=" + reasonPrefix + reason(b)}
}

// reasonPrefix begins the reason of a node. The health check of package ibkit resumes nodes with
// "ibkit: ": it cannot find on the host why mesh drained it.
const reasonPrefix = "ibkit mesh: "

// nodeName is a name that scontrol takes for a single node: no list, and not ALL.
var nodeName = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// Drained returns the nodes that Slurm knows, and whether they are drained.
func (s Slurm) Drained(ctx context.Context, names []string) (map[string]bool, error) {
	drained := map[string]bool{}
	var single []string
	for _, name := range names {
		if nodeName.MatchString(name) && !strings.EqualFold(name, "ALL") {
			single = append(single, name)
		}
	}
	if len(single) == 0 {
		return drained, nil
	}
	out, err := s.scontrol(ctx, "--oneliner", "show", "node", strings.Join(single, ","))
	for line := range strings.Lines(out) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "NodeName="), " ")
		_, rest, found := strings.Cut(rest, " State=")
		if state, _, _ := strings.Cut(rest, " "); ok && found {
			drained[name] = strings.Contains(state, "DRAIN")
		}
	}
	if len(drained) > 0 {
		err = nil // unknown nodes
	}
	return drained, err
}

// limit is the time that a call of scontrol, or a request with its retries, may take.
const limit = time.Minute

// scontrol runs the scontrol program.
func (s Slurm) scontrol(ctx context.Context, args ...string) (string, error) {
	if s.Run != nil {
		return s.Run(ctx, args...)
	}
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
