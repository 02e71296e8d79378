package cmdutil

import (
	"strings"

	"github.com/spf13/pflag"
)

// Abbreviate makes a flag set accept every unambiguous prefix of a long option, as
// getopt_long does. Call it after all flags are declared.
func Abbreviate(flags *pflag.FlagSet) {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	names = append(names, "help")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		var match string
		for _, n := range names {
			switch {
			case n == name:
				return pflag.NormalizedName(name)
			case !strings.HasPrefix(n, name):
			case match != "" && strings.HasPrefix(n, match+"-"):
				// A longer name with the same prefix, such as --sim-model for
				// --sim, does not make an abbreviation ambiguous. Names are in
				// lexical order.
			case match != "":
				return pflag.NormalizedName(name) // ambiguous: unknown
			default:
				match = n
			}
		}
		if match != "" {
			name = match
		}
		return pflag.NormalizedName(name)
	})
}
