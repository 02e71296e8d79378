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
	"github.com/ibkit/ibkit/perf"
)

// view shows what was measured, each kind of test in a table of its own.
type view struct {
	env     *cmdutil.Env
	json    bool
	classic bool // perftest's form
	unit    string
	minBW   float64
	maxP99  time.Duration
	plot    string

	drawing  *plotFile // of --plot
	live     *liveLine // nil: there is no terminal
	tests    []perf.Test
	finished int
	pending  []*perf.Measurement // of one table
	measured int                 // tests that are whole
	part     bool                // there are figures of one that is not
	unjudged bool                // there are none of one that was to be judged
	findings bool
	err      error // of a write
}

func (v *view) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&v.json, "json", false, "print JSON")
	flags.BoolVar(&v.classic, "classic", false, "print in the form of perftest's programs, in MiB/s unless --unit is there")
	cmdutil.EnumFlag(cmd, &v.unit, "unit", "", "gbit", []string{"gbit", "mib"}, "show bandwidth in `UNIT`, Gb/s or MiB/s")
	flags.Float64Var(&v.minBW, "min-bw", 0, "exit with 3 if a bandwidth, of either way with -b, is less than `N`, in the unit of --unit")
	flags.DurationVar(&v.maxP99, "max-p99", 0, "exit with 3 if more than 1 % of a test's times are longer than `TIME`")
	flags.StringVar(&v.plot, "plot", "", "draw latency over percentiles, and bandwidth over size and time, into `FILE`, which ends in .svg, .png or .html")
}

// check looks at the flags.
func (v *view) check(flags *pflag.FlagSet) error {
	if v.classic && !flags.Changed("unit") {
		v.unit = "mib"
	}
	switch {
	case v.json && flags.Changed("unit") && !flags.Changed("min-bw") && !flags.Changed("plot"):
		return cmdutil.UsageErrorf("--unit does nothing with --json, which is in bytes per second")
	case flags.Changed("min-bw") && (!(v.minBW > 0) || math.IsInf(v.minBW, 0)):
		return cmdutil.UsageErrorf("invalid --min-bw %v: it has to be a positive number", v.minBW)
	case flags.Changed("max-p99") && v.maxP99 <= 0:
		return cmdutil.UsageErrorf("invalid --max-p99 %v: it has to be above 0", v.maxP99)
	case flags.Changed("plot") && plotForms[filepath.Ext(v.plot)] == nil:
		return cmdutil.UsageErrorf("invalid --plot %q: its name ends neither in .svg nor in .png nor in .html", v.plot)
	}
	return nil
}

// begin is before the first test.
func (v *view) begin(tests []perf.Test) error {
	v.tests = tests
	if v.plot != "" {
		var err error
		if v.drawing, err = openPlot(v.plot); err != nil {
			return err
		}
	}
	if render.IsTerminal(v.env.ErrOut) {
		v.live = newLiveLine(v.env.ErrOut)
	}
	v.line()
	return nil
}

// line says which test is under way.
func (v *view) line() {
	if v.live != nil && v.finished < len(v.tests) {
		v.live.show(fmt.Sprintf("measuring %d of %d: %v", v.finished+1, len(v.tests), v.tests[v.finished]))
	}
}

// done takes a measurement that is over.
func (v *view) done(m *perf.Measurement) {
	if v.live != nil {
		v.live.show("")
	}
	if !m.Partial {
		v.measured++
		for _, missed := range v.missed(m) {
			v.findings = true
			fmt.Fprintf(v.env.ErrOut, "%v: %s\n", m.Test, missed.text)
		}
	}
	figures := m.Latency != nil && m.Latency.Count > 0 || m.Sent != nil && m.Sent.Messages > 0
	v.part = v.part || m.Partial && figures
	if !figures && !m.Partial {
		fmt.Fprintf(v.env.ErrOut, "%v: no figures: the other side has them, and tells none\n", m.Test)
		v.unjudged = v.unjudged || v.minBW > 0 || v.maxP99 > 0
	}
	if !v.json && figures {
		if len(v.pending) > 0 && !sameTable(v.pending[0].Test, m.Test) {
			v.flush()
		}
		if len(v.pending) == 0 && v.measured <= 1 && !v.classic {
			v.ends(m)
		}
		v.pending = append(v.pending, m)
	}
	v.finished++
	v.line()
}

