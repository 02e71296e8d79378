package check

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/report"
)

// The formats.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatNagios = "nagios"
	formatNHC    = "nhc"
	formatNPD    = "npd"
	formatJUnit  = "junit"
)

// verdict has the flags and the views of check node and check fabric.
type verdict struct {
	env   *cmdutil.Env
	scope string // "node" or "fabric"

	stages []stage

	format          string
	json            bool
	only, skip      []string
	list            bool
	failOn          report.Severity
	limit           int
	thresholds      string
	writeThresholds string

	limits check.Limits
}

// A stage is a stage with its subject and its kinds of findings.
type stage struct {
	name, about string
	kinds       []report.Kind
}

// register declares the flags.
func (v *verdict) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	var names []string
	for _, s := range v.stages {
		names = append(names, s.name+"\t"+s.about)
	}
	cmdutil.DescribedListFlag(cmd, &v.only, "only", names, "run only a `LIST` of stages (see --list)")
	cmdutil.DescribedListFlag(cmd, &v.skip, "skip", names, "skip a `LIST` of stages")
	flags.BoolVar(&v.list, "list", false, "list the stages with their findings")
	cmdutil.EnumFlag(cmd, &v.format, "format", formatText,
		[]string{formatText, formatJSON, formatNagios, formatNHC, formatNPD, formatJUnit}, "output `FORMAT`")
	flags.BoolVar(&v.json, "json", false, "the same as --format json")
	cmdutil.EnumFlag(cmd, &v.failOn, "fail-severity", report.Error, []report.Severity{report.Error, report.Warning}, "exit with 3 (nhc, npd: 1) for findings from this `SEVERITY`")
	flags.IntVar(&v.limit, "limit", 10, "print at most `N` entries of each kind; 0: all (text)")
	flags.StringVar(&v.thresholds, "thresholds", "", "read thresholds and severities from `FILE`, in YAML or JSON")
	flags.StringVar(&v.writeThresholds, "write-thresholds", "", "write the thresholds with their sources to `FILE`, and exit")
}

// verdictRules are the relations between these flags.
var verdictRules = []cmdutil.Clash{
	{Flags: []string{"json"}, Others: []string{"format"}},
	{Flags: []string{"list"}, Others: []string{"json", "format", "only", "skip", "write-thresholds"}},
}

// selects reports whether a stage is to be run.
func (v *verdict) selects(stage string) bool {
	return (len(v.only) == 0 || slices.Contains(v.only, stage)) && !slices.Contains(v.skip, stage)
}

// complete checks the flags and reads the thresholds.
func (v *verdict) complete(flags *pflag.FlagSet) (err error) {
	if v.json {
		v.format = formatJSON
	}
	switch {
	case v.limit < 0:
		return cmdutil.UsageErrorf("invalid --limit %d: want at least 0", v.limit)
	case flags.Changed("limit") && v.format != formatText:
		return cmdutil.UsageErrorf("--limit and --format %s are mutually exclusive", v.format)
	case len(v.only) > 0 && !slices.ContainsFunc(v.only, func(name string) bool { return !slices.Contains(v.skip, name) }):
		return cmdutil.UsageErrorf("no stage left: --skip contains all stages of --only")
	}
	v.limits = check.DefaultLimits()
	if v.thresholds != "" {
		if v.limits, err = check.ReadLimits(v.thresholds); err != nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, "write the defaults: ibkit check "+v.scope+" --write-thresholds FILE")}
		}
	}
	return nil
}

// A requirement is the flags of which a stage requires one.
type requirement struct {
	stage string
	flags []string
}

// checkRequirements returns an error if none of the stages of --only has its flags: such a
// check would succeed without a test.
func (v *verdict) checkRequirements(flags *pflag.FlagSet, list []requirement) error {
	missing := func(stage string) string {
		for _, r := range list {
			if r.stage == stage && cmdutil.Given(flags, r.flags) == "" {
				return "--" + strings.Join(r.flags, " or --")
			}
		}
		return ""
	}
	for _, stage := range v.only {
		if missing(stage) == "" {
			return nil
		}
	}
	if len(v.only) == 0 {
		return nil
	}
	return cmdutil.UsageErrorf("invalid --only %s: requires %s", v.only[0], missing(v.only[0]))
}

// prepare runs the options that replace a check, and reports whether there was one.
func (v *verdict) prepare() (done bool, err error) {
	switch {
	case v.list:
		return true, v.printList()
	case v.writeThresholds != "":
		return true, fileout.Write(v.writeThresholds, v.limits.Write)
	}
	return false, nil
}

// printList prints the stages with the kinds of their findings.
func (v *verdict) printList() error {
	out := render.NewOutput(v.env.Out)
	var rows [][]string
	for _, s := range v.stages {
		rows = append(rows, []string{s.name, s.about})
	}
	if err := render.Table(out, []string{"STAGE", "SUBJECT"}, rows); err != nil {
		return err
	}
	out.WriteByte('\n')
	rows = nil
	for _, s := range v.stages {
		for _, k := range s.kinds {
			info := k.Info()
			rows = append(rows, []string{s.name + "/" + string(k), string(info.Severity), render.OrAbsent(info.Ibdiagnet), info.Meaning})
		}
	}
	return errors.Join(render.Table(out, []string{"FINDING", "SEVERITY", "IBDIAGNET", "MEANING"}, rows), out.Flush())
}

// fails reports whether a result makes the command fail.
func (v *verdict) fails(r *check.Report) bool {
	return r.Errors > 0 || v.failOn == report.Warning && r.Warnings > 0
}

