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

// outcome tells of what was not found, and of what was found to be wrong.
func (c *command) outcome(answers []answer) error {
	found, failed, findings := 0, 0, false
	hinted := map[string]bool{"": true}
	tell := func(err error) {
		failed++
		switch h := cmdutil.Hint(err); {
		case failed > fabricflag.MaxFailures && c.fabric.Verbose == 0:
		case hinted[h]: // said once, it is known
			fmt.Fprintf(c.env.ErrOut, "ibkit addr: %v\n", err)
		default:
			hinted[h] = true
			cmdutil.PrintError(c.env, "ibkit addr", err)
		}
	}
	for i := range answers {
		a := &answers[i]
		if a.err != nil {
			tell(a.err)
		}
		for _, p := range a.ports {
			if p.Err != nil {
				tell(withHint(fmt.Errorf("ask about %s: %w", placeOf(p, a.target), p.Err), c.options.Mode))
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

// placeOf names a port: the target, and of a range its LID.
func placeOf(p *resolve.Port, target resolve.Address) string {
	if target.Kind == resolve.LID {
		return fmt.Sprintf("LID %d", p.To.LID)
	}
	return target.String()
}

// A hintedError is an error with what a user of addr can do about it.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }

func (e *hintedError) Unwrap() error { return e.err }

// Hint says what to do.
func (e *hintedError) Hint() string { return e.hint }

// withHint says what to do about an error that does not say it by itself.
func withHint(err error, mode resolve.LookupMode) error {
	var dns *net.DNSError
	var failed *umad.Error
	switch {
	case cmdutil.Hint(err) != "":
		return err
	case errors.Is(err, umad.ErrNoSM), errors.As(err, &failed) && failed.Class == mad.ClassSA && errors.Is(err, umad.ErrTimeout):
		text := "is a subnet manager running?"
		if mode == resolve.LookupSA {
			text += " Without one, --ask nodes finds ports by a scan"
		}
		return &hintedError{err, text}
	case errors.Is(err, umad.ErrTimeout):
		return &hintedError{err, "no port has this address, its node or a link on the way is down, or -t is too short for this fabric"}
	case errors.As(err, &dns):
		return &hintedError{err, "on Ethernet names are those of hosts: is there an address of this one in DNS or /etc/hosts?"}
	}
	return err
}
