package perf

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/ibkit/ibkit/internal/chart"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// plotForms are the formats of --plot by the extension of the file.
var plotForms = map[string]func(io.Writer, []chart.Chart) error{
	".svg": func(w io.Writer, all []chart.Chart) error {
		_, err := io.WriteString(w, chart.SVG(all))
		return err
	},
	".html": func(w io.Writer, all []chart.Chart) error {
		_, err := io.WriteString(w, chart.HTML("ibkit perf", all))
		return err
	},
	".png": chart.PNG,
}

// A plotFile is the file of --plot. It is opened before the measurement, so that an
// invalid path loses no figures.
type plotFile struct {
	name string
	file *fileout.File
}

func openPlot(name string) (*plotFile, error) {
	f, err := fileout.Create(name)
	if err != nil {
		return nil, err
	}
	return &plotFile{name, f}, nil
}

// write draws the charts. Without charts the file keeps its former content.
func (p *plotFile) write(all []chart.Chart) error {
	defer p.file.Abort()
	if len(all) == 0 {
		return nil
	}
	if err := plotForms[filepath.Ext(p.name)](p.file, all); err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	return p.file.Commit()
}

// A group is the measurements of one test in all its sizes.
type group struct {
	name string
	all  []*perf.Measurement
}

// groupBySize groups the measurements that satisfy a condition.
func groupBySize(r *perf.Result, has func(*perf.Measurement) bool) []group {
	var groups []group
	for i := range r.Measurements {
		m := &r.Measurements[i]
		if !has(m) {
			continue
		}
		if n := len(groups); n == 0 || !sameTable(groups[n-1].all[0].Test, m.Test) {
			groups = append(groups, group{name: fmt.Sprintf("%s %s", m.Test.Op, m.Test.Transport)})
		}
		g := &groups[len(groups)-1]
		g.all = append(g.all, m)
	}
	return groups
}

// nameOf returns the name of a measurement's line.
func (g group) nameOf(m *perf.Measurement) string {
	name := fmt.Sprintf("%s %d B", g.name, m.Test.Size)
	if m.Partial {
		name += " (partial)"
	}
	return name
}

// charts returns the charts for which there are figures. r is nil if nothing was
// measured.
func (v *view) charts(r *perf.Result) []chart.Chart {
	if r == nil {
		return nil
	}
	latency := groupBySize(r, func(m *perf.Measurement) bool { return m.Latency != nil && m.Latency.Count > 0 })
	bandwidth := groupBySize(r, func(m *perf.Measurement) bool { return m.Sent != nil && m.Sent.Messages > 0 })
	var all []chart.Chart
	for _, c := range []chart.Chart{
		latencyByPercentile(latency), latencyBySize(latency), v.bandwidthBySize(bandwidth), v.bandwidthOverTime(bandwidth),
	} {
		if len(c.Series) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// latencyByPercentile draws a line for each measurement, unless they are more than a
// chart can show: then latencyBySize has their percentiles.
func latencyByPercentile(groups []group) chart.Chart {
	c := chart.Chart{Title: "Latency", X: "percent of all", Y: "µs", XTick: percentileTick, XWhole: true}
	for _, g := range groups {
		for _, m := range g.all {
			c.Series = append(c.Series, chart.Series{Name: g.nameOf(m), Points: percentileLine(m)})
		}
	}
	if len(c.Series) > chart.MaxSeries {
		c.Series = nil
	}
	return c
}

// latencyBySize draws percentiles of tests with several sizes, as many as a chart can
// show.
func latencyBySize(groups []group) chart.Chart {
	c := chart.Chart{Title: "Latency by size", X: "bytes", Y: "µs", XTick: sizeTick, XWhole: true}
	percentiles := []float64{50, 99, 99.9}
	percentiles = percentiles[:min(len(percentiles), max(1, chart.MaxSeries/max(1, len(groups))))]
	for _, g := range groups {
		if len(g.all) < 2 {
			continue
		}
		for _, p := range percentiles {
			line := chart.Series{Name: fmt.Sprintf("%s P%v", g.name, p)}
			for _, m := range g.all {
				y := m.Test.LatencyFactor() * float64(m.Latency.Quantile(p)) / 1e3
				line.Points = append(line.Points, chart.Point{X: math.Log2(float64(m.Test.Size)), Y: y})
			}
			c.Series = append(c.Series, line)
		}
	}
	return c
}

// bandwidthBySize draws the sum of both directions.
func (v *view) bandwidthBySize(groups []group) chart.Chart {
	c := chart.Chart{Title: "Bandwidth by size", X: "bytes", Y: v.unitName(), XTick: sizeTick, XWhole: true}
	for _, g := range groups {
		line := chart.Series{Name: g.name}
		for _, m := range g.all {
			rate := m.Sent.Rate()
			if m.Reverse != nil {
				line.Name, rate = g.name+", both directions", rate+m.Reverse.Rate()
			}
			line.Points = append(line.Points, chart.Point{X: math.Log2(float64(m.Test.Size)), Y: v.inUnit(rate)})
		}
		c.Series = append(c.Series, line)
	}
	return c
}

// bandwidthOverTime draws a line for each measurement, unless they are more than a chart
// can show.
func (v *view) bandwidthOverTime(groups []group) chart.Chart {
	c := chart.Chart{Title: "Bandwidth over time", X: "seconds", Y: v.unitName()}
	for _, g := range groups {
		for _, m := range g.all {
			line := chart.Series{Name: g.nameOf(m)}
			if m.Test.Bidirectional {
				line.Name += ", from client"
			}
			for _, w := range m.Windows {
				line.Points = append(line.Points, chart.Point{X: (w.Begin + w.Length/2).Seconds(), Y: v.inUnit(w.Rate)})
			}
			if len(line.Points) > 0 {
				c.Series = append(c.Series, line)
			}
		}
	}
	if len(c.Series) > chart.MaxSeries {
		c.Series = nil
	}
	return c
}

// percentileLine returns the latency by percentile, up to the highest percentile that
// the number of samples supports, at most 99.99.
func percentileLine(m *perf.Measurement) []chart.Point {
	const step = 0.1
	var points []chart.Point
	for n := 0.0; n <= min(4, math.Log10(float64(m.Latency.Count)))+step/2; n += step {
		q := 100 * (1 - math.Pow(10, -n))
		points = append(points, chart.Point{X: n, Y: float64(latencyOf(m, m.Latency.Quantile(q))) / 1e3})
	}
	return points
}

// percentileTick returns the label of a position on an axis on which each step is ten
// times as rare.
func percentileTick(x float64) string {
	return strconv.FormatFloat(100*(1-math.Pow(10, -x)), 'f', max(0, int(x)-2), 64) + " %"
}

// sizeTick returns the label of a position on an axis of powers of two.
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
