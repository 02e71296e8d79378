package ping

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// barsOf merges histogram bars into at most a given number. The bar widths have a constant
// ratio, so that a few long round trips do not merge all others into a single bar.
func barsOf(from []hdrhistogram.Bar, most int) []Bar {
	for len(from) > 0 && from[0].Count == 0 {
		from = from[1:]
	}
	for len(from) > 0 && from[len(from)-1].Count == 0 {
		from = from[:len(from)-1]
	}
	if len(from) == 0 {
		return nil
	}
	last := from[len(from)-1]
	low, high := max(from[0].From, 1), last.From+1
	ratio := math.Pow(float64(high)/float64(low), 1/float64(most))
	var bars []Bar
	begin := low
	for i := range most {
		end := int64(math.Ceil(float64(low) * math.Pow(ratio, float64(i+1))))
		if i == most-1 {
			end = high
		}
		if end <= begin {
			continue // narrower than a step
		}
		b := Bar{From: time.Duration(begin) * step, To: time.Duration(end) * step}
		for len(from) > 0 && from[0].From < end {
			b.Count += int(from[0].Count)
			from = from[1:]
		}
		bars = append(bars, b)
		begin = end
	}
	bars[len(bars)-1].To = time.Duration(last.To+1) * step
	return bars
}
