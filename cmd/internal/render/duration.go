package render

import (
	"strconv"
	"time"
)

// AppendDuration appends a duration in the unit that suits it, with three or four
// digits: 0ns, 1.23µs, 45.6ms, 7890s.
func AppendDuration(b []byte, d time.Duration) []byte {
	value, unit := float64(d), "ns"
	switch {
	case d >= time.Second:
		value, unit = value/1e9, "s"
	case d >= time.Millisecond:
		value, unit = value/1e6, "ms"
	case d >= time.Microsecond:
		value, unit = value/1e3, "µs"
	}
	decimals := 2
	switch {
	case unit == "ns":
		decimals = 0
	case value >= 99.95:
		decimals = 0
	case value >= 9.995:
		decimals = 1
	}
	return append(strconv.AppendFloat(b, value, 'f', decimals, 64), unit...)
}

// Duration returns the AppendDuration text.
func Duration(d time.Duration) string { return string(AppendDuration(nil, d)) }
