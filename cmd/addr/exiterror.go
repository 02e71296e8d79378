package addr

import (
	"errors"
	"fmt"
	"net"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/report"
)

// exitError reports targets that were not found, and returns the exit code as an error.
func (c *command) exitError(answers []answer, head *report.Head) error {
	found := 0
	failures := c.fabric.Failures(c.env, "ibkit addr")
	for i := range answers {
		a := &answers[i]
		if a.err != nil {
			failures.Print(a.err)
		}
		for _, p := range a.ports {
			if p.Err != nil {
				failures.Print(withHint(fmt.Errorf("query %s: %w", placeOf(p, a.target), p.Err), c.options.Mode))
			}
			if p.Node != nil || p.Host != nil {
				found++
			}
		}
	}
	failed := failures.Close()
	if found == 0 && failed > 0 {
		return &cmdutil.ExitError{Code: failures.Code()}
	}
	return cmdutil.HeadError(head)
}

// placeOf names a port: by the target, or by its LID in a range.
func placeOf(p *lookup.Port, target lookup.Address) string {
	if target.Kind == lookup.LID {
		return fmt.Sprintf("LID %d", p.To.LID)
	}
	return target.String()
}

// withHint adds a hint to an error without one.
func withHint(err error, mode lookup.Mode) error {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return cmdutil.WithHint(err, "on Ethernet, names are host names: check that DNS or /etc/hosts has this name")
	}
	return fabricflag.WithSourceHint(err, mode)
}
