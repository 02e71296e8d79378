// Package change has what commands that change something share: the flags, the question,
// the refusal of risks and the exit code.
package change

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/changelog"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/internal/outcome"
)

// Flags are the flags --dry-run, --yes and --log.
type Flags struct {
	DryRun bool

	yes  bool
	log  string
	lost bool // the fabric ends with the command
}

// FlagNames are the names of the flags.
var FlagNames = []string{"dry-run", "yes", "log"}

// DryRunClash is the rule that a dry run neither asks nor records.
var DryRunClash = cmdutil.Clash{Flags: []string{"dry-run"}, Others: []string{"yes", "log"}}

// Define declares the flags. note ends their descriptions, for example " (--set)".
func (f *Flags) Define(cmd *cobra.Command, note string) {
	flags := cmd.Flags()
	flags.BoolVar(&f.DryRun, "dry-run", false, "show the change and do not make it"+note)
	flags.BoolVar(&f.yes, "yes", false, "do not ask for confirmation"+note)
	changelog.Define(cmd, &f.log)
}

// CheckConfirm returns the error of [Flags.Confirm] for an input that is not a terminal, if
// the change requires a confirmation.
func (f *Flags) CheckConfirm(env *cmdutil.Env) error {
	if f.DryRun || f.yes {
		return nil
	}
	return cmdutil.CheckConfirm(env)
}

// Confirm asks a question unless --yes is given. The error begins with the change.
func (f *Flags) Confirm(ctx context.Context, env *cmdutil.Env, change, question string) error {
	if !f.yes {
		if err := cmdutil.Confirm(ctx, env, question); err != nil {
			return fmt.Errorf("%s: %w", change, err)
		}
	}
	if f.lost {
		fmt.Fprintln(env.ErrOut, "note: this simulated fabric ends with the command; to keep changes: "+
			"ibkit sim serve FABRIC, then --sim ibsim")
	}
	return nil
}

// OpenLog opens the log of changes to a fabric, or to this host without settings; nil for a
// dry run.
func (f *Flags) OpenLog(env *cmdutil.Env, s *fabricflag.Settings) (*changelog.Log, error) {
	if f.DryRun {
		return nil, nil
	}
	f.lost = s != nil && s.IsOwn()
	return changelog.Open(env, f.log, s != nil && s.IsSimulated())
}

// A Risk is a reason not to make a change, which --force overrides by name.
type Risk interface {
	fmt.Stringer
	Detail() string
}

// Refuse returns the refusal of a change, such as "disable node01", because of risks, with
// the advice to make it nevertheless; nil if there are no risks.
func Refuse[R Risk](change, advice string, risks []R) error {
	if len(risks) == 0 {
		return nil
	}
	var names, details []string
	for _, r := range risks {
		names = append(names, r.String())
		details = append(details, fmt.Sprintf("%s (%v)", r.Detail(), r))
	}
	err := fmt.Errorf("refused to %s: %s", change, strings.Join(details, "; "))
	return cmdutil.WithHint(err, advice+": --force "+strings.Join(names, ","))
}

// A Summary is the results of the changes of one command.
type Summary struct {
	Applied  bool // an object may have changed
	Missing  bool // an object is not in the wanted state
	Partial  bool // objects may be left out
	Findings bool // a changed object has a problem
}

// Add adds an outcome. A link that did not come up is a finding.
func (s *Summary) Add(o outcome.Outcome) {
	down := o == outcome.NotUp || o == outcome.NotActive
	s.Applied = s.Applied || o.Applied()
	s.Missing = s.Missing || !o.Good() && !down
	s.Findings = s.Findings || down
}

// Err returns the error with the exit code. ended is the error that ended the changes
// early, or nil.
func (s *Summary) Err(ended error) error {
	missing := s.Missing || ended != nil
	if missing && !s.Applied {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return cmdutil.ResultError(missing || s.Partial, s.Findings)
}