// partial tells whether what was measured until an error is a part of what was
// asked for: some of several tests, or one that the user ended early. Figures of
// one that failed are shown, too, but they are not what it would have come to.
func (v *view) partial(err error) bool {
	return v.measured > 0 || v.part && errors.Is(err, context.Canceled)
}

// sameTable tells whether two tests differ by their size only, and what comes of it.
func sameTable(a, b perf.Test) bool {
	a.Size, a.Depth, a.Moderation = b.Size, b.Depth, b.Moderation
	return a == b
}

// perfTime is a time as it is shown: of one way, where it is measured there and
// back.
func perfTime(m *perf.Measurement, ns int64) time.Duration {
	if m.Test.OneWay() {
		ns /= 2
	}
	return time.Duration(ns)
}

// inUnit returns bytes per second in the unit asked for.
func (v *view) inUnit(rate float64) float64 {
	if v.unit == "mib" {
		return rate / (1 << 20)
	}
	return rate * 8 / 1e9
}

// number shows bytes per second in the unit asked for: with more digits where a few
// would leave nothing of it.
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

// end shows what is left.
func (v *view) end(r *perf.Result) error {
	if v.live != nil {
		v.live.close()
	}
	v.flush()
	if r != nil && v.measured > 0 && !v.json && !v.classic {
		fmt.Fprintf(v.env.Out, "\nclock: %s, %.0f ns a reading\n", r.ClockSource, r.ClockCost)
	}
	if v.drawing != nil {
		v.err = errors.Join(v.err, v.drawing.write(v.charts(r)))
	}
	if v.json && r != nil {
		v.err = errors.Join(v.err, v.document(r))
	}
	return v.err
}

// ends says between what it is measured.
func (v *view) ends(m *perf.Measurement) {
	for _, e := range []struct {
		who string
		perf.Ends
	}{{"client", m.Client}, {"server", m.Server}} {
		at := fmt.Sprintf("LID %d", e.LID)
		if e.GID.IsValid() {
			at = fmt.Sprintf("GID %v, %s", e.GID, e.GIDType)
			if e.GIDIndex >= 0 {
				at = fmt.Sprintf("GID %d %v, %s", e.GIDIndex, e.GID, e.GIDType)
			}
			if e.Why != "" {
				at += " (" + e.Why + ")"
			}
		}
		device := fmt.Sprintf("%s port %d", e.Device, e.Port)
		if e.Port == 0 { // all that is known is the program
			device = e.Device
		}
		fmt.Fprintf(v.env.Out, "%s: %s, %s, %s\n", e.who, device, e.Link, at)
	}
}

// flush prints the table of the tests that belong together.
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
			header, row = v.latency(m)
		} else {
			header, row = v.bandwidth(m)
		}
		rows = append(rows, row)
	}
	err := render.Table(out, header, rows)
	for _, m := range all {
		v.notes(out, m)
	}
	if e := out.Flush(); err == nil && e != nil {
		err = fmt.Errorf("write output: %w", e)
	}
	v.err = errors.Join(v.err, err)
}

// title says what a table is about.
func (v *view) title(m *perf.Measurement) string {
	t := m.Test
	words := []string{string(t.Op), "over", string(t.Transport)}
	if t.Kind == perf.Latency {
		words = append(words, "latency in µs,")
		if t.OneWay() {
			words = append(words, "one way")
		} else {
			words = append(words, "there and back")
		}
	} else {
		words = append(words, "bandwidth in "+v.unitName())
		if t.Bidirectional {
			words = append(words, "both ways")
		}
	}
	title := strings.Join(words, " ") + fmt.Sprintf(", MTU %d", m.MTU)
	for _, o := range []struct {
		on   bool
		text string
	}{
		{t.QueuePairs > 1, fmt.Sprintf("%d queue pairs", t.QueuePairs)}, {t.Threads > 1, fmt.Sprintf("%d threads", t.Threads)},
		{t.Events, "by events"}, {t.Inline, "inline"}, {t.Huge, "huge pages"}, {t.Verify, "verified"},
	} {
		if o.on {
			title += ", " + o.text
		}
	}
	return title
}

