package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/report"
)

// absent stands for an unknown value.
const absent = "-"

// signs are the signs of severities, for readers who do not see the colours.
var signs = map[report.Severity]string{
	report.Error: "●", report.Warning: "▲", report.Unknown: "◆", report.Info: "○", report.Recovery: "✓",
}

// severity writes a severity's sign and, for screen readers, its name.
func (m *markup) severity(s report.Severity) {
	if s == "" {
		return
	}
	m.begin("span", "class", "sign "+string(s), "title", string(s))
	m.put("span", signs[s], "aria-hidden", "true")
	m.put("span", string(s), "class", "unseen")
	m.end("span")
}

// bits returns a rate in bits per second.
func bits(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "Tb/s"}, {1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}} {
		if v >= unit.size {
			return significant(v/unit.size) + " " + unit.name
		}
	}
	return significant(v) + " b/s"
}

// significant returns three digits.
func significant(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 2, 64), ".00")
}

// perSecond returns an error rate.
func perSecond(v *float64) string {
	switch {
	case v == nil:
		return absent
	case *v > 0 && *v < 0.01:
		return "< 0.01"
	}
	return significant(*v)
}

// percent returns a share.
func percent(v *float64) string {
	if v == nil {
		return absent
	}
	return strconv.FormatFloat(*v*100, 'f', 1, 64)
}

// grouped returns a number with a separator between thousands.
func grouped[T int | uint64](n T) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// countOf returns a number with separators, followed by a noun.
func countOf(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return grouped(n) + " " + many
}

// orAbsent returns a text, or a sign for an unknown text.
func orAbsent(text *string) string {
	if text == nil || *text == "" {
		return absent
	}
	return *text
}
