package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// plainNumber matches a number without a unit.
var plainNumber = lazyregexp.New(`^[0-9]+(\.[0-9]+)?$`)

// needUnit are the flags with a time that need a unit: --max-p99 limits times of
// microseconds.
var needUnit = map[string]bool{"max-p99": true}

// acceptSeconds makes the other flags of a command and its subcommands with a time accept a
// number of seconds, as ping, mtr and watch do. The help has no default of 0s, which pflag
// omits only for its own type.
func acceptSeconds(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "duration" && !needUnit[f.Name] {
			f.Value = withUnit{f.Value, "s"}
			if f.DefValue == "0s" {
				f.DefValue = ""
			}
		}
	})
	for _, sub := range cmd.Commands() {
		acceptSeconds(sub)
	}
}

// DefaultUnit makes the values of a flag accept numbers without their unit: 4 for 4X.
func DefaultUnit(flags *pflag.FlagSet, name, unit string) {
	f := flags.Lookup(name)
	f.Value = withUnit{f.Value, unit}
}

// A withUnit is a value, or a comma-separated list, whose units may be missing.
type withUnit struct {
	pflag.Value
	unit string
}

func (w withUnit) Set(text string) error {
	fields := strings.Split(text, ",")
	for i := range fields {
		if plainNumber.MatchString(fields[i]) {
			fields[i] += w.unit
		}
	}
	return w.Value.Set(strings.Join(fields, ","))
}