// micro shows a time in microseconds.
func micro(ns float64) string { return strconv.FormatFloat(ns/1e3, 'f', 2, 64) }

// percentiles are those that are shown and written.
var percentiles = []float64{50, 90, 99, 99.9, 99.99}

// latency is a row of a table of latency.
func (v *view) latency(m *perf.Measurement) (header, row []string) {
	s, part := m.Latency, 1.0
	if m.Test.OneWay() {
		part = 0.5
	}
	header = []string{"BYTES", "COUNT", "MIN", "AVG"}
	row = []string{strconv.Itoa(m.Test.Size), strconv.FormatInt(s.Count, 10), micro(part * float64(s.Min)), micro(part * s.Avg())}
	for _, p := range percentiles {
		header = append(header, "P"+strconv.FormatFloat(p, 'f', -1, 64))
		row = append(row, micro(part*float64(s.Quantile(p))))
	}
	header = append(header, "MAX", "STDDEV", "JITTER", "CPU")
	row = append(row, micro(part*float64(s.Max)), micro(part*s.StdDev()), micro(part*s.Jitter()), cpuUse(m))
	return header, row
}

// cpuUse is the share of a processor that each side's loops took.
func cpuUse(m *perf.Measurement) string {
	share := func(s perf.Side) string {
		if s.Elapsed <= 0 || len(s.Sent)+len(s.Received) == 0 {
			return "-"
		}
		return fmt.Sprintf("%.0f%%", 100*float64(s.User+s.System)/float64(s.Elapsed))
	}
	return share(m.ClientSide) + "/" + share(m.ServerSide)
}

// bandwidth is a row of a table of bandwidth.
func (v *view) bandwidth(m *perf.Measurement) (header, row []string) {
	number := v.number
	t := m.Sent
	window := func(rate float64) string {
		if t.Peak == 0 {
			return "-"
		}
		return number(rate)
	}
	header = []string{"BYTES", "COUNT", "AVG", "PEAK", "MIN", "MSG/S"}
	row = []string{
		strconv.Itoa(m.Test.Size), strconv.FormatUint(t.Messages, 10), number(t.Rate()), window(t.Peak), window(t.Minimum),
		strconv.FormatFloat(t.MessageRate(), 'f', 0, 64),
	}
	if m.Test.Bidirectional {
		header = append(header, "BACK", "SUM")
		back := 0.0
		if m.Reverse != nil {
			back = m.Reverse.Rate()
		}
		row = append(row, number(back), number(back+t.Rate()))
	}
	if m.Test.Transport != perf.RC && m.Test.Op == perf.Send {
		header = append(header, "LOST")
		row = append(row, lost(m))
	}
	return append(header, "CPU"), append(row, cpuUse(m))
}

// lost is the share of messages that did not arrive.
func lost(m *perf.Measurement) string {
	sent, received := total(m.ClientSide.Sent), total(m.ServerSide.Received)
	if m.Test.Bidirectional {
		sent, received = sent+total(m.ServerSide.Sent), received+total(m.ClientSide.Received)
	}
	if sent == 0 || m.Received == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g%%", 100*float64(sent-min(sent, received))/float64(sent))
}

func total(counts []uint64) (sum uint64) {
	for _, n := range counts {
		sum += n
	}
	return sum
}

// notes are what explains a bad figure.
func (v *view) notes(out *render.Output, m *perf.Measurement) {
	for _, s := range []struct {
		who      string
		counters perf.Counters
	}{{"client", m.ClientSide.Counters}, {"server", m.ServerSide.Counters}} {
		for _, name := range slices.Sorted(maps.Keys(s.counters)) {
			if what := perf.Trouble(name); what != "" {
				fmt.Fprintf(out, "%d B, %s: %s: %d (%s)\n", m.Test.Size, s.who, what, s.counters[name], name)
			}
		}
	}
	if m.Lost > 0 {
		fmt.Fprintf(out, "%d B: %d round trips were lost\n", m.Test.Size, m.Lost)
	}
	if m.Partial {
		fmt.Fprintf(out, "%d B: partial: it ended before it was over\n", m.Test.Size)
	}
}
