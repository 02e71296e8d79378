package cmdutil

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// maxHelp is the width of a line in the help text of a flag.
const maxHelp = 70

// EnumFlag declares a flag whose value is one of a set. The values appear in the help
// text, in errors and in completions. Case does not matter; to gets the value as in
// the set.
func EnumFlag(cmd *cobra.Command, to *string, name, short, value string, values []string, usage string) {
	*to = value
	cmd.Flags().VarP(&enum{to, values}, name, short, enumHelp(usage, values))
	register(cmd, name, completeFrom(nil, Constant(values...), false))
}

// EnumListFlag declares a flag whose value is a comma-separated list of values of a
// set. Values with a description behind a tab do not appear in the help text.
func EnumListFlag(cmd *cobra.Command, to *[]string, name, short string, values []string, usage string) {
	names := make([]string, len(values))
	described := false
	for i, v := range values {
		var about string
		names[i], about, _ = strings.Cut(v, "\t")
		described = described || about != ""
	}
	if !described {
		usage = enumHelp(usage, values)
	}
	cmd.Flags().VarP(&enumList{to: to, values: names}, name, short, usage)
	register(cmd, name, completeFrom(nil, Constant(values...), true))
}

// enumHelp returns a help text with the values, in several lines if there are many.
func enumHelp(usage string, values []string) string {
	text, width := usage+":", len(usage)+1
	for i, v := range values {
		if i < len(values)-1 {
			v += ","
		}
		if width+1+len(v) > maxHelp {
			text += "\n" + v
			width = len(v)
		} else {
			text += " " + v
			width += 1 + len(v)
		}
	}
	return text
}

// pick returns the value of a set that a text stands for.
func pick(values []string, text string) (string, error) {
	i := slices.IndexFunc(values, func(v string) bool { return strings.EqualFold(v, text) })
	if i < 0 {
		return "", fmt.Errorf("want one of %s", strings.Join(values, ", "))
	}
	return values[i], nil
}

// An enum is the value of an [EnumFlag].
type enum struct {
	to     *string
	values []string
}

func (e *enum) String() string { return *e.to }
func (e *enum) Type() string   { return "string" }

func (e *enum) Set(text string) (err error) {
	v, err := pick(e.values, text)
	if err == nil {
		*e.to = v
	}
	return err
}

// An enumList is the value of an [EnumListFlag]. The first Set replaces the default.
type enumList struct {
	to     *[]string
	values []string
	set    bool
}

func (e *enumList) String() string { return strings.Join(*e.to, ",") }
func (e *enumList) Type() string   { return "stringSlice" }

func (e *enumList) Set(text string) error {
	var list []string
	for field := range strings.SplitSeq(text, ",") {
		v, err := pick(e.values, field)
		if err != nil {
			if field == text {
				return err // the error of the flag has the text
			}
			return fmt.Errorf("%q: %w", field, err)
		}
		list = append(list, v)
	}
	if !e.set {
		*e.to, e.set = nil, true
	}
	*e.to = append(*e.to, list...)
	return nil
}
