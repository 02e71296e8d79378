package fabricflag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// PromptKey prompts for a key such as an M_Key without echo. Other users can read the
// command line.
func PromptKey(ctx context.Context, env *cmdutil.Env, name string) (mad.Key, error) {
	stdin := int(os.Stdin.Fd())
	if !term.IsTerminal(stdin) {
		return 0, cmdutil.UsageErrorf("read %s: no terminal for a prompt", name)
	}
	fmt.Fprintf(env.ErrOut, "%s: ", name)
	text, err := readPassword(ctx, stdin)
	fmt.Fprintln(env.ErrOut)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return parseKey(name, string(text))
}

// parseKey parses a key. Errors do not contain it.
func parseKey(name, text string) (mad.Key, error) {
	key, err := strconv.ParseUint(strings.TrimSpace(text), 0, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, cmdutil.UsageErrorf("invalid %s: larger than 64 bits", name)
	case err != nil:
		return 0, cmdutil.UsageErrorf("invalid %s: not a number", name)
	}
	return mad.Key(key), nil
}

// ReadKey returns a key such as an M_Key: a number, the content of a file after @, or the
// answer to a prompt for "-".
func ReadKey(ctx context.Context, env *cmdutil.Env, name, text string) (mad.Key, error) {
	if text == "-" {
		return PromptKey(ctx, env, name)
	}
	if path, isFile := strings.CutPrefix(text, "@"); isFile {
		content, err := readKeyFile(path)
		if err != nil {
			return 0, &cmdutil.UsageError{Err: fmt.Errorf("read %s: %w", name, err)}
		}
		key, err := parseKey(name, string(content))
		if err != nil {
			return 0, &cmdutil.UsageError{Err: fmt.Errorf("read %s: %w", path, err)}
		}
		return key, nil
	}
	key, err := parseKey(name, text)
	return key, cmdutil.WithHint(err, "give a number, @FILE for the content of a file, or - for a prompt")
}

// maxKeyFile is the maximum size of a file with a key in bytes.
const maxKeyFile = 4096

func readKeyFile(path string) ([]byte, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err == nil && len(content) > maxKeyFile {
		err = &textfile.Error{File: path, Err: fmt.Errorf("larger than %d bytes", maxKeyFile)}
	}
	return content, err
}

// ReadClassicKey is [ReadKey] for the tools of infiniband-diags, which prompt for any text that
// is not a number.
func ReadClassicKey(ctx context.Context, env *cmdutil.Env, name, text string) (mad.Key, error) {
	if _, err := strconv.ParseUint(text, 0, 64); err != nil && !strings.HasPrefix(text, "@") {
		return PromptKey(ctx, env, name)
	}
	return ReadKey(ctx, env, name, text)
}

// SMKey returns the SM_Key of a flag, by the rules of [ReadKey], or that of the
// configuration if the flag is empty.
func (s *Settings) SMKey(ctx context.Context, env *cmdutil.Env, flag string) (mad.Key, error) {
	if flag == "" {
		return s.SAKey(), nil
	}
	return ReadKey(ctx, env, "SM_Key", flag)
}

// OptionalKey is [ReadKey], with the key 0 for an empty text.
func OptionalKey(ctx context.Context, env *cmdutil.Env, name, text string) (mad.Key, error) {
	if text == "" {
		return 0, nil
	}
	return ReadKey(ctx, env, name, text)
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
