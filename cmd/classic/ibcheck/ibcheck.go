// Package ibcheck implements the scripts ibcheckerrors, ibcheckerrs, ibclearerrors,
// ibclearcounters, ibdatacounters and ibdatacounts from infiniband-diags.
package ibcheck

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// A script describes a script's command line.
type script struct {
	usage   string
	flags   string // option letters without a value
	run     func(context.Context, *command) error
	words   int    // maximum operand count
	instead string // command in the deprecation warning
}

const (
	fileOperand = "[<topology-file> | -C ca_name -P ca_port -t(imeout) timeout_ms]"
	portOperand = "[-C ca_name] [-P ca_port] [-t(imeout) timeout_ms] <lid|guid> [<port>]"
)

var scripts = map[string]*script{
	"ibcheckerrors":   {"[-h] [-b] [-v] [-N | -nocolor] " + fileOperand, "bvN", checkFabric, 1, "ibqueryerrors"},
	"ibcheckerrs":     {`[-h] [-b] [-v] [-G] [-T <threshold_file>] [-s(how_thresholds)] [-N \| -nocolor] ` + portOperand, "bvNGsS", checkOnePort, 2, "ibqueryerrors"},
	"ibclearerrors":   {"[-h] [-N | -nocolor] " + fileOperand, "N", clearFabric, 1, "ibqueryerrors -k"},
	"ibclearcounters": {"[-h] " + fileOperand, "", clearFabric, 1, "ibqueryerrors -K"},
	"ibdatacounters":  {"[-h] [-b] [-v] [-N | -nocolor] " + strings.Replace(fileOperand, "|", `\|`, 1), "bvN", checkFabric, 1, "ibqueryerrors --counters"},
	"ibdatacounts":    {"[-h] [-b] [-v] [-G] [-N | -nocolor] " + portOperand, "bvNGS", checkOnePort, 2, "ibqueryerrors --counters"},
}

// command is a script call.
type command struct {
	*getopt.Diag
	*script
	name string

	mono, verbose, brief bool
	quiet                bool // -S: no deprecation warning
	operands             []string
	thresholds           []threshold
	data                 bool // traffic instead of errors
}

// New returns the script with a name.
func New(name string) func(*cmdutil.Env) *getopt.Tool {
	return func(env *cmdutil.Env) *getopt.Tool {
		c := &command{
			Diag: getopt.NewDiag(env, "ibnetdiscover"), script: scripts[name], name: name,
			thresholds: defaultThresholds(), data: strings.HasPrefix(name, "ibdata"),
		}
		return &getopt.Tool{
			Name: name, Lenient: true,
			Family:  &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: getopt.ExitFailure, FailureCode: getopt.ExitFailure},
			Options: getopt.SimOptions(&c.Settings),
			Run: func(ctx context.Context, args []string) error {
				if err := c.parse(args); err != nil {
					return err
				}
				return c.run(ctx, c)
			},
		}
	}
}

func usage(t *getopt.Tool) string {
	return fmt.Sprintf("Usage: %s %s\n", t.Name, scripts[t.Name].usage)
}

// parse parses the arguments as the scripts do: options are not abbreviated, and an empty
// argument is the last argument.
func (c *command) parse(args []string) error {
	options := c.Options("")
	for len(args) > 0 && args[0] != "" {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "-C" || arg == "-P" || arg == "-t" || arg == "-timeout":
			if len(args) == 0 || args[0] == "" || args[0][0] == '-' {
				return getopt.ErrUsage
			}
			for i := range options {
				if options[i].Short == strings.TrimSuffix(arg, "imeout")[1] {
					if err := options[i].Set(args[0]); err != nil {
						return err
					}
				}
			}
			args = args[1:]
		case arg == "-T" && c.name == "ibcheckerrs":
			if len(args) == 0 {
				return getopt.ErrUsage
			}
			if err := c.readThresholds(args[0]); err != nil {
				return err
			}
			args = args[1:]
		case arg == "-nocolor" && strings.Contains(c.flags, "N"):
			c.mono = true
		case len(arg) == 2 && arg[0] == '-' && strings.Contains(c.flags, arg[1:]):
			if err := c.setFlag(arg[1]); err != nil {
				return err
			}
		case arg[0] == '-':
			return getopt.ErrUsage
		case c.words == 1 && len(c.operands) > 0:
			return getopt.ErrUsage
		default:
			c.operands = append(c.operands, arg)
			if c.words > 1 {
				// The scripts for ports parse no options after an operand.
				c.operands = append(c.operands, args...)
				return nil
			}
		}
	}
	if c.words > 1 && len(c.operands) == 0 {
		return getopt.ErrUsage
	}
	return nil
}

func (c *command) setFlag(letter byte) error {
	switch letter {
	case 'b':
		c.brief, c.verbose = true, false
	case 'v':
		c.verbose, c.brief = true, false
	case 'N':
		c.mono = true
	case 'G':
		c.ByGUID = true
	case 'S':
		c.quiet = true
	case 's':
		for _, t := range c.thresholds {
			fmt.Fprintf(c.Env.Out, "%s=%d\n", t.name, t.limit)
		}
		return &cmdutil.ExitError{Code: cmdutil.ExitOK}
	}
	return nil
}

// warnDeprecated prints the port scripts' warning.
func (c *command) warnDeprecated() {
	if !c.quiet {
		fmt.Fprintf(c.Env.ErrOut, "*** WARNING ***: this command is deprecated; Please use \"%s\"\n\n\n", c.instead)
	}
}

// Colours in script output.
const (
	green  = "\033[1;032m"
	red    = "\033[1;031m"
	blue   = "\033[1;034m"
	normal = "\033[0;39m"
)

// good prints a line end that reports success.
func (c *command) good(out io.Writer, text string) { c.end(out, text, green) }

// bad prints a line end that reports a failure.
func (c *command) bad(out io.Writer) { c.end(out, "FAILED", red) }

func (c *command) end(out io.Writer, text, colour string) {
	if c.mono {
		fmt.Fprintln(out, text)
		return
	}
	fmt.Fprintf(out, "%s %s %s\n", colour, text, normal)
}

// note prints details, unless -b is given.
func (c *command) note(out io.Writer, text string) {
	switch {
	case c.brief:
	case c.mono:
		fmt.Fprint(out, text)
	default:
		fmt.Fprint(out, blue, text, normal)
	}
}
