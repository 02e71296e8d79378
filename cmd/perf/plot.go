package perf

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/ibkit/ibkit/internal/chart"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/perf"
)

// plotForms are what --plot writes, by how the name of the file ends.
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

// A plotFile is the file of --plot. It is opened before anything is measured, so
// that no measurement is lost because a directory does not exist.
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

// write draws the measurements. Without measurements the file keeps its former
// content.
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

// charts are those that there is something for. r is nil if nothing was measured.
func (v *view) charts(r *perf.Result) []chart.Chart {
	if r == nil {
		return nil
	}
	latency := chart.Chart{Title: "Latency", X: "percent of all", Y: "µs", XTick: percentileTick, XWhole: true}
	bySize := chart.Chart{Title: "Bandwidth by size", X: "bytes", Y: v.unitName(), XTick: sizeTick, XWhole: true}
	byTime := chart.Chart{Title: "Bandwidth over time", X: "seconds", Y: v.unitName()}
	series := map[string]int{}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		name := fmt.Sprintf("%s %s", m.Test.Op, m.Test.Transport)
		one := fmt.Sprintf("%s %d B", name, m.Test.Size)
		if m.Partial {
			one += " (partial)"
		}
		if m.Latency != nil && m.Latency.Count > 0 {
			latency.Series = append(latency.Series, chart.Series{Name: one, Points: percentileLine(m)})
		}
		if m.Sent == nil || m.Sent.Messages == 0 {
			continue
		}
		rate := m.Sent.Rate()
		if m.Reverse != nil {
			name, rate = name+", both ways", rate+m.Reverse.Rate()
		}
		at, ok := series[name]
		if !ok {
			at = len(bySize.Series)
			series[name] = at
			bySize.Series = append(bySize.Series, chart.Series{Name: name})
		}
		line := &bySize.Series[at]
		line.Points = append(line.Points, chart.Point{X: math.Log2(float64(m.Test.Size)), Y: v.inUnit(rate)})
		if m.Test.Bidirectional {
			one += ", client's"
		}
		over := chart.Series{Name: one}
		for _, w := range m.Windows {
			over.Points = append(over.Points, chart.Point{X: (w.Begin + w.Length/2).Seconds(), Y: v.inUnit(w.Rate)})
		}
		if len(over.Points) > 0 {
			byTime.Series = append(byTime.Series, over)
		}
	}
	var all []chart.Chart
	for _, c := range []chart.Chart{latency, bySize, byTime} {
		if len(c.Series) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// percentileLine are the times of a test of latency, up to the percentile that its
// count has something to say about, 99.99 at most.
func percentileLine(m *perf.Measurement) []chart.Point {
	const step = 0.1
	var points []chart.Point
	for n := 0.0; n <= min(4, math.Log10(float64(m.Latency.Count)))+step/2; n += step {
		q := 100 * (1 - math.Pow(10, -n))
		points = append(points, chart.Point{X: n, Y: float64(perfTime(m, m.Latency.Quantile(q))) / 1e3})
	}
	return points
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
