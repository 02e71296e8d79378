// Package libibverbs has the conventions of the programs of libibverbs.
package libibverbs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// Family is the family of the programs that describe devices.
var Family = &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: getopt.ExitFailure, FailureCode: cmdutil.ExitFailed}

func usage(t *getopt.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %-23s %s\n\nOptions:\n", t.Name, t.About)
	for _, o := range t.Options {
		if o.Extension {
			continue
		}
		name := fmt.Sprintf("-%c, --%s", o.Short, o.Long)
		if o.Arg != "" {
			name += "=" + o.Arg
		}
		fmt.Fprintf(&b, "  %-22s %s\n", name, o.Help)
	}
	return b.String()
}

// errSimulated is the reason why there are no devices in a simulated fabric.
type errSimulated struct{}

func (errSimulated) Error() string { return "the simulated adapter has no verbs" }
func (errSimulated) Hint() string  { return "ibstat and ibkit devinfo show the simulated adapter" }

// Check returns an error with an exit code if the kernel has no verbs for user space,
// as libibverbs does before anything else.
func Check(env *cmdutil.Env, s *fabricflag.Settings, code int) error {
	simulated := s.Sim != "" || env.Getenv("IBKIT_SIM") != ""
	if !simulated {
		_, err := os.Stat(filepath.Join(env.Sysfs(), "class/infiniband_verbs/abi_version"))
		if err == nil {
			return nil
		}
	}
	fmt.Fprintln(env.ErrOut, "Failed to get IB devices list: Function not implemented")
	exit := &cmdutil.ExitError{Code: code}
	if simulated {
		exit.Err = errSimulated{}
	}
	return exit
}
