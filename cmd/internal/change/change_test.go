package change

import (
	"errors"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/portctl"
)

// The exit code depends on the outcomes of all changes.
func TestSummary(t *testing.T) {
	interrupted := errors.New("interrupted")
	for name, test := range map[string]struct {
		outcomes []portctl.Outcome
		partial  bool
		ended    error
		want     int
	}{
		"none":                   {nil, false, nil, cmdutil.ExitOK},
		"changed, not needed":    {[]portctl.Outcome{portctl.Changed, portctl.Unneeded}, false, nil, cmdutil.ExitOK},
		"not up":                 {[]portctl.Outcome{portctl.Changed, portctl.NotUp}, false, nil, cmdutil.ExitFindings},
		"rejected":               {[]portctl.Outcome{portctl.Rejected}, false, nil, cmdutil.ExitFailed},
		"no effect":              {[]portctl.Outcome{portctl.NoEffect}, false, nil, cmdutil.ExitFailed},
		"unverified":             {[]portctl.Outcome{portctl.Unverified}, false, nil, cmdutil.ExitPartial},
		"changed, rejected":      {[]portctl.Outcome{portctl.Changed, portctl.Rejected}, false, nil, cmdutil.ExitPartial},
		"changed, not attempted": {[]portctl.Outcome{portctl.Changed, portctl.NotAttempted}, false, interrupted, cmdutil.ExitPartial},
		"not attempted":          {[]portctl.Outcome{portctl.NotAttempted}, false, interrupted, cmdutil.ExitFailed},
		"nodes left out":         {[]portctl.Outcome{portctl.Changed}, true, nil, cmdutil.ExitPartial},
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
