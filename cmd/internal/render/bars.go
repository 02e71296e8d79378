package render

import (
	"fmt"
	"strings"
	"time"
)

// A Bar is a histogram bar: the count of durations from From to less than To.
type Bar struct {
	From, To time.Duration
	Count    int
}

// barWidth is the longest bar's width.
const barWidth = 40

// Bars draws a histogram, a line per bar with its count and its part of all.
func Bars(out *Output, bars []Bar) {
	longest, total := 0, 0
	for _, b := range bars {
		longest, total = max(longest, b.Count), total+b.Count
	}
	for _, b := range bars {
		n := (b.Count*barWidth + longest - 1) / longest
		fmt.Fprintf(out, "%9s to %-9s %-*s %d (%s)\n", Duration(b.From), Duration(b.To), barWidth, strings.Repeat("#", n), b.Count, Percent(float64(b.Count)/float64(total)))
	}
}

// Percent returns a part of 1 as a percentage with up to four digits.
func Percent(part float64) string { return fmt.Sprintf("%.4g%%", 100*part) }
