package cmdutil

import (
	"cmp"
	"fmt"
)

// maxFailures is the number of failures that are printed one by one without -v.
const maxFailures = 20

// Failures prints the failures of a command that did a part of its work: a line for each,
// up to a limit, and each hint once.
type Failures struct {
	env    *Env
	from   string
	all    bool
	count  int
	usage  int // mistakes of the user
	hinted map[string]bool
}

// NewFailures returns an empty list. from is in front of each line. all is set if there is
// no limit (-v).
func NewFailures(env *Env, from string, all bool) *Failures {
	return &Failures{env: env, from: from, all: all, hinted: map[string]bool{}}
}

// Print prints a failure, if it is within the limit.
func (f *Failures) Print(err error) {
	if isUsage(err) {
		f.usage++
	}
	if f.count++; f.count > maxFailures && !f.all {
		return
	}
	printText(f.env, f.from, err)
	if h := cmp.Or(Hint(err), nodesHint(f.from, err)); !f.hinted[h] {
		f.hinted[h] = true
		printHint(f.env, h)
	}
}

// Code returns the exit code of a command that did nothing else: that of usage errors if all
// failures are.
func (f *Failures) Code() int {
	if f.count > 0 && f.usage == f.count {
		return ExitUsage
	}
	return ExitFailed
}

// Close prints the number of failures beyond the limit, and returns the number of all.
func (f *Failures) Close() int {
	if more := f.count - maxFailures; more > 0 && !f.all {
		fmt.Fprintf(f.env.ErrOut, "%s: and %d more (-v shows all)\n", f.from, more)
	}
	return f.count
}
