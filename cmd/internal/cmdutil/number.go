package cmdutil

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// A NumberRange is the smallest and the largest value of a flag.
type NumberRange struct{ Least, Most uint8 }

// NumberFlag declares a flag whose value is a number in a range, decimal, hexadecimal or
// octal as in other flags. The value of to is the default. Errors name the range, whatever
// the text is.
func NumberFlag(flags *pflag.FlagSet, to *uint8, name string, in NumberRange, usage string) {
	flags.Var(&number{to, in}, name, usage)
}

// A number is the value of a [NumberFlag].
type number struct {
	to *uint8
	in NumberRange
}

func (n *number) String() string { return strconv.Itoa(int(*n.to)) }
func (n *number) Type() string   { return "uint8" }

func (n *number) Set(text string) error {
	v, err := strconv.ParseUint(text, 0, 8)
	if err != nil || uint8(v) < n.in.Least || uint8(v) > n.in.Most {
		return fmt.Errorf("want %d to %d", n.in.Least, n.in.Most)
	}
	*n.to = uint8(v)
	return nil
}
