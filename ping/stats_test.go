package ping

import (
	"testing"
	"time"
)

// The statistics for round trips with known results.
func TestStats(t *testing.T) {
	s := newStats(totalDigits)
	if s.Avg() != 0 || s.StdDev() != 0 || s.Jitter() != 0 || s.Quantile(50) != 0 || s.Loss() != 0 || s.Bars(5) != nil {
		t.Errorf("of nothing: %+v", s)
	}
	for i := range 1000 {
		s.count(Received, time.Duration(i%10+1)*10*time.Microsecond)
	}
	s.count(Lost, 0)
	for _, test := range []struct {
		name      string
		got, want time.Duration
	}{
		{"min", s.Min, 10 * time.Microsecond},
		{"max", s.Max, 100 * time.Microsecond},
		{"avg", s.Avg(), 55 * time.Microsecond},
		{"median", s.Quantile(50), 50 * time.Microsecond},
		{"p90", s.Quantile(90), 90 * time.Microsecond},
		{"p99", s.Quantile(99), 100 * time.Microsecond},
		{"p99.9", s.Quantile(99.9), 100 * time.Microsecond},
		{"stddev", s.StdDev(), 28723 * time.Nanosecond},                   // for 10, 20, ... 100
		{"jitter", s.Jitter(), (900*10 + 99*90) * time.Microsecond / 999}, // nine steps up, one down
	} {
		t.Run(test.name, func(t *testing.T) {
			if (test.got - test.want).Abs() > test.want/500 {
				t.Errorf("got %v, want %v", test.got, test.want)
			}
		})
	}
	if s.Loss() != 1.0/1001 || s.Silent != 1 {
		t.Errorf("loss %v, %d silent", s.Loss(), s.Silent)
	}
}

// A round trip above the histogram range counts as the longest value in the range; Max
// is exact.
func TestStatsOutOfRange(t *testing.T) {
	s := newStats(1)
	s.count(Received, time.Hour)
	s.count(Received, 1)
	if s.Max != time.Hour || s.Min != 1 || s.Quantile(99) < 50*time.Second || s.Quantile(1) > 100*time.Nanosecond {
		t.Errorf("%v to %v, p99 %v", s.Min, s.Max, s.Quantile(99))
	}
}

// Bars are adjacent and cover all samples.
func TestBars(t *testing.T) {
	for _, values := range [][]time.Duration{
		{time.Millisecond},
		{0},
		{time.Microsecond, time.Microsecond + 100},
		{time.Microsecond, 10 * time.Microsecond, 10 * time.Microsecond, time.Second},
		{time.Microsecond, time.Hour},
	} {
		s := newStats(totalDigits)
		for _, v := range values {
			s.count(Received, v)
		}
		for _, most := range []int{1, 2, 12} {
			bars := s.Bars(most)
			if len(bars) == 0 || len(bars) > most {
				t.Fatalf("%v: %d bars of %d", values, len(bars), most)
			}
			n := 0
			for i, b := range bars {
				n += b.Count
				if b.To <= b.From || i > 0 && b.From != bars[i-1].To {
					t.Errorf("%v: bars %+v", values, bars)
				}
			}
			if first, last := bars[0], bars[len(bars)-1]; n != len(values) || first.Count == 0 || last.Count == 0 {
				t.Errorf("%v: bars %+v", values, bars)
			}
		}
	}
}
