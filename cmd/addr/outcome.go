package addr

import (
	"errors"
	"fmt"
	"net"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
)

// outcome reports targets that were not found, and returns the exit code as an error.
func (c *command) outcome(answers []answer) error {
	found, failed, findings := 0, 0, false
	hinted := map[string]bool{"": true}
	report := func(err error) {
		failed++
		switch h := cmdutil.Hint(err); {
		case failed > fabricflag.MaxFailures && c.fabric.Verbose == 0:
		case hinted[h]: // a hint is printed once
			fmt.Fprintf(c.env.ErrOut, "ibkit addr: %v\n", err)
		default:
			hinted[h] = true
			cmdutil.PrintError(c.env, "ibkit addr", err)
		}
	}
	for i := range answers {
		a := &answers[i]
		if a.err != nil {
			report(a.err)
		}
		for _, p := range a.ports {
			if p.Err != nil {
				report(withHint(fmt.Errorf("query %s: %w", placeOf(p, a.target), p.Err), c.options.Mode))
			}
			if p.Node != nil || p.Host != nil {
				found++
			}
			findings = findings || len(p.Findings) > 0
		}
	}
	if failed > fabricflag.MaxFailures && c.fabric.Verbose == 0 {
		fmt.Fprintf(c.env.ErrOut, "ibkit addr: and %d more (-v shows all)\n", failed-fabricflag.MaxFailures)
	}
	if found == 0 && failed > 0 {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return cmdutil.ResultError(failed > 0, findings)
}

// placeOf names a port: by the target, or by its LID in a range.
func placeOf(p *resolve.Port, target resolve.Address) string {
	if target.Kind == resolve.LID {
		return fmt.Sprintf("LID %d", p.To.LID)
	}
	return target.String()
}

// A hintedError is an error with a hint.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }

func (e *hintedError) Unwrap() error { return e.err }

// Hint returns the hint.
func (e *hintedError) Hint() string { return e.hint }

// withHint adds a hint to an error without one.
func withHint(err error, mode resolve.LookupMode) error {
	var dns *net.DNSError
	var failed *umad.Error
	var notFound *resolve.NotFoundError
	switch {
	case cmdutil.Hint(err) != "":
		return err
	case errors.Is(err, resolve.ErrNoRouteRecord):
		return &hintedError{err, "query the nodes instead: --source nodes"}
	case errors.Is(err, umad.ErrNoSM), errors.As(err, &failed) && failed.Class == mad.ClassSA && errors.Is(err, umad.ErrTimeout):
		text := "check that a subnet manager is running"
		if mode == resolve.LookupSA {
			text += "; without one, --source nodes finds ports by a scan"
		}
		return &hintedError{err, text}
	case errors.Is(err, umad.ErrTimeout):
		return &hintedError{err, "no port has this address, its node or a link on the way is down, or -t is too short for this fabric"}
	case errors.As(err, &notFound) && notFound.By == resolve.FromSA:
		return &hintedError{err, "to find ports that the subnet manager has not configured, scan the fabric: --source nodes"}
	case errors.As(err, &dns):
		return &hintedError{err, "on Ethernet, names are host names: check that DNS or /etc/hosts has this one"}
	}
	return err
}
