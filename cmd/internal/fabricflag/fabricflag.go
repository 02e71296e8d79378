// Package fabricflag has the flags of all commands that send MADs, and turns them
// into a port, request options and names of nodes.
package fabricflag

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibdiagconf"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// MaxFailures is how many failures are told one by one unless -v asks for all.
const MaxFailures = 20

// Flags are the flags of every command that sends MADs: those that the
// tools of infiniband-diags have in common, and where the fabric comes from.
type Flags struct {
	Sim       string
	config    string
	Device    string
	Port      uint8
	timeout   uint32 // ms
	smLID     string
	mkey      string
	window    int
	Errors    bool
	Verbose   int
	nameMap   string
	AllFlags  *pflag.FlagSet
	ConfFile  ibdiagconf.Config
	mkeyValue uint64
	Simulated *sim.Fabric
	behaviour Behaviour
}

func (f *Flags) Define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	f.AllFlags = flags
	flags.StringVar(&f.Sim, "sim", "", "simulate a `FABRIC` instead of using a device: a preset (see ibkit sim list),\na file, or ibsim for a running ibsim server (default: $IBKIT_SIM)")
	cmdutil.CompleteFlag(env, cmd, "sim", Fabrics)
	f.behaviour.Define(env, cmd, "sim-")
	flags.StringVarP(&f.config, "config", "z", "", "read defaults from `FILE`, after "+ibdiagconf.DefaultPath)
	flags.StringVarP(&f.Device, "Ca", "C", "", "local device to use, by `NAME`")
	cmdutil.CompleteFlag(env, cmd, "Ca", cmdutil.DeviceNames)
	flags.Uint8VarP(&f.Port, "Port", "P", 0, "local port to use, by `NUMBER` (default: the first that is active)")
	cmdutil.CompleteFlag(env, cmd, "Port", cmdutil.PortNumbers)
	flags.Uint32VarP(&f.timeout, "timeout", "t", 0, "`MS` to wait for a reply, for each of 3 attempts (default 1000)")
	flags.StringVarP(&f.smLID, "sm_port", "s", "", "ask the subnet manager at `LID` (default: the local port's)")
	flags.StringVarP(&f.mkey, "m_key", "y", "", "M_Key for requests, a `NUMBER`; anything else: ask for it on the terminal")
	flags.IntVarP(&f.window, "outstanding_smps", "o", 0, "most requests in flight at once, `N` (default 64; adapts to what the fabric bears)")
	flags.BoolVarP(&f.Errors, "errors", "e", false, "tell of each attempt that failed, as it happens")
	flags.CountVarP(&f.Verbose, "verbose", "v", "tell more; give it twice for each request")
	flags.StringVar(&f.nameMap, "node-name-map", "", "names of nodes from `FILE`, lines 0xGUID \"name\" (default: "+fabric.DefaultNameMapPath+")")
}

// Resolve reads the config files and checks what the flags say.
func (f *Flags) Resolve(ctx context.Context, env *cmdutil.Env, d Dialect) error {
	if err := f.ConfFile.ReadFile(ibdiagconf.DefaultPath, true); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	if f.config != "" {
		err := f.ConfFile.ReadFile(f.config, false)
		var path *fs.PathError
		switch {
		case d == Classic && errors.As(err, &path): // the C tools do not even tell
			fmt.Fprintf(env.ErrOut, "warning: %v\n", err)
		case err != nil:
			return &cmdutil.UsageError{Err: err}
		}
	}
	if !f.AllFlags.Changed("Ca") {
		f.Device = f.ConfFile.Device
	}
	if !f.AllFlags.Changed("Port") {
		f.Port = f.ConfFile.Port
	}
	f.mkeyValue = f.ConfFile.MKey
	if f.mkey != "" {
		key, err := strconv.ParseUint(f.mkey, 0, 64)
		if err != nil {
			if key, err = askMKey(ctx, env); err != nil {
				return err
			}
		}
		f.mkeyValue = key
	}
	if f.AllFlags.Changed("timeout") && (f.timeout == 0 || f.timeout > 1<<31-1) {
		return cmdutil.UsageErrorf("invalid timeout %d: it has to be a positive number of milliseconds", f.timeout)
	}
	if f.AllFlags.Changed("outstanding_smps") && f.window < 1 {
		return cmdutil.UsageErrorf("invalid number of requests in flight: %d", f.window)
	}
	if f.Sim == "" {
		f.Sim = env.Getenv("IBKIT_SIM")
	}
	if local := cmdutil.Given(f.AllFlags, []string{"Ca", "Port"}); f.Sim != "" && local != "" && d == Native {
		return cmdutil.UsageErrorf("%s and a simulated fabric (--sim or IBKIT_SIM) exclude each other", local)
	}
	if f.Sim != "" && f.Sim != Ibsim {
		var err error
		if f.Simulated, err = Build(f.Sim); err != nil {
			return err
		}
		return f.behaviour.Apply(f.Simulated, func(err error) { cmdutil.PrintError(env, "simulated fabric", err) })
	}
	if f.behaviour.given() {
		return cmdutil.UsageErrorf("--sim-model and --sim-events do nothing without a fabric that ibkit itself simulates (--sim)")
	}
	return nil
}

