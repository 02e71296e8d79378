package counters

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

// rows are the flags that select and sort the ports to show.
type rows struct {
	all      bool
	counters []string
	top      int
	sort     string

	chosen []counters.Counter // counters, parsed
}

func (r *rows) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&r.all, "all", false, "show every port (default: ports with findings)")
	flags.StringSliceVar(&r.counters, "columns", nil, "show a `LIST` of counters of every port, by their names")
	flags.IntVar(&r.top, "top", 0, "show the first `N` ports")
	cmdutil.EnumFlag(cmd, &r.sort, "sort", "fabric", []string{"fabric", "name", "util", "errors", "wait"}, "`KEY` that orders the ports (default with --top: util)")
}

func (r *rows) complete(flags *pflag.FlagSet) error {
	for _, name := range r.counters {
		c, err := counters.ParseCounter(name)
		if err != nil {
			return cmdutil.UsageErrorf("invalid --columns: %w", err)
		}
		r.chosen = append(r.chosen, c)
	}
	if flags.Changed("top") {
		if r.top < 1 {
			return cmdutil.UsageErrorf("invalid --top %d: want at least 1", r.top)
		}
		if !flags.Changed("sort") {
			r.sort = "util"
		}
	}
	if r.sort != "util" && r.sort != "wait" || cmdutil.Given(flags, []string{"window", "interval", "since"}) != "" {
		return nil
	}
	const window = "a window: --window, --interval or --since"
	if !flags.Changed("sort") {
		return cmdutil.UsageErrorf("--top requires %s (or --sort errors)", window)
	}
	return cmdutil.UsageErrorf("--sort %s requires %s", r.sort, window)
}

// needsAll reports whether ports without findings are shown, too.
func (r *rows) needsAll() bool { return r.all || len(r.chosen) > 0 || r.top > 0 }

// A row is a port with its findings.
type row struct {
	*counters.Port
	delta    *counters.Delta // nil: one sample
	findings []counters.Finding
}

// list returns the rows to show, in order, and the summary of all ports.
func (r *rows) list(result *counters.Result, every bool, names *fabric.NameMap) ([]row, *summary) {
	s := summarize(result)
	var list []row
	if every {
		list = make([]row, 0, s.listed)
	}
	for p := range result.AllPorts() {
		w := row{Port: p, delta: p.Delta(), findings: result.Findings(p)}
		s.add(w)
		if every || len(w.findings) > 0 {
			list = append(list, w)
		}
	}
	if order := orders[r.sort]; order != nil {
		slices.SortStableFunc(list, order(names))
	}
	if r.top > 0 && len(list) > r.top {
		list = list[:r.top]
	}
	return list, s
}

// orders are the values of --sort. nil keeps the order of the scan.
var orders = map[string]func(*fabric.NameMap) func(a, b row) int{
	"fabric": nil,
	"name": func(names *fabric.NameMap) func(a, b row) int {
		return func(a, b row) int {
			return cmp.Or(cmp.Compare(names.Name(a.Node), names.Name(b.Node)), cmp.Compare(a.Number, b.Number))
		}
	},
	"util":   descending(row.utilization),
	"errors": descending(row.errors),
	"wait":   descending(row.wait),
}

func descending(value func(row) float64) func(*fabric.NameMap) func(a, b row) int {
	return func(*fabric.NameMap) func(a, b row) int {
		return func(a, b row) int { return cmp.Compare(value(b), value(a)) }
	}
}

// utilization returns the larger utilization of both directions, -1 if it is unknown.
func (w row) utilization() float64 {
	if w.delta == nil {
		return -1
	}
	most := -1.0
	for _, c := range []counters.Counter{counters.XmitData, counters.RcvData} {
		if u, ok := w.Utilization(w.delta, c); ok {
			most = max(most, u)
		}
	}
	return most
}

// errors returns the sum of error counters without waiting, or of their increases.
func (w row) errors() float64 {
	if w.Now == nil {
		return -1
	}
	total := 0.0
	for _, c := range counters.Counters() {
		if c.IsTraffic() || c.IsDetail() || c == counters.XmitWait {
			continue
		}
		if w.delta != nil {
			ch, _ := w.delta.Change(c)
			total += float64(ch.Increase)
			continue
		}
		v, _ := w.Now.Value(c)
		total += float64(v.N)
	}
	return total
}

// wait returns the lost bandwidth, -1 if it is unknown.
func (w row) wait() float64 {
	if w.delta == nil {
		return -1
	}
	if lost, ok := w.LostBandwidth(w.delta); ok {
		return lost
	}
	return -1
}
