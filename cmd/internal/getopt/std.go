package getopt

import (
	"errors"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// parseStd parses a command line by the rules of Perl's Getopt::Std: bundled letters up
// to the first operand. It reports all unknown options together. Extensions have long
// names and may come anywhere.
func parseStd(t *Tool, args []string) ([]string, error) {
	args, err := t.parseExtensions(args)
	if err != nil {
		return nil, err
	}
	var unknown []string
	usage := false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		letters := args[0][1:]
		args = args[1:]
		if letters == "-" {
			break
		}
		for letters != "" {
			o := t.byLetter(letters[0])
			if o == nil {
				unknown = append(unknown, "Unknown option: "+letters[:1])
				letters = letters[1:]
				continue
			}
			value := ""
			letters = letters[1:]
			switch {
			case o.Arg == "":
			case letters != "":
				value, letters = letters, ""
			case len(args) > 0:
				value, args = args[0], args[1:]
			default:
				usage = true
				continue
			}
			if err := o.set(value); errors.Is(err, ErrUsage) {
				usage = true
			} else if err != nil {
				return nil, err
			}
		}
	}
	switch {
	case unknown != nil:
		return nil, &invalidOption{strings.Join(unknown, "\n")}
	case usage:
		return nil, ErrUsage
	}
	return args, nil
}

// parseExtensions sets a command line's extensions and returns the other arguments.
func (t *Tool) parseExtensions(args []string) (others []string, err error) {
	for len(args) > 0 && err == nil {
		arg := args[0]
		args = args[1:]
		name, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(name, "--") && len(name) > 2 && len(findLong(t.Options, name[2:])) > 0 {
			args, err = parseLong(t.Name, t.Options, arg[2:], args)
		} else {
			others = append(others, arg)
		}
	}
	return others, err
}

// byLetter returns the option with a letter, or nil.
func (t *Tool) byLetter(letter byte) *Option {
	for i := range t.Options {
		if o := &t.Options[i]; o.Short == letter {
			return o
		}
	}
	return nil
}

// StdOptions are the options that infiniband-diags scripts share. An empty
// value has no effect.
func (d *Diag) StdOptions() []Option {
	given := func(set func(string) error) func(string) error {
		return func(value string) error {
			if value == "" {
				return nil
			}
			return set(value)
		}
	}
	return append([]Option{
		{Short: 'C', Arg: "<ca_name>", Help: "Ca name to use", Set: given(d.setDevice), Complete: cmdutil.DeviceNames},
		{Short: 'P', Arg: "<ca_port>", Help: "Ca port number to use", Set: given(d.setPort), Complete: cmdutil.PortNumbers},
		{Short: 'h', Help: "help message", Set: Usage},
	}, SimOptions(&d.Settings)...)
}