// Ibsim is the simulated fabric that another program simulates.
const Ibsim = "ibsim"

// Open opens the port to send from.
func (f *Flags) Open(env *cmdutil.Env) func(context.Context) (umad.Port, error) {
	switch {
	case f.Simulated != nil:
		return f.simulatedPort(func(context.Context) (umad.Port, error) { return f.Simulated.Open(env.Getenv("SIM_HOST")) })
	case f.Sim == Ibsim:
		return f.simulatedPort(func(ctx context.Context) (umad.Port, error) {
			o, err := ibsim.OptionsFromEnv(env.Getenv)
			if err != nil {
				return nil, &cmdutil.UsageError{Err: err}
			}
			return ibsim.Open(ctx, o)
		})
	}
	return func(context.Context) (umad.Port, error) {
		return device.Open(device.Options{Device: f.Device, Port: f.Port})
	}
}

// simulatedPort opens a port of a simulated fabric, which has one device with one
// port to send from. The classic names may say which they mean.
func (f *Flags) simulatedPort(open func(context.Context) (umad.Port, error)) func(context.Context) (umad.Port, error) {
	return func(ctx context.Context) (umad.Port, error) {
		p, err := open(ctx)
		if err != nil {
			return nil, err
		}
		is := p.Attr()
		if f.AllFlags.Changed("Ca") && f.Device != is.Device || f.AllFlags.Changed("Port") && f.Port != 0 && f.Port != is.Number {
			_ = p.Close() // it was not used
			return nil, fmt.Errorf("open %q port %d: the simulated fabric has %s port %d only", f.Device, f.Port, is.Device, is.Number)
		}
		return p, nil
	}
}

// Client returns the options for requests.
func (f *Flags) Client(env *cmdutil.Env) umad.ClientOptions {
	o := umad.ClientOptions{
		MKey:      f.mkeyValue,
		Timeout:   f.ConfFile.Timeout,
		MaxWindow: f.window,
	}
	if f.timeout > 0 {
		o.Timeout = time.Duration(f.timeout) * time.Millisecond
	}
	if f.Errors || f.Verbose > 1 {
		o.Trace = func(e umad.Event) {
			if e.Err != nil || e.Kind == umad.EventTimedOut || f.Verbose > 1 {
				fmt.Fprintln(env.ErrOut, e)
			}
		}
	}
	return o
}

// SMLID returns where the flags say the subnet manager is; 0: nowhere.
func (f *Flags) SMLID() (ib.LID, error) {
	if f.smLID == "" {
		return 0, nil
	}
	lid, err := strconv.ParseUint(f.smLID, 0, 16)
	if err != nil || !ib.LID(lid).IsUnicast() {
		return 0, cmdutil.UsageErrorf("invalid LID %q of the subnet manager: not a number from 1 to 0xbfff", f.smLID)
	}
	return ib.LID(lid), nil
}

// Names reads the map of node Names. The default map is read where it exists,
// and its mistakes do not stop a command, for the user did not name it.
func (f *Flags) Names(env *cmdutil.Env) (*fabric.NameMap, error) {
	path := f.nameMap
	if path == "" {
		path = fabric.DefaultNameMapPath
	}
	file, err := os.Open(path)
	if f.nameMap == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cmdutil.UsageErrorf("read node name map: %w", err)
	}
	defer file.Close()
	names, err := fabric.ReadNameMap(file, path)
	switch {
	case err != nil && f.nameMap != "":
		return nil, &cmdutil.UsageError{Err: err}
	case err != nil:
		fmt.Fprintf(env.ErrOut, "warning: %v\n", err)
	}
	return names, nil
}

// OpenResponder opens a port of a running ibsim server as one that answers for
// its node.
func OpenResponder(env *cmdutil.Env) func(context.Context) (umad.Port, error) {
	return func(ctx context.Context) (umad.Port, error) {
		o, err := ibsim.OptionsFromEnv(env.Getenv)
		if err != nil {
			return nil, &cmdutil.UsageError{Err: err}
		}
		o.Responder = true
		return ibsim.Open(ctx, o)
	}
}
