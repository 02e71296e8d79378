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
				// What ibkit has beside an option, as --sim-model beside --sim,
				// takes no abbreviation away. They come in this order.
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
