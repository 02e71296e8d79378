package fabricflag

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// PromptKey prompts for a key such as an M_Key without echo. Other users can read the
// command line.
func PromptKey(ctx context.Context, env *cmdutil.Env, name string) (uint64, error) {
	stdin := int(os.Stdin.Fd())
	if !term.IsTerminal(stdin) {
		return 0, cmdutil.UsageErrorf("invalid %s: not a number, and no terminal for a prompt", name)
	}
	fmt.Fprintf(env.ErrOut, "%s: ", name)
	text, err := readPassword(ctx, stdin)
	fmt.Fprintln(env.ErrOut)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	key, err := strconv.ParseUint(strings.TrimSpace(string(text)), 0, 64)
	if err != nil {
		return 0, cmdutil.UsageErrorf("invalid %s: not a number", name)
	}
	return key, nil
}

// SMKey returns the SM_Key of a flag, or that of the configuration if the flag is empty. It
// prompts for a key that is not a number.
func (s *Settings) SMKey(ctx context.Context, env *cmdutil.Env, flag string) (uint64, error) {
	if flag == "" {
		return s.SAKey(), nil
	}
	if key, err := strconv.ParseUint(flag, 0, 64); err == nil {
		return key, nil
	}
	return PromptKey(ctx, env, "SM_Key")
}

// readPassword reads a line from a terminal without showing it. It gives up when
// ctx ends, with the terminal as it was before; the read itself cannot be
// stopped and ends with the process.
func readPassword(ctx context.Context, fd int) ([]byte, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}
