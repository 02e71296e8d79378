package cmdutil

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// FlagRules are the relations between the flags of a native command. They reject flags
// that would have no effect. The classic tools accept such flags.
type FlagRules struct {
	Clashes []Clash
	Needs   []Need
}

// A Clash is two sets of flags: a flag of one excludes those of the other.
type Clash struct{ Flags, Others []string }

// A Need is flags that have no effect without one of the others.
type Need struct{ Flags, Others []string }

// Check returns an error if the given flags violate a rule.
func (r FlagRules) Check(flags *pflag.FlagSet) error {
	for _, c := range r.Clashes {
		if a, b := firstGiven(flags, c.Flags), firstGiven(flags, c.Others); a != "" && b != "" {
			err := UsageErrorf("%s and %s are mutually exclusive", FlagName(flags, a), FlagName(flags, b))
			return WithHint(err, "give only one: "+flagsHint(flags, a, b))
		}
	}
	for _, n := range r.Needs {
		if a := firstGiven(flags, n.Flags); a != "" && firstGiven(flags, n.Others) == "" {
			err := UsageErrorf("%s has no effect without %s", FlagName(flags, a), anyOf(flags, n.Others))
			return WithHint(err, flagsHint(flags, n.Others...))
		}
	}
	return nil
}

// flagsHint returns the help of the flags that a command has.
func flagsHint(flags *pflag.FlagSet, names ...string) string {
	var all []string
	for _, name := range names {
		if f := flags.Lookup(name); f != nil {
			all = append(all, valueHint(f))
		}
	}
	return strings.Join(all, "; ")
}

// anyOf returns the names of the flags in a set that the command has: --rate or --since.
func anyOf(flags *pflag.FlagSet, set []string) string {
	var names []string
	for _, name := range set {
		if flags.Lookup(name) != nil {
			names = append(names, FlagName(flags, name))
		}
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Given returns the first of some flags that was given, as [FlagName] shows it, or "".
func Given(flags *pflag.FlagSet, names []string) string {
	if name := firstGiven(flags, names); name != "" {
		return FlagName(flags, name)
	}
	return ""
}

// firstGiven returns the first of some flags that was given, or "".
func firstGiven(flags *pflag.FlagSet, names []string) string {
	i := slices.IndexFunc(names, flags.Changed)
	if i < 0 {
		return ""
	}
	return names[i]
}

// FlagName returns a flag with its shorthand, for error messages: -c (--count).
func FlagName(flags *pflag.FlagSet, name string) string {
	s := "--" + name
	if f := flags.Lookup(name); f != nil && f.Shorthand != "" {
		s = "-" + f.Shorthand + " (" + s + ")"
	}
	return s
}

// CheckMode returns an error if a flag was given that has no effect together with the flag
// that selects a mode. applicable are the flags that have one.
func CheckMode(flags *pflag.FlagSet, mode string, applicable map[string]bool) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if !applicable[f.Name] && err == nil {
			err = UsageErrorf("%s has no effect with --%s", FlagName(flags, f.Name), mode)
		}
	})
	return err
}
