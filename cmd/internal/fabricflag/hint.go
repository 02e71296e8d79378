package fabricflag

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Failures returns a list for the failures of a command. from is in front of each line.
func (s *Settings) Failures(env *cmdutil.Env, from string) *cmdutil.Failures {
	return cmdutil.NewFailures(env, from, s.Verbose > 0)
}

// PrintFailed prints the failed requests of a command that did a part of its work.
func (s *Settings) PrintFailed(env *cmdutil.Env, failed []error) {
	failures := s.Failures(env, "warning")
	for _, err := range failed {
		failures.Print(err)
	}
	failures.Close()
}

// PrintMissed prints the failed requests of a scan that may have missed targets of the
// command.
func (s *Settings) PrintMissed(env *cmdutil.Env, missed []error) {
	s.PrintFailed(env, missed)
	if len(missed) > 0 {
		fmt.Fprintln(env.ErrOut, "warning: the result is partial: the scan may have missed targets")
	}
}

// WithHint adds a hint to the error of a request without a reply.
func WithHint(err error) error {
	var failed *umad.Error
	switch {
	case NoManager(err):
		return cmdutil.WithHint(err, "check that a subnet manager is running")
	case errors.As(err, &failed) && failed.Class == mad.ClassMlnx && errors.Is(err, umad.ErrTimeout):
		return cmdutil.WithHint(err, "only NVIDIA's devices respond to vendor class 0x0a, and their manager can turn it off")
	case errors.Is(err, umad.ErrTimeout):
		return cmdutil.WithHint(err, "possible causes: no port has this address; its node or a link on the path is down; -t is too short for this fabric")
	}
	return err
}

// WithSourceHint adds a hint to the error of a command with the flag --source, which has
// the value mode.
func WithSourceHint(err error, mode lookup.Mode) error {
	notFound, ok := errors.AsType[*lookup.NotFoundError](err)
	switch {
	case errors.Is(err, lookup.ErrNoRouteRecord):
		return cmdutil.WithHint(err, "query the nodes instead: --source nodes")
	case mode == lookup.ModeSA && NoManager(err):
		return cmdutil.WithHint(err, "check that a subnet manager is running; without one, --source nodes finds ports by a scan")
	case ok && notFound.By == lookup.FromSA:
		hint := "to find ports that the subnet manager has not configured, scan the fabric: --source nodes"
		if notFound.Address.Kind == lookup.Name {
			hint = "list all nodes: ibkit topology --nodes; " + hint
		}
		return cmdutil.WithHint(err, hint)
	}
	return WithHint(err)
}

// NoManager reports whether subnet administration did not reply, or is not known.
func NoManager(err error) bool {
	var failed *umad.Error
	return errors.Is(err, umad.ErrNoSM) || errors.As(err, &failed) && failed.Class == mad.ClassSA && errors.Is(err, umad.ErrTimeout)
}
