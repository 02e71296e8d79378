// Package getopt declares and runs classic tools: command lines by the rules of
// glibc's getopt_long, usage texts and exit codes as the original tools have them.
package getopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// ExitFailure is a program's exit code if main returns -1.
const ExitFailure = 255

// An Option is a classic tool option.
type Option struct {
	Long  string // without dashes
	Short byte   // 0 for an option without a letter
	Arg   string // value name; "": the option has no value
	Help  string

	// Set acts on the option. [ErrUsage] ends the call with the usage text,
	// [ErrStop] ends only the parsing; other errors end the call.
	Set func(value string) error

	// Extension marks an option that the original tool does not have. It is not in
	// the usage text and has no abbreviations.
	Extension bool

	// Unlisted marks an option that the tool accepts but does not list in its usage
	// text.
	Unlisted bool

	Complete cmdutil.Values // values for shells; may be nil
}

// ErrStop ends command line parsing: the tool runs with the options so far.
var ErrStop = errors.New("stop parsing")

// ErrUsage ends a call with the usage text and the exit code that the tool has for
// invalid options.
var ErrUsage = &UsageError{}

// A UsageError ends a call with the usage text.
type UsageError struct {
	Code int // exit code; 0: the code for invalid options
}

func (e *UsageError) Error() string { return "print the usage text" }

// set acts on the option. An error gets the option's names, unless the exit code or the
// output is fixed already.
func (o *Option) set(value string) error {
	err := o.Set(value)
	var exit *cmdutil.ExitError
	var usage *UsageError
	if err == nil || errors.Is(err, ErrStop) || errors.As(err, &exit) || errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("%s: %w", o.names(), err)
}

// names returns "-s, --size".
func (o *Option) names() string {
	switch {
	case o.Short == 0:
		return "--" + o.Long
	case o.Long == "":
		return "-" + string(o.Short)
	}
	return fmt.Sprintf("-%c, --%s", o.Short, o.Long)
}

// A Tool is a classic tool.
type Tool struct {
	Name     string
	Family   *Family
	About    string   // a line about the tool, for usage texts that have such a line
	Operands string   // as in the usage text
	Examples []string // command lines without the name
	Options  []Option

	// FailureCode is the exit code for other errors; 0: the family's code.
	FailureCode int

	// Std parses the options by the rules of Perl's Getopt::Std.
	Std bool

	// Lenient makes unknown options operands, for tools that parse no options.
	Lenient bool

	// Run runs the tool after the options have been set. Its error goes to standard
	// error; the exit code comes from the family.
	Run func(ctx context.Context, operands []string) error
}

// A Family is the conventions that a project's tools share.
type Family struct {
	// Usage returns the usage text.
	Usage func(*Tool) string
	// UsageToOut prints the usage text on standard output.
	UsageToOut bool
	// NoUsageForInvalid prints no usage text after an invalid option.
	NoUsageForInvalid bool
	// UsageCode is the exit code after the usage text and for invalid options.
	UsageCode int
	// FailureCode is the exit code for all other errors.
	FailureCode int
}

// Execute parses a command line and runs the tool.
func (t *Tool) Execute(ctx context.Context, env *cmdutil.Env, args []string) error {
	operands, err := parse(t, args)
	if err == nil || errors.Is(err, ErrStop) {
		err = t.Run(ctx, operands)
	}
	var invalid *invalidOption
	var usage *UsageError
	var exit *cmdutil.ExitError
	switch {
	case errors.As(err, &invalid):
		fmt.Fprintln(env.ErrOut, invalid)
		if t.Family.NoUsageForInvalid {
			return &cmdutil.ExitError{Code: t.Family.UsageCode}
		}
		return t.printUsage(env, ErrUsage)
	case errors.As(err, &usage):
		return t.printUsage(env, usage)
	case err == nil || errors.As(err, &exit):
		return err
	}
	return &cmdutil.ExitError{Code: cmp.Or(t.FailureCode, t.Family.FailureCode), Err: err}
}

func (t *Tool) printUsage(env *cmdutil.Env, e *UsageError) error {
	w := env.ErrOut
	if t.Family.UsageToOut {
		w = env.Out
	}
	exit := &cmdutil.ExitError{Code: cmp.Or(e.Code, t.Family.UsageCode)}
	if _, err := io.WriteString(w, t.Family.Usage(t)); err != nil {
		exit.Err = fmt.Errorf("write output: %w", err)
	}
	return exit
}

// True returns a Set that sets a variable to true.
func True(to *bool) func(string) error {
	return func(string) error {
		*to = true
		return nil
	}
}

// Text returns a Set that stores the value.
func Text(to *string) func(string) error {
	return func(value string) error {
		*to = value
		return nil
	}
}

// Count returns a Set that counts how often the option is given.
func Count(to *int) func(string) error {
	return func(string) error {
		*to++
		return nil
	}
}

// Ignore is a Set for an option without effect.
func Ignore(string) error { return nil }

// Usage is a Set for an option that prints the usage text.
func Usage(string) error { return ErrUsage }
