package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit codes of the native names.
const (
	exitOK       = 0
	exitFailed   = 1 // could not do the work
	exitUsage    = 2
	exitFindings = 3 // did the work and found something wrong
	exitPartial  = 4 // did a part of the work
)

// A usageError is a mistake in how the command was called, or in a file that
// the user wrote.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usageErrorf(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// An outcome is an exit code other than 0 of a command that has said what there
// is to say; err, where set, is still to be printed.
type outcome struct {
	code int
	err  error
}

func (o *outcome) Error() string {
	if o.err == nil {
		return fmt.Sprintf("exit code %d", o.code)
	}
	return o.err.Error()
}

func (o *outcome) Unwrap() error { return o.err }

// outcomeOf is the exit code of a native command that did its work: partial
// results come before findings, for what is missing may be worse.
func outcomeOf(partial, findings bool) error {
	switch {
	case partial:
		return &outcome{code: exitPartial}
	case findings:
		return &outcome{code: exitFindings}
	}
	return nil
}

// report prints the error of a command, if any, and returns the exit code.
// All exit codes are made here.
func report(env *environment, cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	var o *outcome
	if errors.As(err, &o) {
		if o.err != nil {
			complain(env, cmd, o.err)
		}
		return o.code
	}
	complain(env, cmd, err)
	var usage *usageError
	if errors.As(err, &usage) || cmd == cmd.Root() {
		return exitUsage
	}
	return exitFailed
}

// complain prints the error that ended a command.
func complain(env *environment, cmd *cobra.Command, err error) { say(env, cmd.CommandPath(), err) }

// say prints an error behind who or what it is from, and below it what a user
// can do.
func say(env *environment, from string, err error) {
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted: %w", err)
	}
	fmt.Fprintf(env.err, "%s: %v\n", from, err)
	if h := hint(err); h != "" {
		fmt.Fprintf(env.err, "hint: %s\n", h)
	}
}

// hint returns what an error suggests to do, "" where it suggests nothing.
func hint(err error) string {
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		return hinter.Hint()
	}
	return ""
}
