package perftest

import (
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// simulatedError is the error of a test on a simulated fabric.
type simulatedError struct{}

func (simulatedError) Error() string { return "use a simulated fabric: it carries no data to measure" }

// Hint returns the alternative.
func (simulatedError) Hint() string {
	return "rdma link add rxe0 type rxe netdev NAME creates a software device; ibkit ping and ibkit linkinfo accept --sim"
}

var errSimulated = simulatedError{}

// simOptions accept the options for simulated fabrics of the other classic names, so
// that a script that adds them to each command fails with an explanation.
func (c *command) simOptions() []getopt.Option {
	list := getopt.SimOptions(new(fabricflag.Settings))
	for i := range list {
		list[i].Unlisted = true
		list[i].Set = func(string) error {
			c.sim = true
			return nil
		}
	}
	return list
}
