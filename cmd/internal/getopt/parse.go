package getopt

import (
	"fmt"
	"slices"
	"strings"
)

// An invalidOption is a command line that getopt_long rejects. The text is glibc's.
type invalidOption struct{ text string }

func (e *invalidOption) Error() string { return e.text }

func invalidf(format string, args ...any) error {
	return &invalidOption{fmt.Sprintf(format, args...)}
}

// parse parses a command line by the rules of glibc's getopt_long: bundled letters,
// abbreviated long names, options after operands. It calls each option's Set in turn, and
// returns the operands.
func parse(t *Tool, args []string) ([]string, error) {
	if t.Std {
		return parseStd(t, args)
	}
	program, options := t.Name, t.Options
	var operands []string
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case t.Lenient && (!strings.HasPrefix(name, "--") || len(findLong(options, name[2:])) == 0):
			operands = append(operands, arg)
		case arg == "--":
			return append(operands, args...), nil
		case strings.HasPrefix(arg, "--"):
			args, err = parseLong(program, options, arg[2:], args)
		case len(arg) > 1 && arg[0] == '-':
			args, err = parseShort(program, options, arg[1:], args)
		default:
			operands = append(operands, arg)
		}
		if err != nil {
			return nil, err
		}
	}
	return operands, nil
}

func parseLong(program string, options []Option, arg string, rest []string) ([]string, error) {
	name, value, hasValue := strings.Cut(arg, "=")
	found := findLong(options, name)
	switch {
	case len(found) == 0 && !slices.ContainsFunc(options, isLong): // getopt reads the second hyphen as an option
		return nil, invalidf("%s: invalid option -- '-'", program)
	case len(found) == 0:
		return nil, invalidf("%s: unrecognized option '--%s'", program, arg)
	case len(found) > 1:
		text := fmt.Sprintf("%s: option '--%s' is ambiguous; possibilities:", program, arg)
		for _, o := range found {
			text += " '--" + o.Long + "'"
		}
		return nil, &invalidOption{text}
	}
	o := found[0]
	switch {
	case o.Arg != "" && !hasValue && len(rest) == 0:
		return nil, invalidf("%s: option '--%s' requires an argument", program, o.Long)
	case o.Arg != "" && !hasValue:
		value, rest = rest[0], rest[1:]
	case o.Arg == "" && hasValue:
		return nil, invalidf("%s: option '--%s' doesn't allow an argument", program, o.Long)
	}
	return rest, o.set(value)
}

// isLong reports whether the C tool has a long form for an option.
func isLong(o Option) bool { return o.Long != "" && !o.Extension }

// findLong returns the options that a name stands for: the option with that name, or the
// options with names that begin with it. Extensions have no abbreviations, so that the
// original options' abbreviations stay unambiguous.
func findLong(options []Option, name string) []*Option {
	var found []*Option
	for i := range options {
		o := &options[i]
		switch {
		case o.Long == name:
			return []*Option{o}
		case !o.Extension && strings.HasPrefix(o.Long, name):
			found = append(found, o)
		}
	}
	return found
}

func parseShort(program string, options []Option, letters string, rest []string) ([]string, error) {
	for letters != "" {
		c := letters[0]
		letters = letters[1:]
		var option *Option
		for i := range options {
			if options[i].Short == c {
				option = &options[i]
			}
		}
		if option == nil {
			return nil, invalidf("%s: invalid option -- '%c'", program, c)
		}
		value := ""
		if option.Arg != "" {
			switch {
			case letters != "":
				value, letters = letters, ""
			case len(rest) > 0:
				value, rest = rest[0], rest[1:]
			default:
				return nil, invalidf("%s: option requires an argument -- '%c'", program, c)
			}
		}
		if err := option.set(value); err != nil {
			return nil, err
		}
	}
	return rest, nil
}
