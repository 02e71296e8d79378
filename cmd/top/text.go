package top

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/linkinfo"
)

// appendRate appends a number per second in at most five characters: "0", "0.20", "12.3",
// "4567", "1.2M".
func appendRate(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, '-')
	case v == 0:
		return append(b, '0')
	case v < 0.01:
		return append(b, "<0.01"...)
	case v < 9.995:
		return strconv.AppendFloat(b, v, 'f', 2, 64)
	case v < 99.95:
		return strconv.AppendFloat(b, v, 'f', 1, 64)
	case v < 99999.5:
		return strconv.AppendFloat(b, v, 'f', 0, 64)
	case v < 999.95e3:
		return append(strconv.AppendFloat(b, v/1e3, 'f', 0, 64), 'k')
	case v < 999.95e6:
		return append(strconv.AppendFloat(b, v/1e6, 'f', 1, 64), 'M')
	}
	return append(strconv.AppendFloat(b, v/1e9, 'f', 1, 64), 'G')
}

// appendPercent appends a part of one as a percentage: "0", "<0.1", "12.3", "100".
func appendPercent(b []byte, v float64) []byte {
	p := 100 * v
	switch {
	case math.IsNaN(v):
		return append(b, '-')
	case p == 0:
		return append(b, '0')
	case p < 0.05:
		return append(b, "<0.1"...)
	case p < 99.95:
		return strconv.AppendFloat(b, p, 'f', 1, 64)
	}
	return strconv.AppendFloat(b, p, 'f', 0, 64)
}

// bitRate returns, for example, "1.23 Tb/s".
func bitRate(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"}} {
		if v >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'f', 2, 64) + " " + unit.name
		}
	}
	return strconv.FormatFloat(v/1e3, 'f', 0, 64) + " kb/s"
}

// number returns the value of a pointer, NaN for nil.
func number(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// seconds returns a duration without more digits than it needs.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// clip shortens a text to a number of characters, with "…" at its end.
func clip(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string([]rune(s)[:width-1]) + "…"
}

// clipLink shortens the name of a link "A - B" to a number of characters, each end to its
// share: the numbers of the ports stay.
func clipLink(name string, width int) string {
	near, far, found := strings.Cut(name, " - ")
	const arrow = " - "
	if utf8.RuneCountInString(name) <= width || !found {
		return clip(name, width)
	}
	half := (width - len(arrow)) / 2
	if n := utf8.RuneCountInString(far); n < half {
		return clipPort(near, width-len(arrow)-n) + arrow + far
	}
	near = clipPort(near, half)
	return near + arrow + clipPort(far, width-len(arrow)-utf8.RuneCountInString(near))
}

// clipPort shortens "NAME[3]" in the name.
func clipPort(port string, width int) string {
	i := strings.LastIndexByte(port, '[')
	if i < 0 || utf8.RuneCountInString(port) <= width {
		return clip(port, width)
	}
	return clip(port[:i], width-len(port[i:])) + port[i:]
}

// blocks are the eighths of a sparkline.
var blocks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws values, scaled to the largest one, one character for each; an unknown value
// is a blank, and 0 is a low line.
func sparkline(values []float64, width int) string {
	if len(values) > width {
		values = values[len(values)-width:]
	}
	largest := 0.0
	for _, v := range values {
		if v > largest {
			largest = v
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case v <= 0:
			b.WriteByte('_')
		default:
			b.WriteRune(blocks[min(int(v/largest*float64(len(blocks))), len(blocks)-1)])
		}
	}
	return b.String()
}

// phyText returns a text of a link end's registers.
func phyText(e *top.ReportEnd, text func(*linkinfo.ReportPHY) string) string {
	if e.PHY == nil {
		return render.Absent
	}
	return text(e.PHY)
}

func cableText(r *linkinfo.ReportPHY) string {
	if r.Missing != nil {
		return cmdutil.Visible(*r.Missing)
	}
	return strings.TrimSpace(render.Show(r.Cable) + " " + cmdutil.Visible(render.Show(r.PartNumber)))
}

func celsiusText(r *linkinfo.ReportPHY) string { return optional(r.Celsius, "%.0f") }

func lightText(r *linkinfo.ReportPHY) string {
	return optional(r.Rx, "%.1f") + ", " + optional(r.Tx, "%.1f")
}

func berText(r *linkinfo.ReportPHY) string {
	return optional(r.RawBER, "%.0e") + ", " + optional(r.EffectiveBER, "%.0e")
}

func kindsText(r *linkinfo.ReportPHY) string {
	var kinds []string
	for _, k := range r.Findings {
		kinds = append(kinds, string(k))
	}
	return render.OrAbsent(strings.Join(kinds, " "))
}

// optional formats a value, or "-" for nil.
func optional(v *float64, format string) string {
	switch {
	case v == nil:
		return render.Absent
	case *v == 0:
		return "0"
	}
	return fmt.Sprintf(format, *v)
}
