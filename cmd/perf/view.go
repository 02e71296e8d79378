package perf

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/roce"
)

// A view prints measurements, each kind of test in its own table.
type view struct {
	env     *cmdutil.Env
	json    bool
	classic bool // the form of perftest
	unit    string
	minBW   float64
	maxP99  time.Duration
	plot    string

	drawing  *plotFile   // of --plot
	live     *statusLine // nil without a terminal
	tests    []perf.Test
	finished int
	pending  []*perf.Measurement // of the current table
	complete int                 // number of complete tests
	figures  bool                // there are figures of an incomplete test
	began    time.Time
	unjudged bool // a limit could not be applied
	findings bool
	err      error // of a write
}

func (v *view) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&v.json, "json", false, "print JSON")
	flags.BoolVar(&v.classic, "classic", false, "print in the format of perftest (in MiB/s unless --unit is set)")
	cmdutil.EnumFlag(cmd, &v.unit, "unit", "gbit", []string{"gbit", "mib"}, "`UNIT` of bandwidth: Gb/s or MiB/s")
	flags.Float64Var(&v.minBW, "min-bw", 0, "exit with 3 if a bandwidth is below `N`, in the unit of --unit")
	flags.DurationVar(&v.maxP99, "max-p99", 0, "exit with 3 if more than 1 % of the latencies exceed `TIME`")
	flags.StringVar(&v.plot, "plot", "", "draw latency and bandwidth into `FILE` (.svg, .png or .html)")
}

// check validates the flags.
func (v *view) check(flags *pflag.FlagSet) error {
	if v.classic && !flags.Changed("unit") {
		v.unit = "mib"
	}
	switch {
	case v.json && flags.Changed("unit") && !flags.Changed("min-bw") && !flags.Changed("plot"):
		return cmdutil.UsageErrorf("--unit has no effect with --json, which prints bytes per second")
	case flags.Changed("min-bw") && (!(v.minBW > 0) || math.IsInf(v.minBW, 0)):
		return cmdutil.UsageErrorf("invalid --min-bw %v: want a positive number", v.minBW)
	case flags.Changed("max-p99") && v.maxP99 <= 0:
		return cmdutil.UsageErrorf("invalid --max-p99 %v: want a time above 0", v.maxP99)
	case flags.Changed("plot") && plotForms[filepath.Ext(v.plot)] == nil:
		return cmdutil.UsageErrorf("invalid --plot %q: want a name that ends in .svg, .png or .html", v.plot)
	}
	return nil
}

// begin prepares the output for tests.
func (v *view) begin(tests []perf.Test) error {
	v.tests, v.began = tests, time.Now()
	if v.plot != "" {
		var err error
		if v.drawing, err = openPlot(v.plot); err != nil {
			return err
		}
	}
	if render.IsTerminal(v.env.ErrOut) {
		v.live = newStatusLine(v.env.ErrOut)
	}
	v.showCurrent()
	return nil
}

// showCurrent shows the current test on the status line.
func (v *view) showCurrent() {
	if v.live != nil && v.finished < len(v.tests) {
		v.live.show(fmt.Sprintf("measuring %d of %d: %v", v.finished+1, len(v.tests), v.tests[v.finished]))
	}
}

// done processes a measurement.
func (v *view) done(m *perf.Measurement) {
	if v.live != nil {
		v.live.show("")
	}
	if !m.Partial {
		v.complete++
		for _, missed := range v.missed(m) {
			v.findings = true
			fmt.Fprintf(v.env.ErrOut, "%v: %s\n", m.Test, missed.text)
		}
	}
	figures := m.Latency != nil && m.Latency.Count > 0 || m.Sent != nil && m.Sent.Messages > 0
	v.figures = v.figures || m.Partial && figures
	if !figures && !m.Partial {
		fmt.Fprintf(v.env.ErrOut, "%v: no figures: only the client has them\n", m.Test)
		v.unjudged = v.unjudged || v.minBW > 0 || v.maxP99 > 0
	}
	if !v.json && figures {
		if len(v.pending) > 0 && !sameTable(v.pending[0].Test, m.Test) {
			v.flush()
		}
		if len(v.pending) == 0 && v.complete <= 1 && !v.classic {
			v.printPorts(m)
		}
		v.pending = append(v.pending, m)
	}
	v.finished++
	v.showCurrent()
}

