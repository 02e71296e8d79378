package cmd

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/svg"
	"github.com/ibkit/ibkit/perf"
)

// draw writes what was measured as drawings into the file of --plot.
func (v *perfView) draw(r *perf.Result) error {
	charts := v.charts(r)
	body := svg.Document(charts)
	if strings.HasSuffix(v.plot, ".html") {
		body = svg.Page("ibkit perf", charts)
	}
	if err := os.WriteFile(v.plot, []byte(body), 0o644); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return nil
}

// charts are those that there is something for.
func (v *perfView) charts(r *perf.Result) []svg.Chart {
	latency := svg.Chart{Title: "Latency", X: "percent of all", Y: "µs", XTick: percentileTick}
	bySize := svg.Chart{Title: "Bandwidth by size", X: "bytes", Y: v.unitName(), XTick: sizeTick}
	byTime := svg.Chart{Title: "Bandwidth over time", X: "seconds", Y: v.unitName()}
	series := map[string]int{}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		name := fmt.Sprintf("%s %s", m.Test.Op, m.Test.Transport)
		if s := m.Latency; s != nil && s.Count > 0 {
			line := svg.Series{Name: fmt.Sprintf("%s %d B", name, m.Test.Size)}
			for n := 0.0; n <= 4.001; n += 0.1 {
				q := 100 * (1 - math.Pow(10, -n))
				line.Points = append(line.Points, svg.Point{X: n, Y: float64(perfTime(m, s.Quantile(q))) / 1e3})
			}
			latency.Series = append(latency.Series, line)
		}
		if m.Sent == nil || m.Sent.Messages == 0 {
			continue
		}
		at, ok := series[name]
		if !ok {
			at = len(bySize.Series)
			series[name] = at
			bySize.Series = append(bySize.Series, svg.Series{Name: name})
		}
		line := &bySize.Series[at]
		line.Points = append(line.Points, svg.Point{X: math.Log2(float64(m.Test.Size)), Y: v.inUnit(m.Sent.Rate())})
		over := svg.Series{Name: fmt.Sprintf("%s %d B", name, m.Test.Size)}
		for _, w := range m.Windows {
			over.Points = append(over.Points, svg.Point{X: (w.Begin + w.Length/2).Seconds(), Y: v.inUnit(w.Rate)})
		}
		byTime.Series = append(byTime.Series, over)
	}
	var all []svg.Chart
	for _, c := range []svg.Chart{latency, bySize, byTime} {
		if len(c.Series) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// percentileTick names a place on an axis where each step is ten times rarer.
func percentileTick(x float64) string {
	return strconv.FormatFloat(100*(1-math.Pow(10, -x)), 'f', max(0, int(x)-2), 64) + " %"
}

// sizeTick names a place on an axis of powers of two.
func sizeTick(x float64) string {
	n := math.Exp2(x)
	for _, unit := range []string{"", "K", "M"} {
		if n < 1024 || unit == "M" {
			return strconv.FormatFloat(math.Round(n*10)/10, 'f', -1, 64) + unit
		}
		n /= 1024
	}
	return ""
}
