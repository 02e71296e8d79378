package cmd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A getoptFlag is an option as getopt_long takes it.
type getoptFlag struct {
	long  string
	short byte
	value bool // has an argument
}

// getopt takes options from a command line as glibc's getopt_long does: bundled
// letters, long names cut short, options behind operands. It calls take with each
// in turn, and returns the operands. The classic tools act on an option when they
// meet it, and print what glibc prints for a wrong one.
func getopt(program string, flags []getoptFlag, args []string, take func(short byte, value string) error) ([]string, error) {
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

// A getoptError is a wrong option, in glibc's words.
type getoptError struct{ text string }

func (e *getoptError) Error() string { return e.text }

func getoptErrorf(format string, args ...any) error {
	return &getoptError{fmt.Sprintf(format, args...)}
}

func takeLong(program string, flags []getoptFlag, arg string, rest []string, take func(byte, string) error) ([]string, error) {
	name, value, has := strings.Cut(arg, "=")
	var found []getoptFlag
	for _, f := range flags {
		if f.long == name {
			found = []getoptFlag{f}
			break
		}
		if strings.HasPrefix(f.long, name) {
			found = append(found, f)
		}
	}
	switch {
	case len(found) == 0:
		return nil, getoptErrorf("%s: unrecognized option '--%s'", program, arg)
	case len(found) > 1:
		text := fmt.Sprintf("%s: option '--%s' is ambiguous; possibilities:", program, arg)
		for _, f := range found {
			text += " '--" + f.long + "'"
		}
		return nil, &getoptError{text}
	}
	f := found[0]
	switch {
	case f.value && !has && len(rest) == 0:
		return nil, getoptErrorf("%s: option '--%s' requires an argument", program, f.long)
	case f.value && !has:
		value, rest = rest[0], rest[1:]
	case !f.value && has:
		return nil, getoptErrorf("%s: option '--%s' doesn't allow an argument", program, f.long)
	}
	return rest, take(f.short, value)
}

func takeShort(program string, flags []getoptFlag, letters string, rest []string, take func(byte, string) error) ([]string, error) {
	for letters != "" {
		c := letters[0]
		letters = letters[1:]
		var flag *getoptFlag
		for i := range flags {
			if flags[i].short == c {
				flag = &flags[i]
			}
		}
		if flag == nil {
			return nil, getoptErrorf("%s: invalid option -- '%c'", program, c)
		}
		value := ""
		if flag.value {
			switch {
			case letters != "":
				value, letters = letters, ""
			case len(rest) > 0:
				value, rest = rest[0], rest[1:]
			default:
				return nil, getoptErrorf("%s: option requires an argument -- '%c'", program, c)
			}
		}
		if err := take(c, value); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// strtol reads the number that a text begins with, as C's strtol with base 0
// does; 0 where there is none.
func strtol(s string) int {
	s, negative := cutSign(s)
	n := int(min(strtoull(s), math.MaxInt))
	if negative {
		return -n
	}
	return n
}

// strtoull is strtol for numbers of 64 bits.
func strtoull(s string) uint64 {
	s, negative := cutSign(s)
	base := 10
	switch {
	case len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") && strings.IndexByte("0123456789abcdefABCDEF", s[2]) >= 0:
		base, s = 16, s[2:]
	case strings.HasPrefix(s, "0"):
		base = 8
	}
	n := number(s, base)
	if negative {
		return -n
	}
	return n
}

// atoi is strtol with base 10.
func atoi(s string) int {
	s, negative := cutSign(s)
	n := int(min(number(s, 10), math.MaxInt))
	if negative {
		return -n
	}
	return n
}

// cutSign takes blanks and a sign off a number.
func cutSign(s string) (digits string, negative bool) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:], s[0] == '-'
	}
	return s, false
}

// number reads the digits that a text begins with; more than 64 bits are all ones.
func number(s string, base int) uint64 {
	end := strings.IndexFunc(strings.ToLower(s), func(c rune) bool {
		digit := strings.IndexRune("0123456789abcdef", c)
		return digit < 0 || digit >= base
	})
	if end >= 0 {
		s = s[:end]
	}
	n, _ := strconv.ParseUint(s, base, 64) // out of range: the largest; no digits: 0
	return n
}
