// Package nosim has the options for simulated fabrics of the classic names that do not
// use one: those that move data, which a simulated fabric does not carry, and those that
// read files.
package nosim

import (
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// Err is the error of a test on a simulated fabric.
var Err error = simulatedError{}

type simulatedError struct{}

func (simulatedError) Error() string { return "use a simulated fabric: it carries no data to measure" }

// Hint returns the alternative.
func (simulatedError) Hint() string {
	return "ibkit link add rxe0 --type rxe --netdev NAME creates a software device; ibkit ping and ibkit linkinfo accept --sim"
}

// ErrFiles is the error of a tool that reads files instead of a fabric.
var ErrFiles error = filesError{}

type filesError struct{}

func (filesError) Error() string { return "use a simulated fabric: the command reads files only" }

// Hint returns the alternative.
func (filesError) Hint() string {
	return "ibnetdiscover --cache FILE and dump_fts accept --sim and write such files"
}

// Options accept the options for simulated fabrics of the other classic names, so
// that a script that adds them to each command fails with an explanation. They set
// given.
func Options(given *bool) []getopt.Option {
	list := getopt.SimOptions(new(fabricflag.Settings))
	for i := range list {
		list[i].Unlisted = true
		list[i].Set = getopt.True(given)
	}
	return list
}
