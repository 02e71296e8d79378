package cmdutil

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// formatNames are the flags that select an output format, by the values of --format.
var formatNames = []string{"json", "csv", "plain", "json-lines", "svg"}

// AddFormat adds --format to a command and its subcommands that select an output format by
// flags such as --json and --csv, which stay as short forms. Commands with a --format of
// their own, which has further formats, keep it.
func AddFormat(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		AddFormat(sub)
	}
	flags := cmd.Flags()
	if flags.Lookup("json") == nil || flags.Lookup("format") != nil {
		return
	}
	f := &format{flags: flags, names: []string{"table"}}
	for _, name := range formatNames {
		if flags.Lookup(name) != nil {
			f.names = append(f.names, name)
		}
	}
	flags.Var(f, "format", enumHelp("output `FORMAT`", f.names))
	register(cmd, "format", completeFrom(nil, Constant(f.names...), false))
}

// A format is the value of --format. Setting it sets the flag of the format.
type format struct {
	flags *pflag.FlagSet
	names []string // "table" first
	value string
}

func (f *format) String() string { return f.value }
func (f *format) Type() string   { return "string" }

func (f *format) Set(text string) error {
	name, err := pick(f.names, f.names, text)
	if err != nil {
		return err
	}
	for _, other := range f.names[1:] {
		if f.flags.Changed(other) && other != name {
			return fmt.Errorf("--%s selects another format", other)
		}
	}
	f.value = strings.ToLower(name)
	if name == f.names[0] {
		return nil
	}
	return f.flags.Set(name, "true")
}
