package getopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibdiagconf"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Diag has the options that infiniband-diags tools share (ibdiag_common.c).
type Diag struct {
	fabricflag.Settings
	Env *cmdutil.Env

	ByGUID, Direct bool // operand kind; neither: a LID
	Debug          int
	ShowKeys       bool

	// Subject is the operand's name in the [Diag.Destination] error
	// (default: destination port).
	Subject string

	tool       string
	portNumber int // -P value before it is cut to 8 bits
}

// NewDiag returns a tool's shared options with their defaults.
func NewDiag(env *cmdutil.Env, tool string) *Diag {
	return &Diag{Env: env, tool: tool, Settings: fabricflag.Settings{Classic: true}}
}

// Options returns the shared options, without the letters that a tool excludes.
// They come after the tool's own options in the usage text.
func (d *Diag) Options(exclude string) []Option {
	f := &d.Settings
	options := []Option{
		{Long: "config", Short: 'z', Arg: "<config>", Help: "use config file, default: " + ibdiagconf.DefaultPath, Set: Text(&f.ConfigFile)},
		{Long: "Ca", Short: 'C', Arg: "<ca>", Help: "Ca name to use", Set: d.setDevice, Complete: cmdutil.DeviceNames},
		{Long: "Port", Short: 'P', Arg: "<port>", Help: "Ca port number to use", Set: d.setPort, Complete: cmdutil.PortNumbers},
		{Long: "Direct", Short: 'D', Help: "use Direct address argument", Set: d.setKind(false, true)},
		{Long: "Lid", Short: 'L', Help: "use LID address argument", Set: d.setKind(false, false)},
		{Long: "Guid", Short: 'G', Help: "use GUID address argument", Set: d.setKind(true, false)},
		{Long: "timeout", Short: 't', Arg: "<ms>", Help: "timeout in ms", Set: d.setTimeout},
		{Long: "sm_port", Short: 's', Arg: "<lid>", Help: "SM port lid", Set: d.setSMLID},
		{Long: "show_keys", Short: 'K', Help: "display security keys in output", Set: True(&d.ShowKeys)},
		{Long: "m_key", Short: 'y', Arg: "<key>", Help: "M_Key to use in request", Set: Text(&f.MKey)},
		{Long: "pkey-idx", Short: 'Y', Arg: "<idx>", Help: "P_Key table index for outgoing SA/GMP MADs (default 0)", Set: d.setPKeyIndex},
		{Long: "errors", Short: 'e', Help: "show send and receive errors", Set: True(&f.Errors)},
		{Long: "verbose", Short: 'v', Help: "increase verbosity level", Set: Count(&f.Verbose)},
		{Long: "debug", Short: 'd', Help: "raise debug level", Set: func(string) error {
			d.Debug++
			f.Errors = true
			return nil
		}},
		{Long: "help", Short: 'h', Help: "help message", Set: Usage},
		{Long: "version", Short: 'V', Help: "show version", Set: d.showVersion},
	}
	options = slices.DeleteFunc(options, func(o Option) bool { return strings.IndexByte(exclude, o.Short) >= 0 })
	return append(options, SimOptions(f)...)
}

// SimOptions are the options for simulated fabrics, which no classic tool has.
func SimOptions(f *fabricflag.Settings) []Option {
	return []Option{
		{Long: "sim", Arg: "<fabric>", Help: "use a simulated fabric: see ibkit sim list (default: IBKIT_SIM)", Set: Text(&f.Sim), Extension: true, Complete: fabricflag.Fabrics},
		{Long: "sim-model", Arg: "<name=value,...>", Help: "clock model of the simulated fabric", Set: Text(&f.Behaviour.Model), Extension: true, Complete: fabricflag.ModelParameters},
		{Long: "sim-events", Arg: "<file>", Help: "events of the simulated fabric", Set: Text(&f.Behaviour.Events), Extension: true},
	}
}

// The tools end at the first invalid value, before they parse the rest.

func (d *Diag) setDevice(value string) error {
	d.Device, d.DeviceGiven = value, true
	return nil
}

func (d *Diag) setPort(value string) error {
	d.portNumber = int(int32(Strtol(value)))
	d.Port, d.PortGiven = uint8(d.portNumber), true
	return nil
}

func (d *Diag) setKind(byGUID, direct bool) func(string) error {
	return func(string) error {
		d.ByGUID, d.Direct = byGUID, direct
		return nil
	}
}

func (d *Diag) setTimeout(value string) error {
	n, err := strconv.ParseInt(value, 0, 32)
	if err != nil || n <= 0 {
		return d.Iberror("process_opt", nil, "Invalid timeout \"%s\".  Timeout requires a positive integer value < %d.", value, math.MaxInt32)
	}
	d.Timeout = time.Duration(n) * time.Millisecond
	return nil
}