// partial reports whether the measurements until an error are a part of the requested
// ones: some of several tests, or an interrupted one. The figures of a failed test are
// printed too, but they are not a part of its result.
func (v *view) partial(err error) bool {
	return v.complete > 0 || v.figures && errors.Is(err, context.Canceled)
}

// sameTable reports whether two tests differ only in their size and its consequences.
func sameTable(a, b perf.Test) bool {
	a.Size, a.Depth, a.RecvDepth, a.Moderation, a.List = b.Size, b.Depth, b.RecvDepth, b.Moderation, b.List
	return a == b
}

// latencyOf converts a round trip to a latency of the test.
func latencyOf(m *perf.Measurement, ns int64) time.Duration {
	return time.Duration(m.Test.LatencyFactor() * float64(ns))
}

// inUnit converts bytes per second to the selected unit.
func (v *view) inUnit(rate float64) float64 {
	if v.unit == "mib" {
		return rate / (1 << 20)
	}
	return rate * 8 / 1e9
}

// number formats bytes per second in the selected unit, with more digits for small
// values.
func (v *view) number(rate float64) string {
	n, digits := v.inUnit(rate), 3
	if n < 0.1 {
		digits = 6
	}
	return strconv.FormatFloat(n, 'f', digits, 64)
}

func (v *view) unitName() string {
	if v.unit == "mib" {
		return "MiB/s"
	}
	return "Gb/s"
}

// end prints the remaining output. The reason is the error of the measurement.
func (v *view) end(r *perf.Result, reason error) error {
	if v.live != nil {
		v.live.close()
	}
	v.flush()
	if r != nil && v.complete > 0 && !v.json && !v.classic {
		fmt.Fprintf(v.env.Out, "\nclock: %s, %.0f ns per reading\n", r.ClockSource, r.ClockCost)
	}
	if v.drawing != nil {
		v.err = errors.Join(v.err, v.drawing.write(v.charts(r)))
	}
	if v.json && r != nil {
		v.err = errors.Join(v.err, v.document(r, reason))
	}
	return v.err
}

// printPorts prints the ports of both sides.
func (v *view) printPorts(m *perf.Measurement) {
	for _, p := range []struct {
		side string
		host.PortInfo
	}{{"client", m.Client}, {"server", m.Server}} {
		at := fmt.Sprintf("LID %d", p.LID)
		if p.GID.IsValid() {
			at = fmt.Sprintf("GID %v, %s", p.GID, p.GIDType)
			if p.GIDIndex >= 0 {
				at = fmt.Sprintf("GID %d %v, %s", p.GIDIndex, p.GID, p.GIDType)
			}
			if p.Why != "" {
				at += " (" + p.Why + ")"
			}
		}
		device := fmt.Sprintf("%s/%d", p.Device, p.Port)
		if p.Port == 0 { // only the program is known
			device = p.Device
		}
		if p.Memory != "" && p.Memory != "host" {
			at += ", memory " + p.Memory
		}
		fmt.Fprintf(v.env.Out, "%s: %s, %s, %s\n", p.side, device, p.Link, at)
	}
}

// flush prints the current table.
func (v *view) flush() {
	if len(v.pending) == 0 {
		return
	}
	all := v.pending
	v.pending = nil
	t := all[0].Test
	out := render.NewOutput(v.env.Out)
	if v.classic {
		v.flushClassic(out, all)
		return
	}
	fmt.Fprintf(out, "\n%s\n", v.title(all[0]))
	var header []string
	var rows [][]string
	for _, m := range all {
		var row []string
		if t.Kind == perf.Latency {
			header, row = latencyRow(m)
		} else {
			header, row = v.bandwidthRow(m)
		}
		rows = append(rows, row)
	}
	err := render.Table(out, header, rows)
	for _, m := range all {
		printNotes(out, m)
	}
	v.err = errors.Join(v.err, err, out.Flush())
}

