package cmd

import (
	"github.com/spf13/pflag"
)

// flagRules say which flags of a command have nothing to do with each other, so
// that none is taken and does nothing. They hold for native names: the classic
// tools take anything.
type flagRules struct {
	clashes []clash
	needs   []need
}

// A clash is flags none of which may stand next to any of the others.
type clash struct{ flags, others []string }

// A need is flags that do nothing without one of the others.
type need struct{ flags, others []string }

// check returns what is wrong with the flags that were given.
func (r flagRules) check(flags *pflag.FlagSet) error {
	for _, c := range r.clashes {
		if a, b := given(flags, c.flags), given(flags, c.others); a != "" && b != "" {
			return usageErrorf("%s and %s exclude each other", a, b)
		}
	}
	for _, n := range r.needs {
		if a := given(flags, n.flags); a != "" && given(flags, n.others) == "" {
			return usageErrorf("%s does nothing without %s", a, shown(flags, n.others[0]))
		}
	}
	return nil
}

// given returns the first of some flags that was given, as it is shown to
// people; "": none.
func given(flags *pflag.FlagSet, names []string) string {
	for _, name := range names {
		if flags.Changed(name) {
			return shown(flags, name)
		}
	}
	return ""
}

// shown returns a flag as people know it.
func shown(flags *pflag.FlagSet, name string) string {
	s := "--" + name
	if f := flags.Lookup(name); f != nil && f.Shorthand != "" {
		s = "-" + f.Shorthand + " (" + s + ")"
	}
	return s
}
