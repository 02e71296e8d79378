package addr

import (
	"errors"
	"fmt"
	"net"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/resolve"
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

// withHint adds a hint to an error without one.
func withHint(err error, mode resolve.LookupMode) error {
	var dns *net.DNSError
	var notFound *resolve.NotFoundError
	switch {
	case errors.Is(err, resolve.ErrNoRouteRecord):
		return cmdutil.WithHint(err, "query the nodes instead: --source nodes")
	case mode == resolve.LookupSA && fabricflag.NoManager(err):
		return cmdutil.WithHint(err, "check that a subnet manager is running; without one, --source nodes finds ports by a scan")
	case errors.As(err, &notFound) && notFound.By == resolve.FromSA:
		return cmdutil.WithHint(err, "to find ports that the subnet manager has not configured, scan the fabric: --source nodes")
	case errors.As(err, &dns):
		return cmdutil.WithHint(err, "on Ethernet, names are host names: check that DNS or /etc/hosts has this one")
	}
	return fabricflag.WithHint(err)
}