// title returns the title of a table.
func (v *view) title(m *perf.Measurement) string {
	t := m.Test
	words := []string{string(t.Op), "over", string(t.Transport)}
	if t.Kind == perf.Latency {
		words = append(words, "latency in µs,")
		if t.OneWay() {
			words = append(words, "one way")
		} else {
			words = append(words, "round trip")
		}
	} else {
		words = append(words, "bandwidth in "+v.unitName())
		if t.Bidirectional {
			words = append(words, "in both directions")
		}
	}
	title := strings.Join(words, " ") + fmt.Sprintf(", MTU %d", m.MTU)
	for _, o := range []struct {
		on   bool
		text string
	}{
		{t.QueuePairs > 1, fmt.Sprintf("%d queue pairs", t.QueuePairs)}, {t.Threads > 1, fmt.Sprintf("%d threads", t.Threads)},
		{t.CM, "connection manager"}, {t.Multicast.IsValid(), "multicast to " + t.Multicast.String()},
		{t.Imm, "immediate data"}, {t.Events, "events"}, {t.Inline, "inline"}, {t.SharedReceives, "shared receives"}, {t.Huge, "huge pages"}, {t.Relaxed, "relaxed ordering"}, {t.Verify, "verified"},
	} {
		if o.on {
			title += ", " + o.text
		}
	}
	return title
}

// micro formats nanoseconds as microseconds, with fewer decimals for large values: at most
// six characters below a second.
func micro(ns float64) string {
	us, digits := ns/1e3, 2
	switch {
	case us >= 9999.95:
		digits = 0
	case us >= 999.995:
		digits = 1
	}
	return strconv.FormatFloat(us, 'f', digits, 64)
}

// latencyRow returns a row of a table of latency, which has at most 100 columns for tests
// of usual size. The JSON document has more figures.
func latencyRow(m *perf.Measurement) (header, row []string) {
	s, part := m.Latency, m.Test.LatencyFactor()
	header = []string{"BYTES", "COUNT", "MIN", "AVG"}
	row = []string{strconv.Itoa(m.Test.Size), strconv.FormatInt(s.Count, 10), micro(part * float64(s.Min)), micro(part * s.Avg())}
	for _, p := range perf.Percentiles {
		header = append(header, "P"+strconv.FormatFloat(p, 'f', -1, 64))
		row = append(row, micro(part*float64(s.Quantile(p))))
	}
	header = append(header, "MAX", "STDDEV", "CPU")
	row = append(row, micro(part*float64(s.Max)), micro(part*s.StdDev()), cpuUse(m))
	return header, row
}

// cpuUse returns the processor time of the loops of each side, as a share of their
// duration.
func cpuUse(m *perf.Measurement) string {
	share := func(s perf.Side) string {
		use, ok := loopUse(s)
		if !ok {
			return render.Absent
		}
		return fmt.Sprintf("%.0f%%", 100*use)
	}
	return share(m.ClientSide) + "/" + share(m.ServerSide)
}

// loopUse returns the processor time of the loops of a side in relation to their duration:
// 1 for each loop that has a processor of its own. ok is false for a side without loops.
func loopUse(s perf.Side) (use float64, ok bool) {
	if s.Elapsed <= 0 || len(s.Sent)+len(s.Received) == 0 {
		return 0, false
	}
	return float64(s.User+s.System) / float64(s.Elapsed), true
}

// messageRate formats messages per second, with decimals for small values.
func messageRate(rate float64) string {
	digits := 0
	if rate < 10 {
		digits = 2
	}
	return strconv.FormatFloat(rate, 'f', digits, 64)
}