func (d *Diag) setPKeyIndex(value string) error {
	n, err := strconv.ParseInt(value, 0, 64)
	if err != nil || n < 0 || n > math.MaxUint16 {
		return d.Iberror("process_opt", nil, "Invalid P_Key index \"%s\".  Requires an integer in the range [0, %d].", value, math.MaxUint16)
	}
	d.PKeyIndex = uint16(n)
	return nil
}

func (d *Diag) setSMLID(value string) error {
	lid := int(int32(Strtol(value)))
	if !isUnicastLID(lid) {
		return d.Iberror("process_opt", nil, "cannot resolve SM destination port %s", value)
	}
	d.SMLID = ib.LID(lid)
	return nil
}

func (d *Diag) showVersion(string) error {
	fmt.Fprintf(d.Env.ErrOut, "%s BUILD VERSION: %s\n", d.tool, buildinfo.Version())
	return &cmdutil.ExitError{Code: cmdutil.ExitOK}
}

// Iberror ends a tool like IBEXIT: it prints the failed operation on the standard output,
// with -d also the function, and err on standard error.
func (d *Diag) Iberror(function string, err error, format string, args ...any) error {
	where := ""
	if d.Debug > 0 {
		where = fmt.Sprintf("[pid %d] %s: ", os.Getpid(), function)
	}
	fmt.Fprintf(d.Env.Out, "%s: iberror: %sfailed: %s\n", d.tool, where, fmt.Sprintf(format, args...))
	return &cmdutil.ExitError{Code: ExitFailure, Err: err}
}

// OpenPort opens the local port. If that fails, it ends the tool with [Diag.Iberror].
func (d *Diag) OpenPort(ctx context.Context) (umad.Port, error) {
	port, err := d.Open(ctx)
	if err != nil {
		device, number := d.LocalPort()
		return nil, d.Iberror("main", err, "Failed to open '%s' port '%d'", device, number)
	}
	return port, nil
}

// CompleteAndOpen completes the local port's settings and opens it.
func (d *Diag) CompleteAndOpen(ctx context.Context) (umad.Port, error) {
	if err := d.Complete(ctx, d.Env); err != nil {
		return nil, err
	}
	return d.OpenPort(ctx)
}

// Open opens the local port.
func (d *Diag) Open(ctx context.Context) (umad.Port, error) {
	if d.portNumber != int(uint8(d.portNumber)) {
		return nil, fmt.Errorf("no port has number %d", d.portNumber)
	}
	return d.Settings.Open(d.Env)(ctx)
}

// Source returns the fabric at the local port.
func (d *Diag) Source() fabric.Source {
	s := d.Settings.Source(d.Env)
	s.OpenPort = d.Open
	return s
}

// LocalPort returns the given device and port number as the tools print them.
func (d *Diag) LocalPort() (device string, number int) {
	if device = d.Device; !d.DeviceGiven {
		device = "(null)"
	}
	if number = int(d.Port); d.portNumber != 0 {
		number = d.portNumber
	}
	return device, number
}

// isUnicastLID reports whether a number is a LID that a port can have.
func isUnicastLID(n int) bool { return n > 0 && n <= math.MaxUint16 && ib.LID(n).IsUnicast() }

// Destination parses an operand by resolve_portid_str's rules (ibdiag_common.c). It
// queries subnet administration for the path to a GUID.
func (d *Diag) Destination(ctx context.Context, c *umad.Client, operand string) (to umad.Target, err error) {
	switch {
	case d.Direct:
		to.Route, err = ParseRoute(operand)
	case d.ByGUID:
		if guid := Strtoull(operand); guid == 0 {
			err = errors.New("no port has GUID 0")
		} else {
			to, err = c.TargetOf(ctx, ib.GUID(guid), d.SMLID)
		}
	default:
		n := int(int32(Strtol(operand))) // an int in C
		if to.LID = ib.LID(n); !isUnicastLID(n) {
			err = errors.New("not a LID from 1 to 0xbfff")
		}
	}
	if err != nil {
		err = d.Iberror("main", err, "can't resolve %s %s", cmp.Or(d.Subject, "destination port"), operand)
	}
	return to, err
}

// ParseRoute parses a directed route by str2drpath's rules (libibmad): the first element
// is the local node, whatever its number; an element that is not a number is 0; a comma
// at the end has no effect.
func ParseRoute(s string) (route mad.Route, err error) {
	if s == "" {
		return mad.Route{}, errors.New("a directed route begins with 0, the local node")
	}
	elements := strings.Split(strings.TrimSuffix(s, ","), ",")
	if len(elements)-1 > mad.MaxHops {
		return mad.Route{}, fmt.Errorf("a directed route has at most %d hops", mad.MaxHops)
	}
	route = mad.Local
	for _, element := range elements[1:] {
		route = route.Append(uint8(Atoi(element)))
	}
	return route, nil
}
