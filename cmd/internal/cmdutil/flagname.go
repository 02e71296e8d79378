package cmdutil

import (
	"strings"

	"github.com/spf13/pflag"
)

// otherNames are names of flags that all native commands accept in place of their own:
// those of the classic tools, and a longer form.
var otherNames = map[string]string{
	"Hca-list":      "cas",
	"Router-list":   "routers",
	"Switch-list":   "switches",
	"all-cas":       "cas",
	"all-switches":  "switches",
	"cas-only":      "cas",
	"switches-only": "switches",
}

// flagName returns the name of a flag as its command declares it. Names of the classic
// tools have underscores, those of native commands dashes.
func flagName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	if other, found := otherNames[name]; found {
		name = other
	}
	return pflag.NormalizedName(name)
}