// bandwidthRow returns a row of a table of bandwidth.
func (v *view) bandwidthRow(m *perf.Measurement) (header, row []string) {
	t := m.Sent
	window := func(rate float64) string {
		if t.Peak == 0 {
			return render.Absent
		}
		return v.number(rate)
	}
	header = []string{"BYTES", "COUNT", "AVG", "PEAK", "MIN", "MSG/S"}
	row = []string{
		strconv.Itoa(m.Test.Size), strconv.FormatUint(t.Messages, 10), v.number(t.Rate()), window(t.Peak), window(t.Minimum),
		messageRate(t.MessageRate()),
	}
	if m.Test.Bidirectional {
		header = append(header, "BACK", "SUM")
		back := 0.0
		if m.Reverse != nil {
			back = m.Reverse.Rate()
		}
		row = append(row, v.number(back), v.number(back+t.Rate()))
	}
	if (m.Test.Transport == perf.UC || m.Test.Transport == perf.UD) && m.Test.Op == perf.Send {
		header = append(header, "LOST")
		row = append(row, lost(m))
	}
	return append(header, "CPU"), append(row, cpuUse(m))
}

// lost returns the share of messages that did not arrive.
func lost(m *perf.Measurement) string {
	sent, received := perf.Sum(m.ClientSide.Sent), perf.Sum(m.ServerSide.Received)
	if m.Test.Bidirectional {
		sent, received = sent+perf.Sum(m.ServerSide.Sent), received+perf.Sum(m.ClientSide.Received)
	}
	if sent == 0 || m.Received == nil {
		return render.Absent
	}
	return fmt.Sprintf("%.3g%%", 100*float64(sent-min(sent, received))/float64(sent))
}

// othersShare returns the share of time in which the loops of a side did not run on their
// processors although they poll all the time, or 0 if they do not.
func othersShare(t perf.Test, s perf.Side) float64 {
	use, ok := loopUse(s)
	if !ok || t.Events || t.Rate > 0 || len(s.CPUs) == 0 {
		return 0
	}
	return 1 - use/float64(len(s.CPUs))
}

// cpuList formats processors as --cpu has them.
func cpuList(cpus []int) string {
	var text []string
	for _, cpu := range cpus {
		text = append(text, strconv.Itoa(cpu))
	}
	return strings.Join(text, ",")
}

// roceVerdicts judges the counters of a RoCE or EFA port.
func roceVerdicts(p host.PortInfo, s perf.Side) []string {
	if p.Link == "InfiniBand" {
		return nil
	}
	var all []string
	for _, f := range roce.Verdicts(&roce.PortSettings{Device: p.Device, Number: int(p.Port)}, s.Counters, s.Elapsed.Seconds()) {
		all = append(all, f.Brief())
	}
	return all
}

// printNotes prints events that explain a bad figure.
func printNotes(out *render.Output, m *perf.Measurement) {
	for _, s := range []struct {
		name string
		port host.PortInfo
		perf.Side
	}{{"client", m.Client, m.ClientSide}, {"server", m.Server, m.ServerSide}} {
		verdicts := roceVerdicts(s.port, s.Side)
		for _, verdict := range verdicts {
			fmt.Fprintf(out, "%d B, %s: %s\n", m.Test.Size, s.name, verdict)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
			isEvidence := slices.ContainsFunc(verdicts, func(v string) bool { return strings.Contains(v, name+" +") })
			if meaning := host.Trouble(name); meaning != "" && !isEvidence {
				fmt.Fprintf(out, "%d B, %s: %s: %d (%s)\n", m.Test.Size, s.name, meaning, s.Counters[name], name)
			}
		}
		if share := othersShare(m.Test, s.Side); share > 0.1 {
			fmt.Fprintf(out, "%d B, %s: other threads used %.0f%% of CPU %s: --cpu selects the processors of the loops\n", m.Test.Size, s.name, 100*share, cpuList(s.CPUs))
		}
	}
	if m.Lost > 0 {
		fmt.Fprintf(out, "%d B: %d round trips were lost\n", m.Test.Size, m.Lost)
	}
	if m.Partial {
		fmt.Fprintf(out, "%d B: partial: the test ended early\n", m.Test.Size)
	}
}
