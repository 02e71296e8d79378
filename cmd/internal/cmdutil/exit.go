package cmdutil

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/report"
)

// Exit codes of the native names.
const (
	ExitOK       = 0
	ExitFailed   = 1 // could not do the work
	ExitUsage    = 2
	ExitFindings = 3 // did the work and found something wrong
	ExitPartial  = 4 // did a part of the work
)

// A UsageError is a mistake in how the command was called, or in a file that
// the user wrote.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// UsageErrorf returns a [UsageError] with a formatted text.
func UsageErrorf(format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...)}
}

// An ExitError is an exit code of a command that has printed its errors already, except
// for Err if that is not nil.
type ExitError struct {
	Code int
	Err  error
}

func (o *ExitError) Error() string {
	if o.Err == nil {
		return fmt.Sprintf("exit code %d", o.Code)
	}
	return o.Err.Error()
}

func (o *ExitError) Unwrap() error { return o.Err }

// ResultError returns the exit code of a native command that did its work. A partial
// result takes precedence over findings, as the missing part may be worse.
func ResultError(partial, findings bool) error {
	switch {
	case partial:
		return &ExitError{Code: ExitPartial}
	case findings:
		return &ExitError{Code: ExitFindings}
	}
	return nil
}

// HeadError returns the exit code that follows from the head of a document.
func HeadError(h *report.Head) error { return ResultError(h.Partial, h.HasProblem()) }

// ExitCode prints the error of a command, if any, and returns the exit code. from is the
// command, in front of the message. All exit codes are determined here.
func ExitCode(env *Env, from string, err error) int {
	if err == nil {
		err = env.outputError()
	}
	if err == nil {
		return ExitOK
	}
	var o *ExitError
	if errors.As(err, &o) {
		if o.Err != nil {
			PrintError(env, from, o.Err)
		}
		if o.Code == ExitFindings || o.Code == ExitPartial {
			if failed := env.outputError(); failed != nil { // the result is lost
				if o.Err == nil && !env.outputReported() {
					PrintError(env, from, failed)
				}
				return ExitFailed
			}
		}
		return o.Code
	}
	PrintError(env, from, err)
	if isUsage(err) {
		return ExitUsage
	}
	return ExitFailed
}

// isUsage reports whether an error is a mistake of the user. A LID that no port can have is
// one, although it does not stop the other targets of a command.
func isUsage(err error) bool {
	var usage *UsageError
	var lid *lookup.LIDError
	return (errors.As(err, &usage) || errors.As(err, &lid)) && !errors.Is(err, context.Canceled)
}

// PrintError prints an error with its origin in front of each line and its hint below.
func PrintError(env *Env, from string, err error) {
	printText(env, from, err)
	printMissing(env, err)
	printHint(env, cmp.Or(Hint(err), nodesHint(from, err)))
}

// nodesHint returns advice of native commands for a name that no node has, if the error has
// no other.
func nodesHint(from string, err error) string {
	not, ok := errors.AsType[*lookup.NotFoundError](err)
	if ok && not.Address.Kind == lookup.Name && strings.HasPrefix(from, "ibkit ") {
		return "list all nodes: ibkit topology --nodes"
	}
	return ""
}

func printText(env *Env, from string, err error) {
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("interrupted: %w", err)
	}
	if output, ok := errors.AsType[*OutputError](err); ok {
		err = output // without the step of the command
		env.reportOutput()
	}
	for line := range strings.SplitSeq(err.Error(), "\n") { // of joined errors
		fmt.Fprintf(env.ErrOut, "%s: %s\n", from, Message(line))
	}
}

func printHint(env *Env, hint string) {
	if hint != "" {
		fmt.Fprintf(env.ErrOut, "hint: %s\n", env.NextStep(hint))
	}
}

// Visible returns a text with escapes in place of control characters and invalid UTF-8:
// names in messages may come from files and devices.
func Visible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isHidden) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isHidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// The parts of a word that Message keeps, in characters.
const (
	maxWord  = 200
	wordHead = 60
	wordTail = 30
)

// Message returns a line of an error: [Visible], and without the middle of very long words.
// Texts in messages may come from files and command lines of any size.
func Message(line string) string {
	words := strings.Split(Visible(line), " ")
	for i, word := range words {
		if r := []rune(word); len(r) > maxWord {
			words[i] = string(r[:wordHead]) + "…" + string(r[len(r)-wordTail:])
		}
	}
	return strings.Join(words, " ")
}

// isHidden reports whether a character controls the terminal, or cannot be seen and may
// change the order of others, as U+202E does.
func isHidden(r rune) bool { return !unicode.IsPrint(r) }

// A hintedError is an error with a hint.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// Hint returns the hint.
func (e *hintedError) Hint() string { return e.hint }

// WithHint adds a hint to an error. A hint of the error itself takes precedence.
func WithHint(err error, hint string) error {
	if err == nil || Hint(err) != "" {
		return err
	}
	return &hintedError{err, hint}
}

// Hint returns the advice of an error, or "".
func Hint(err error) string {
	if errors.Is(err, fabric.ErrLinkDown) {
		return "check the cable and the port at its other end: ibkit doctor; -C and -P select another local port"
	}
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		return hinter.Hint()
	}
	return deviceHint(err)
}
