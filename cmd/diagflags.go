package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// diagOptions are the options that the tools of infiniband-diags have in common
// (ibdiag_common.c). Each tool leaves some out.
var diagOptions = []getoptFlag{
	{"config", 'z', true},
	{"Ca", 'C', true},
	{"Port", 'P', true},
	{"Direct", 'D', false},
	{"Lid", 'L', false},
	{"Guid", 'G', false},
	{"timeout", 't', true},
	{"sm_port", 's', true},
	{"show_keys", 'K', false},
	{"m_key", 'y', true},
	{"errors", 'e', false},
	{"verbose", 'v', false},
	{"debug", 'd', false},
	{"help", 'h', false},
	{"version", 'V', false},
}

// diagFlags are what those options say.
type diagFlags struct {
	fabricFlags
	byGUID, direct bool // what the operand is; neither: a LID
	debug          int
}

// parse reads the command line of a tool that has options of its own and is
// without those in excluded. It returns the operands, or an outcome where the
// command line leaves nothing to do: the usage, or the version.
func (d *diagFlags) parse(env *environment, tool, usage, excluded string, own []getoptFlag, args []string, take func(short byte, value string) error) ([]string, error) {
	flags := pflag.NewFlagSet(tool, pflag.ContinueOnError)
	d.define(flags)
	options := own
	long := map[byte]string{}
	for _, o := range diagOptions {
		if !strings.ContainsRune(excluded, rune(o.short)) {
			options = append(options, o)
			long[o.short] = o.long
		}
	}
	// The tools end at the option that says so.
	end := &outcome{}
	operands, err := getopt(tool, options, args, func(short byte, value string) error {
		if long[short] == "" {
			return take(short, value)
		}
		switch short {
		case 'D':
			d.direct, d.byGUID = true, false
		case 'L':
			d.direct, d.byGUID = false, false
		case 'G':
			d.direct, d.byGUID = false, true
		case 'K': // shows what is not shown here
		case 'e':
			d.errors = true
		case 'd':
			d.debug++
			d.errors = true
		case 'v':
			d.verbose++
		case 'h':
			end.code = exitUsage
			return end
		case 'V':
			fmt.Fprintf(env.err, "%s BUILD VERSION: %s\n", tool, version())
			end.code = exitOK
			return end
		default:
			if err := flags.Set(long[short], value); err != nil {
				return &outcome{code: classicFailure, err: err}
			}
		}
		return nil
	})
	var wrong *getoptError
	if errors.As(err, &wrong) {
		fmt.Fprintln(env.err, err)
		end.code, err = exitUsage, end
	}
	if errors.Is(err, end) && end.code == exitUsage {
		fmt.Fprint(env.err, usage)
	}
	return operands, err
}

// destination returns where an operand leads. c asks subnet administration where
// that has to be known.
func (d *diagFlags) destination(ctx context.Context, c *umad.Client, operand string, smLID uint16) (to umad.Target, err error) {
	switch {
	case d.direct:
		to.Route, err = mad.ParseRoute(operand)
	case d.byGUID:
		var guid uint64
		if guid, err = mad.ParseGUID(operand); err == nil {
			to.LID, err = c.ResolveGUID(ctx, guid, smLID)
		}
	default:
		n := strtol(operand)
		if to.LID = uint16(n); n != int(to.LID) || !mad.IsUnicastLID(to.LID) {
			err = errors.New("not a LID from 1 to 0xbfff")
		}
	}
	if err != nil {
		err = fmt.Errorf("can't resolve destination port %s: %w", operand, err)
	}
	return to, err
}
