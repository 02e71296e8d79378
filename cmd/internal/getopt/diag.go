package getopt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// diagOptions are the options that the tools of infiniband-diags have in common
// (ibdiag_common.c). Each tool leaves some out.
var diagOptions = []Option{
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

// Diag are what those options say.
type Diag struct {
	fabricflag.Flags
	Env  *cmdutil.Env
	tool string

	byGUID, direct bool // what the operand is; neither: a LID
	Debug          int
	portNumber     int // behind -P, where it was given
}

// Parse reads the command line of a tool that has options of its own and is
// without those in excluded. It returns the operands, or an outcome where the
// command line leaves nothing to do: the usage, the version, or an error.
func (d *Diag) Parse(env *cmdutil.Env, tool, usage, excluded string, own []Option, args []string, take func(short byte, value string) error) ([]string, error) {
	d.Env, d.tool = env, tool
	cmd := &cobra.Command{Use: tool}
	d.Define(env, cmd)
	flags := cmd.Flags()
	options := own
	long := map[byte]string{}
	for _, o := range diagOptions {
		if !strings.ContainsRune(excluded, rune(o.Short)) {
			options = append(options, o)
			long[o.Short] = o.Long
		}
	}
	operands, err := Parse(tool, options, args, func(short byte, value string) error {
		if long[short] == "" {
			return take(short, value)
		}
		return d.take(flags, short, long[short], value)
	})
	var wrong *Error
	if errors.As(err, &wrong) {
		fmt.Fprintln(env.ErrOut, err)
		err = &cmdutil.ExitError{Code: cmdutil.ExitUsage}
	}
	var end *cmdutil.ExitError
	if errors.As(err, &end) && end.Code == cmdutil.ExitUsage {
		fmt.Fprint(env.ErrOut, usage)
	}
	return operands, err
}

// take acts on one of the options in common. The tools end at the one that says
// so.
func (d *Diag) take(flags *pflag.FlagSet, short byte, long, value string) error {
	switch short {
	case 'D':
		d.direct, d.byGUID = true, false
	case 'L':
		d.direct, d.byGUID = false, false
	case 'G':
		d.direct, d.byGUID = false, true
	case 'K': // shows what is not shown here
	case 'P':
		d.portNumber = int(int32(Strtol(value)))
		value = strconv.Itoa(int(uint8(d.portNumber)))
	case 's':
		lid := int(int32(Strtol(value)))
		if !isUnicastLID(lid) {
			return d.Iberror("process_opt", nil, "cannot resolve SM destination port %s", value)
		}
		value = strconv.Itoa(lid)
	case 't':
		n, err := strconv.ParseInt(value, 0, 32)
		if err != nil || n <= 0 {
			return d.Iberror("process_opt", nil, "Invalid timeout \"%s\".  Timeout requires a positive integer value < %d.", value, math.MaxInt32)
		}
		value = strconv.FormatInt(n, 10)
	case 'e':
		d.Errors = true
	case 'd':
		d.Debug++
		d.Errors = true
	case 'v':
		d.Verbose++
	case 'h':
		return &cmdutil.ExitError{Code: cmdutil.ExitUsage}
	case 'V':
		fmt.Fprintf(d.Env.ErrOut, "%s BUILD VERSION: %s\n", d.tool, buildinfo.Version())
		return &cmdutil.ExitError{Code: cmdutil.ExitOK}
	}
	if strings.IndexByte(plainFlags, short) < 0 {
		return nil
	}
	if err := flags.Set(long, value); err != nil {
		return &cmdutil.ExitError{Code: ExitFailure, Err: err}
	}
	return nil
}

// plainFlags are those with a value that fabricFlags have as well.
const plainFlags = "zCPtsy"

// Iberror ends a tool as IBEXIT of infiniband-diags does in one of its functions:
// it says on the standard output what went wrong. err, where there is one, says
// on the error output why.
func (d *Diag) Iberror(function string, err error, format string, args ...any) error {
	where := ""
	if d.Debug > 0 {
		where = fmt.Sprintf("[pid %d] %s: ", os.Getpid(), function)
	}
	fmt.Fprintf(d.Env.Out, "%s: iberror: %sfailed: %s\n", d.tool, where, fmt.Sprintf(format, args...))
	return &cmdutil.ExitError{Code: ExitFailure, Err: err}
}

// OpenPort opens the local port.
func (d *Diag) OpenPort(ctx context.Context) (umad.Port, error) {
	number := int(d.Port)
	if d.AllFlags.Changed("Port") {
		number = d.portNumber
	}
	port, err := d.Open(d.Env)(ctx)
	if err == nil && number != int(d.Port) {
		err = fmt.Errorf("no port has number %d", number)
		_ = port.Close() // it was not used
	}
	if err == nil {
		return port, nil
	}
	device := d.Device
	if device == "" && !d.AllFlags.Changed("Ca") {
		device = "(null)"
	}
	return nil, d.Iberror("main", err, "Failed to open '%s' port '%d'", device, number)
}

// isUnicastLID reports whether a number is a LID that a port can have.
func isUnicastLID(n int) bool { return n > 0 && n <= math.MaxUint16 && ib.LID(n).IsUnicast() }

// Destination returns where an operand leads, as resolve_portid_str of
// ibdiag_common.c reads it. c asks subnet administration where that has to be
// known.
func (d *Diag) Destination(ctx context.Context, c *umad.Client, operand string, smLID ib.LID) (to umad.Target, err error) {
	switch {
	case d.direct:
		to.Route, err = classicRoute(operand)
	case d.byGUID:
		if guid := strtoull(operand); guid == 0 {
			err = errors.New("no port has GUID 0")
		} else {
			to, err = c.TargetOf(ctx, ib.GUID(guid), smLID)
		}
	default:
		n := int(int32(Strtol(operand))) // an int in C
		if to.LID = ib.LID(n); !isUnicastLID(n) {
			err = errors.New("not a LID from 1 to 0xbfff")
		}
	}
	if err != nil {
		err = d.Iberror("main", err, "can't resolve destination port %s", operand)
	}
	return to, err
}

// classicRoute reads a directed route as str2drpath of libibmad does: the first
// number stands for the local node, whatever it is, what is no number is 0, and
// nothing behind the last comma is nothing.
func classicRoute(s string) (route mad.Route, err error) {
	if s == "" {
		return "", errors.New("a directed route begins with 0, the local node")
	}
	elements := strings.Split(strings.TrimSuffix(s, ","), ",")
	if len(elements)-1 > mad.MaxHops {
		return "", fmt.Errorf("a directed route has at most %d hops", mad.MaxHops)
	}
	for _, element := range elements[1:] {
		route = route.Append(uint8(atoi(element)))
	}
	return route, nil
}
