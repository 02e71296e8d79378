package ibcheck

import (
	"errors"
	"fmt"
	"os"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

// A threshold is the lowest counter value that is an error; 0: no value is an error.
type threshold struct {
	name  string
	limit uint64
}

// defaultThresholds returns ibcheckerrs's thresholds without a file, in
// ibcheckerrs -s order.
func defaultThresholds() []threshold {
	recommended := counters.RecommendedThresholds()
	var all []threshold
	for c := counters.SymbolErrors; c <= counters.VL15Dropped; c++ {
		all = append(all, threshold{c.String(), recommended.Limit(c)})
	}
	return all
}

// readThresholds reads a threshold file. The scripts run it by a shell; ibkit's
// ibcheckerrs accepts threshold file lines only.
func (c *command) readThresholds(path string) error {
	var given counters.Thresholds
	err := given.ReadFile(path)
	var invalid *textfile.Error
	switch {
	case errors.As(err, &invalid):
		return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	case err != nil:
		fmt.Fprintf(c.Env.Out, "Can't use threshold file '%s'\n", path)
		return getopt.ErrUsage
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return getopt.ErrUsage
	}
	for _, g := range given.Given {
		for i := range c.thresholds {
			if t := &c.thresholds[i]; t.name == g.Counter.String() {
				t.limit = g.Limit
			}
		}
	}
	return nil
}
