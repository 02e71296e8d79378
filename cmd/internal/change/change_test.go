package change

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/outcome"
)

// The exit code depends on the outcomes of all changes.
func TestSummary(t *testing.T) {
	interrupted := errors.New("interrupted")
	for name, test := range map[string]struct {
		outcomes []outcome.Outcome
		partial  bool
		ended    error
		want     int
	}{
		"none":                   {nil, false, nil, cmdutil.ExitOK},
		"changed, not needed":    {[]outcome.Outcome{outcome.Changed, outcome.Unneeded}, false, nil, cmdutil.ExitOK},
		"not up":                 {[]outcome.Outcome{outcome.Changed, outcome.NotUp}, false, nil, cmdutil.ExitFindings},
		"rejected":               {[]outcome.Outcome{outcome.Rejected}, false, nil, cmdutil.ExitFailed},
		"no effect":              {[]outcome.Outcome{outcome.NoEffect}, false, nil, cmdutil.ExitFailed},
		"unverified":             {[]outcome.Outcome{outcome.Unverified}, false, nil, cmdutil.ExitPartial},
		"changed, rejected":      {[]outcome.Outcome{outcome.Changed, outcome.Rejected}, false, nil, cmdutil.ExitPartial},
		"changed, not attempted": {[]outcome.Outcome{outcome.Changed, outcome.NotAttempted}, false, interrupted, cmdutil.ExitPartial},
		"not attempted":          {[]outcome.Outcome{outcome.NotAttempted}, false, interrupted, cmdutil.ExitFailed},
		"nodes left out":         {[]outcome.Outcome{outcome.Changed}, true, nil, cmdutil.ExitPartial},
	} {
		t.Run(name, func(t *testing.T) {
			s := Summary{Partial: test.partial}
			for _, o := range test.outcomes {
				s.Add(o)
			}
			got := cmdutil.ExitOK
			if exit, ok := errors.AsType[*cmdutil.ExitError](s.Err(test.ended)); ok {
				got = exit.Code
			}
			if got != test.want {
				t.Errorf("got exit code %d, want %d", got, test.want)
			}
		})
	}
}

// A risk that a command can override.
type risk string

func (r risk) String() string { return string(r) }
func (r risk) Detail() string { return "details of " + string(r) }

// A refusal names each risk, and the flag that overrides them all.
func TestRefuse(t *testing.T) {
	if err := Refuse[risk]("disable node01", "to do it", nil); err != nil {
		t.Errorf("without risks: got %v", err)
	}
	err := Refuse("disable node01", "to do it", []risk{"own-link", "last-link"})
	const want, hint = "refused to disable node01: details of own-link (own-link); details of last-link (last-link)", "to do it: --force own-link,last-link"
	if err == nil || err.Error() != want || cmdutil.Hint(err) != hint {
		t.Errorf("got %v with the hint %q, want %s with %q", err, cmdutil.Hint(err), want, hint)
	}
}

// A change is confirmed by --yes or at a terminal. A dry run needs no confirmation.
func TestFlags_Confirm(t *testing.T) {
	env := &cmdutil.Env{In: strings.NewReader("yes\n"), ErrOut: io.Discard}
	for _, test := range []struct {
		name      string
		flags     Flags
		may, asks bool
	}{
		{"no terminal", Flags{}, false, true},
		{"--yes", Flags{yes: true}, true, false},
		{"--dry-run", Flags{DryRun: true}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := test.flags.CheckConfirm(env); (err == nil) != test.may {
				t.Errorf("CheckConfirm: got error %v, want one: %v", err, !test.may)
			}
			err := test.flags.Confirm(t.Context(), env, "disable node01", "disable node01?")
			if (err != nil) != test.asks || err != nil && !strings.HasPrefix(err.Error(), "disable node01: ") {
				t.Errorf("Confirm: got error %v, want one: %v", err, test.asks)
			}
		})
	}
	if log, err := (&Flags{DryRun: true, log: "/nonexistent/log"}).OpenLog(env, nil); log != nil || err != nil {
		t.Errorf("log of a dry run: got %v, error %v", log, err)
	}
}
