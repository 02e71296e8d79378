package cmdutil

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrNotConfirmed is the error of [Confirm] for an answer other than yes.
var ErrNotConfirmed = errors.New("not confirmed")

// CheckConfirm returns the error of [Confirm] for an input that is not a terminal, which
// requires the flag --yes instead.
func CheckConfirm(env *Env) error {
	_, err := terminal(env)
	return err
}

// terminal returns the input if it is a terminal.
func terminal(env *Env) (*os.File, error) {
	in, ok := env.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil, UsageErrorf("not confirmed: standard input is not a terminal; use --yes")
	}
	return in, nil
}

// Confirm prints a question on standard error, and returns an error unless the answer
// is yes.
func Confirm(ctx context.Context, env *Env, question string) error {
	in, err := terminal(env)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.ErrOut, "%s [y/N] ", question)
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1) // the read cannot be stopped and ends with the process
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		read <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(env.ErrOut)
		return ctx.Err()
	case a := <-read:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return fmt.Errorf("read answer: %w", a.err)
		}
		if text := strings.ToLower(strings.TrimSpace(a.text)); text != "y" && text != "yes" {
			return ErrNotConfirmed
		}
	}
	return nil
}
