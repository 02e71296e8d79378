package cmdutil

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/umad"
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
	silent bool // a node did not reply, or has no active link
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
	f.silent = f.silent || errors.Is(err, umad.ErrTimeout) || errors.Is(err, fabric.ErrNotActive) || errors.Is(err, fabric.ErrNoLID)
	if f.count++; f.count > maxFailures && !f.all {
		return
	}
	printText(f.env, f.from, err)
	if h := cmp.Or(Hint(err), nodesHint(f.from, err)); h != "" && !f.hinted[h] {
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

// Close prints the number of failures beyond the limit, and the next step of native commands for
// nodes without a reply if none is printed. It returns the number of all failures.
func (f *Failures) Close() int {
	if more := f.count - maxFailures; more > 0 && !f.all {
		fmt.Fprintf(f.env.ErrOut, "%s: and %d more (-v shows all)\n", f.from, more)
	}
	if f.silent && len(f.hinted) == 0 && f.env.Commands != nil && !f.env.silentHinted {
		f.env.silentHinted = true
		printHint(f.env, "causes and next steps: ibkit check fabric")
	}
	return f.count
}
