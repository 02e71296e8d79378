package check

import (
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/report"
)

// Exit codes of custom plugins of Node Problem Detector besides 0
// (kubernetes/node-problem-detector, pkg/custompluginmonitor/plugin/plugin.go, run).
const (
	npdProblem = 1
	npdUnknown = 2
)

// printNPD prints a line for Node Problem Detector, which makes it the message of a node
// condition: the findings that fail, or the parts that could not be checked.
func (v *verdict) printNPD(out *render.Output, r *check.Report) error {
	text := plural.Count(r.Errors, "error", "errors") + ", " + plural.Count(r.Warnings, "warning", "warnings") + notJudged(r)
	code, severities := 0, ""
	switch {
	case v.fails(r):
		code, severities = npdProblem, string(report.Error)
		if v.failOn == report.Warning {
			severities += string(report.Warning)
		}
	case r.Partial:
		code, text = npdUnknown, text+incomplete(r)
	}
	for _, f := range r.Findings {
		if strings.Contains(severities, string(f.Severity)) {
			text += "; " + findingText(f)
		}
	}
	out.WriteString(nagiosText(text) + "\n")
	if code == 0 {
		return nil
	}
	return &cmdutil.ExitError{Code: code}
}
