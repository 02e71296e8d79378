// Package getopt parses command lines as glibc's getopt_long does, with the options
// that the tools of infiniband-diags share.
package getopt

import (
	"fmt"
	"strings"
)

// ExitFailure is the exit code of main's return -1.
const ExitFailure = 255

// A Option is an option as getopt_long takes it.
type Option struct {
	Long     string
	Short    byte
	HasValue bool // has an argument
}

// Parse takes options from a command line as glibc's getopt_long does: bundled
// letters, long names cut short, options behind operands. It calls take with each
// in turn, and returns the operands. The classic tools act on an option when they
// meet it, and print what glibc prints for a wrong one.
func Parse(program string, flags []Option, args []string, take func(short byte, value string) error) ([]string, error) {
	var operands []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			return append(operands, args...), nil
		case strings.HasPrefix(arg, "--"):
			args, err = takeLong(program, flags, arg[2:], args, take)
		case len(arg) > 1 && arg[0] == '-':
			args, err = takeShort(program, flags, arg[1:], args, take)
		default:
			operands = append(operands, arg)
		}
		if err != nil {
			return nil, err
		}
	}
	return operands, nil
}

// A Error is a wrong option, in glibc's words.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

func errorf(format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...)}
}

func takeLong(program string, flags []Option, arg string, rest []string, take func(byte, string) error) ([]string, error) {
	name, value, has := strings.Cut(arg, "=")
	var found []Option
	for _, f := range flags {
		if f.Long == name {
			found = []Option{f}
			break
		}
		if strings.HasPrefix(f.Long, name) {
			found = append(found, f)
		}
	}
	switch {
	case len(found) == 0:
		return nil, errorf("%s: unrecognized option '--%s'", program, arg)
	case len(found) > 1:
		text := fmt.Sprintf("%s: option '--%s' is ambiguous; possibilities:", program, arg)
		for _, f := range found {
			text += " '--" + f.Long + "'"
		}
		return nil, &Error{text}
	}
	f := found[0]
	switch {
	case f.HasValue && !has && len(rest) == 0:
		return nil, errorf("%s: option '--%s' requires an argument", program, f.Long)
	case f.HasValue && !has:
		value, rest = rest[0], rest[1:]
	case !f.HasValue && has:
		return nil, errorf("%s: option '--%s' doesn't allow an argument", program, f.Long)
	}
	return rest, take(f.Short, value)
}

func takeShort(program string, flags []Option, letters string, rest []string, take func(byte, string) error) ([]string, error) {
	for letters != "" {
		c := letters[0]
		letters = letters[1:]
		var flag *Option
		for i := range flags {
			if flags[i].Short == c {
				flag = &flags[i]
			}
		}
		if flag == nil {
			return nil, errorf("%s: invalid option -- '%c'", program, c)
		}
		value := ""
		if flag.HasValue {
			switch {
			case letters != "":
				value, letters = letters, ""
			case len(rest) > 0:
				value, rest = rest[0], rest[1:]
			default:
				return nil, errorf("%s: option requires an argument -- '%c'", program, c)
			}
		}
		if err := take(c, value); err != nil {
			return nil, err
		}
	}
	return rest, nil
}