// print prints a result and returns the exit code as an error.
func (v *verdict) print(r *check.Report) error {
	out := render.NewOutput(v.env.Out)
	code := cmdutil.ResultError(r.Partial, v.fails(r))
	var err error
	switch v.format {
	case formatJSON:
		render.WriteDocument(out, r)
	case formatNagios:
		code = v.printNagios(out, r)
	case formatNHC:
		code = v.printNHC(out, r)
	case formatNPD:
		code = v.printNPD(out, r)
	case formatJUnit:
		err = v.printJUnit(out, r)
	default:
		err = v.printText(out, r)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return code
}

// status is an exit code of plugins of Nagios (Monitoring Plugins Development Guidelines,
// "Plugin Return Codes").
type status int

const (
	statusOK status = iota
	statusWarning
	statusCritical
	statusUnknown
)

var statusNames = [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}

// exit returns the exit code as an error.
func (s status) exit() error {
	if s == statusOK {
		return nil
	}
	return &cmdutil.ExitError{Code: int(s)}
}

// statusOf returns the status of a result. Errors take precedence over parts that could not
// be checked, and these over warnings.
func statusOf(r *check.Report) status {
	switch {
	case r.Errors > 0:
		return statusCritical
	case r.Partial:
		return statusUnknown
	case r.Warnings > 0:
		return statusWarning
	}
	return statusOK
}

// printNagios prints a line with performance data, and a line for each finding.
func (v *verdict) printNagios(out *render.Output, r *check.Report) error {
	s := statusOf(r)
	text := fmt.Sprintf("%s, %s in %s", plural.Count(r.Errors, "error", "errors"),
		plural.Count(r.Warnings, "warning", "warnings"), plural.Count(len(r.Stages), "stage", "stages")) + notJudged(r)
	for _, f := range r.Findings {
		if f.Severity == worst(r) {
			text += "; " + findingText(f)
			break
		}
	}
	fmt.Fprintf(out, "%s %s - %s |", nagiosName(v.scope), statusNames[s], nagiosText(text))
	for _, x := range r.Values {
		fmt.Fprintf(out, " %s=%.6g%s", x.Name, x.Value, x.Unit)
		switch x.Name {
		case "errors":
			out.WriteString(";;0") // critical above 0
		case "warnings":
			out.WriteString(";0") // warning above 0
		}
	}
	out.WriteByte('\n')
	for _, f := range r.Findings {
		fmt.Fprintf(out, "%s: %s\n", strings.ToUpper(string(f.Severity)), nagiosText(findingText(f)+": "+v.env.NextStep(f.Hint)))
	}
	return s.exit()
}

// notJudged names the stages for which the source lacks the data, so that a verdict without
// errors does not include them.
func notJudged(r *check.Report) string {
	var names []string
	for _, s := range r.Stages {
		if s.NotJudged {
			names = append(names, s.Name)
		}
	}
	switch {
	case names != nil:
		return "; not judged: " + strings.Join(names, ", ")
	case !r.Judged():
		return "; nothing was judged"
	}
	return ""
}

// nagiosName is the name of the check in the first line.
func nagiosName(scope string) string { return "IBKIT " + strings.ToUpper(scope) }

// worst returns the worst severity of the findings of a result.
func worst(r *check.Report) report.Severity {
	switch {
	case r.Errors > 0:
		return report.Error
	case r.Partial && slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Severity == report.Unknown }):
		return report.Unknown
	}
	return report.Warning
}

// nagiosText replaces the characters that separate text and performance data.
func nagiosText(s string) string {
	return strings.NewReplacer("|", "/", "\n", " ").Replace(cmdutil.Visible(s))
}

// findingText returns a finding in one line.
func findingText(f report.Finding) string {
	text := check.Name(f)
	if f.Subject != "" {
		text += " " + f.Subject
	}
	return text + ": " + f.Detail
}

// printNHC prints a line for each finding that fails, as LBNL Node Health Check does
// (mej/nhc, function die).
func (v *verdict) printNHC(out *render.Output, r *check.Report) error {
	for _, f := range r.Findings {
		if f.Severity == report.Error || f.Severity == report.Warning && v.failOn == report.Warning {
			fmt.Fprintf(out, "ERROR:  ibkit:  Health check failed:  check_%s:  %s\n", v.scope, nagiosText(findingText(f)))
		}
	}
	if v.fails(r) {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return nil
}

// wrap makes errors of the command results for monitoring, which takes other exit codes for
// states: a usage error is not critical.
func (v *verdict) wrap(cmd *cobra.Command) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return v.unknown(run(cmd, args)) }
	args := cmd.Args
	cmd.Args = func(cmd *cobra.Command, operands []string) error { return v.unknown(args(cmd, operands)) }
	cmd.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		return v.unknown(cmd.Root().PersistentPreRunE(cmd, args))
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return v.unknown(cmd.Root().FlagErrorFunc()(cmd, err))
	})
}

// unknown prints an error as a result for Nagios or Node Problem Detector.
func (v *verdict) unknown(err error) error {
	if _, printed := errors.AsType[*cmdutil.ExitError](err); err == nil || printed || v.format != formatNagios && v.format != formatNPD {
		return err
	}
	if v.format == formatNPD {
		if _, writeErr := io.WriteString(v.env.Out, nagiosText(err.Error())+"\n"); writeErr != nil {
			return writeErr
		}
		return &cmdutil.ExitError{Code: npdUnknown}
	}
	if _, writeErr := io.WriteString(v.env.Out, fmt.Sprintf("%s %s - %s\n", nagiosName(v.scope), statusNames[statusUnknown], nagiosText(err.Error()))); writeErr != nil {
		return writeErr
	}
	return statusUnknown.exit()
}
