package cmdutil

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// durationForm matches the durations of [time.ParseDuration], of any length.
var durationForm = lazyregexp.New(`^[-+]?([0-9]+\.?[0-9]*(ns|us|µs|ms|s|m|h))+$`)

// flagError describes an invalid value of a flag without the names of Go functions that
// pflag's errors contain.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	if isFlag(invalid.GetValue()) {
		return needsArgument(invalid.GetFlag())
	}
	var number *strconv.NumError
	reason := ""
	switch kind := invalid.GetFlag().Value.Type(); {
	case kind == "duration" && durationForm.MatchString(invalid.GetValue()):
		reason = "longer than 292 years"
	case kind == "duration":
		reason = "not a duration with a unit, for example 500ms or 10s"
	case !errors.As(err, &number):
		return fmt.Errorf("invalid --%s %q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	case kind == "bool":
		reason = "not true or false"
	case kind == "uint8":
		reason = "not a number from 0 to 255"
	case kind == "uint16":
		reason = "not a number from 0 to 65535"
	case kind == "uint" || kind == "uint64":
		reason = "not a number of at least 0, or out of range"
	case kind == "uint32":
		reason = "not a number from 0 to 4294967295"
	default:
		reason = "not a number, or out of range"
	}
	return fmt.Errorf("invalid --%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), reason)
}

// maxDuration is the longest time that a flag accepts. A longer one is a mistake of the
// unit: the command would wait as if it had stopped.
const maxDuration = 365 * 24 * time.Hour

// checkValues reports the values that no flag can have.
func checkValues(flags *pflag.FlagSet) error {
	if err := checkEmpty(flags); err != nil {
		return err
	}
	return checkDurations(flags)
}

// checkDurations reports a flag with a time above maxDuration.
func checkDurations(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if d, _ := flags.GetDuration(f.Name); err == nil && d > maxDuration {
			err = UsageErrorf("invalid %s %v: want at most %.0fh", FlagName(flags, f.Name), d, maxDuration.Hours())
		}
	})
	return err
}

// checkEmpty reports a flag with an empty value, which is usually a variable of a script
// that is not set: without the error the command would run as if the flag was missing.
func checkEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		kind, text := f.Value.Type(), f.Value.String()
		if err == nil && (kind == "string" && text == "" || kind == "stringSlice" && text == "[]") {
			err = UsageErrorf("invalid %s: the value is empty", FlagName(flags, f.Name))
		}
	})
	return err
}
