package cmdutil

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// A missingError reports that a command line lacks what its command requires.
type missingError struct {
	operand  string
	synopsis string // from [Execute]; printed below the message
}

func (e *missingError) Error() string { return "no " + e.operand + " given" }

// Missing returns the usage error for a command without its operand, for example "no
// target given". [Execute] adds the synopsis of the command.
func Missing(operand string) error { return &UsageError{&missingError{operand: operand}} }

// withSynopsis completes the error of [Missing].
func withSynopsis(cmd *cobra.Command, err error) error {
	missing, ok := errors.AsType[*missingError](err)
	if !ok {
		return err
	}
	var b strings.Builder
	printSynopsis(&b, cmd, firstExamples(cmd.Example))
	missing.synopsis = b.String() + "\n"
	return WithHint(err, "all flags and examples: "+cmd.CommandPath()+" --help")
}

// maxExamples is the number of examples in a synopsis.
const maxExamples = 2

// firstExamples returns the beginning of the examples of a command.
func firstExamples(examples string) string {
	parts := strings.Split(examples, "\n\n")
	return strings.Join(parts[:min(len(parts), maxExamples)], "\n\n")
}

func printMissing(env *Env, err error) {
	if missing, ok := errors.AsType[*missingError](err); ok {
		fmt.Fprint(env.ErrOut, missing.synopsis)
	}
}
