package perftest

import (
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
)

// A limiter holds the rate limiter options.
type limiter struct {
	rate  float64
	text  string // as given
	unit  string // M, g or p; "": g
	kind  string // HW or SW; "": HW with a rate
	burst int
}

func (l *limiter) setRate(value string) error {
	l.text = value
	return positive(&l.rate, value)
}

func (l *limiter) setUnit(value string) error {
	if value != "M" && value != "g" && value != "p" {
		return fmt.Errorf("invalid value %q: want M, g or p", value)
	}
	l.unit = value
	return nil
}

func (l *limiter) setKind(value string) error {
	switch value {
	case "HW", "SW":
		l.kind = value
		return nil
	case "PP":
		return errors.New("packet pacing is not supported; perftest requires raw Ethernet for it")
	}
	return fmt.Errorf("invalid value %q: want HW or SW", value)
}

// rates are the rates for a limit by the device (RATE_VALUES in perftest_parameters.h).
var rates = []ib.Rate{
	ib.Rate2p5, ib.Rate5, ib.Rate10, ib.Rate14, ib.Rate20, ib.Rate25, ib.Rate30, ib.Rate40, ib.Rate56, ib.Rate60, ib.Rate80,
	ib.Rate100, ib.Rate112, ib.Rate120, ib.Rate168, ib.Rate200, ib.Rate300,
}

// apply sets a test's limit. It prints a notice like perftest.
func (l *limiter) apply(t *perftest.Test, notice io.Writer) error {
	if l.kind == "" && l.rate > 0 {
		l.kind = "HW"
	}
	switch {
	case l.burst > 0 && l.kind == "":
		return errors.New("--burst_size without --rate_limit")
	case l.kind == "SW" && l.rate == 0:
		return errors.New("--rate_limit_type SW without --rate_limit")
	case l.kind == "SW":
		l.limitSoftware(t, notice)
	case l.kind == "HW" && l.rate > 0:
		return l.limitDevice(t)
	}
	return nil
}

func (l *limiter) limitSoftware(t *perftest.Test, notice io.Writer) {
	if t.Burst = l.burst; t.Burst == 0 {
		fmt.Fprintf(notice, " Setting burst size to tx depth = %d\n", t.TxDepth)
		t.Burst = t.TxDepth
	}
	switch l.unit {
	case "M":
		t.ByteRate = l.rate * (1 << 20)
	case "p":
		t.Rate = l.rate
	default:
		t.ByteRate = l.rate * 1e9 / 8
	}
}

func (l *limiter) limitDevice(t *perftest.Test) error {
	gbps := l.rate
	switch l.unit {
	case "p":
		return errors.New("--rate_units p: a limit by the device has no unit of messages")
	case "M":
		gbps = l.rate * (1 << 20) * 8 / 1e9
	}
	for _, r := range rates {
		if r.Gbps() == gbps {
			t.StaticRate = r
			return nil
		}
	}
	return fmt.Errorf("--rate_limit %s: a limit by the device is 2.5, 5, 10, 14, 20, 25, 30, 40, 56, 60, 80, 100, 112, 120, 168, 200 or 300 Gb/s", l.text)
}
