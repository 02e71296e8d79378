package check

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/report"
)

// The elements of the JUnit format (junit-team/junit5,
// platform-tests/src/test/resources/jenkins-junit.xsd).
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Skipped   *junitProblem `xml:"skipped"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// printJUnit prints a test case for each stage. Errors are failures, parts that could not
// be checked are errors of the test, and warnings are output.
func (v *verdict) printJUnit(out *render.Output, r *check.Report) error {
	suite := junitSuite{
		Name: "ibkit check " + r.Scope, Tests: len(r.Stages), Time: seconds(r.Seconds), Timestamp: r.Began.Format("2006-01-02T15:04:05"),
	}
	for _, s := range r.Stages {
		c := junitCase{Name: s.Name, ClassName: "ibkit.check." + r.Scope, Time: seconds(s.Seconds)}
		errors, warnings, unknown := v.lines(r, s.Name, report.Error), v.lines(r, s.Name, report.Warning), v.lines(r, s.Name, report.Unknown)
		if errors != nil {
			c.Failure = &junitProblem{Message: plural.Count(len(errors), "error", "errors"), Type: "error", Text: strings.Join(errors, "\n")}
			suite.Failures++
		}
		if unknown != nil {
			c.Error = &junitProblem{Message: "could not be checked", Type: "unknown", Text: strings.Join(unknown, "\n")}
			suite.Errors++
		}
		if s.Status == check.Skipped {
			c.Skipped = &junitProblem{Message: cmdutil.Visible(s.Comment)}
			suite.Skipped++
		} else if s.Comment != "" {
			warnings = append(warnings, cmdutil.Visible(s.Comment))
		}
		c.Output = strings.Join(warnings, "\n")
		suite.Cases = append(suite.Cases, c)
	}
	text, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return err
	}
	out.WriteString(xml.Header)
	out.Write(text)
	out.WriteByte('\n')
	return nil
}

// seconds formats a duration.
func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }

// lines returns the findings of a stage with a severity.
func (v *verdict) lines(r *check.Report, stage string, severity report.Severity) []string {
	var all []string
	for _, f := range r.Findings {
		if check.StageOf(f) == stage && f.Severity == severity {
			all = append(all, fmt.Sprintf("%s: %s (next: %s)", severity, cmdutil.Visible(findingText(f)), cmdutil.Visible(v.env.NextStep(f.Hint))))
		}
	}
	return all
}
