package perf

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/shared/perfhint"
)

// withHint adds the hint for an error of a measurement.
func withHint(err error) error { return perfhint.With(err, perfhint.Native) }

// unexpected returns the error for more arguments than a server. The name of a test may be
// among them: write_bw HOST.
func unexpected(args []string) error {
	err := cmdutil.UsageErrorf("unexpected argument %q", args[1])
	for i, arg := range args[:2] {
		name := strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(arg), "_", "-"), "ib-")
		if _, isTest := testNames()[name]; isTest {
			return cmdutil.WithHint(err, fmt.Sprintf("ibkit perf %s --test %s", args[1-i], name))
		}
	}
	return cmdutil.WithHint(err, "give a single server, and tests with --test; flags and examples: ibkit perf --help")
}
