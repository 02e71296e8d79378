package cmdutil

import (
	"github.com/spf13/pflag"
)

// FlagRules say which flags of a command have nothing to do with each other, so
// that none is taken and does nothing. They hold for native names: the classic
// tools take anything.
type FlagRules struct {
	Clashes []Clash
	Needs   []Need
}

// A Clash is flags none of which may stand next to any of the others.
type Clash struct{ Flags, Others []string }

// A Need is flags that do nothing without one of the others.
type Need struct{ Flags, Others []string }

// Check returns what is wrong with the flags that were given.
func (r FlagRules) Check(flags *pflag.FlagSet) error {
	for _, c := range r.Clashes {
		if a, b := Given(flags, c.Flags), Given(flags, c.Others); a != "" && b != "" {
			return UsageErrorf("%s and %s exclude each other", a, b)
		}
	}
	for _, n := range r.Needs {
		if a := Given(flags, n.Flags); a != "" && Given(flags, n.Others) == "" {
			return UsageErrorf("%s does nothing without %s", a, FlagName(flags, n.Others[0]))
		}
	}
	return nil
}

// Given returns the first of some flags that was Given, as it is shown to
// people; "": none.
func Given(flags *pflag.FlagSet, names []string) string {
	for _, name := range names {
		if flags.Changed(name) {
			return FlagName(flags, name)
		}
	}
	return ""
}

// FlagName returns a flag as people know it.
func FlagName(flags *pflag.FlagSet, name string) string {
	s := "--" + name
	if f := flags.Lookup(name); f != nil && f.Shorthand != "" {
		s = "-" + f.Shorthand + " (" + s + ")"
	}
	return s
}
