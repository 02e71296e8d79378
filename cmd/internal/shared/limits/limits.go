// Package limits has the flags for the limits of counters that commands share.
package limits

import (
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

// Flags are the flags for thresholds and waiting.
type Flags struct {
	file string
	wait float64
}

// Define declares the flags.
func (f *Flags) Define(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "threshold-file", "", "read thresholds from `FILE` (default: the infiniband-diags file)")
	flags.Float64Var(&f.wait, "max-wait", 100*counters.DefaultWait, "report a port that loses more than `PERCENT` by waiting")
}

// Limits checks the flags and reads the thresholds. Errors are usage errors.
func (f *Flags) Limits(env *cmdutil.Env) (l counters.Limits, err error) {
	if !(f.wait >= 0 && f.wait <= 100) {
		return l, cmdutil.UsageErrorf("invalid --max-wait %v: want a percentage from 0 to 100", f.wait)
	}
	l.Wait = f.wait / 100
	if f.file == "" {
		l.Thresholds, err = counters.DefaultThresholds(env.ConfigFile(counters.DefaultThresholdPath))
	} else {
		l.Thresholds = counters.RecommendedThresholds()
		err = l.Thresholds.ReadFile(f.file)
	}
	if err != nil {
		return l, cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "the file has a counter and its limit on each line: SymbolErrors=10")
	}
	return l, nil
}
