package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/ibdiagconf"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// fabricFlags are the flags of every command that sends MADs: those that the
// tools of infiniband-diags have in common, and where the fabric comes from.
type fabricFlags struct {
	sim       string
	config    string
	device    string
	port      uint8
	timeout   uint32 // ms
	smLID     string
	mkey      string
	window    int
	errors    bool
	verbose   int
	nameMap   string
	allFlags  *pflag.FlagSet
	confFile  ibdiagconf.Config
	mkeyValue uint64
	simulated *sim.Fabric
	behaviour simBehaviour
}

func (f *fabricFlags) define(flags *pflag.FlagSet) {
	f.allFlags = flags
	flags.StringVar(&f.sim, "sim", "", "use a simulated `FABRIC` instead of a device: demo or another that ibkit sim list shows,\nnet:FILE for a net file of ibsim, topo:FILE for what ibnetdiscover printed, FILE.json for what linkinfo --json\nprinted; ,sm=off or ,sm=updown behind it for a fabric that no subnet manager has configured, or one with other routes; or ibsim for a running ibsim server\n(default: the environment variable IBKIT_SIM)")
	f.behaviour.define(flags, "sim-")
	flags.StringVarP(&f.config, "config", "z", "", "read defaults from `FILE`, after "+ibdiagconf.DefaultPath)
	flags.StringVarP(&f.device, "Ca", "C", "", "local device to use, by `NAME`")
	flags.Uint8VarP(&f.port, "Port", "P", 0, "local port to use, by `NUMBER` (default: the first that is active)")
	flags.Uint32VarP(&f.timeout, "timeout", "t", 0, "`MS` to wait for a reply, for each of 3 attempts (default 1000)")
	flags.StringVarP(&f.smLID, "sm_port", "s", "", "ask the subnet manager at `LID` (default: the local port's)")
	flags.StringVarP(&f.mkey, "m_key", "y", "", "M_Key for requests, a `NUMBER`; anything else: ask for it on the terminal")
	flags.IntVarP(&f.window, "outstanding_smps", "o", 0, "most requests in flight at once, `N` (default 64; adapts to what the fabric bears)")
	flags.BoolVarP(&f.errors, "errors", "e", false, "tell of each attempt that failed, as it happens")
	flags.CountVarP(&f.verbose, "verbose", "v", "tell more; give it twice for each request")
	flags.StringVar(&f.nameMap, "node-name-map", "", "names of nodes from `FILE`, lines 0xGUID \"name\" (default: "+fabric.DefaultNameMapPath+")")
}

// resolve reads the config files and checks what the flags say.
func (f *fabricFlags) resolve(ctx context.Context, env *environment, d dialect) error {
	if err := f.confFile.ReadFile(ibdiagconf.DefaultPath, true); err != nil {
		return &usageError{err}
	}
	if f.config != "" {
		err := f.confFile.ReadFile(f.config, false)
		var path *fs.PathError
		switch {
		case d == classic && errors.As(err, &path): // the C tools do not even tell
			fmt.Fprintf(env.err, "warning: %v\n", err)
		case err != nil:
			return &usageError{err}
		}
	}
	if !f.allFlags.Changed("Ca") {
		f.device = f.confFile.Device
	}
	if !f.allFlags.Changed("Port") {
		f.port = f.confFile.Port
	}
	f.mkeyValue = f.confFile.MKey
	if f.mkey != "" {
		key, err := strconv.ParseUint(f.mkey, 0, 64)
		if err != nil {
			if key, err = askMKey(ctx, env); err != nil {
				return err
			}
		}
		f.mkeyValue = key
	}
	if f.allFlags.Changed("timeout") && (f.timeout == 0 || f.timeout > 1<<31-1) {
		return usageErrorf("invalid timeout %d: it has to be a positive number of milliseconds", f.timeout)
	}
	if f.allFlags.Changed("outstanding_smps") && f.window < 1 {
		return usageErrorf("invalid number of requests in flight: %d", f.window)
	}
	if f.sim == "" {
		f.sim = env.getenv("IBKIT_SIM")
	}
	if local := given(f.allFlags, []string{"Ca", "Port"}); f.sim != "" && local != "" && d == native {
		return usageErrorf("%s and a simulated fabric (--sim or IBKIT_SIM) exclude each other", local)
	}
	if f.sim != "" && f.sim != ibsimServer {
		var err error
		if f.simulated, err = sim.Build(f.sim); err != nil {
			return &usageError{err}
		}
		return f.behaviour.apply(f.simulated, func(err error) { say(env, "simulated fabric", err) })
	}
	if f.behaviour.given() {
		return usageErrorf("--sim-model and --sim-events do nothing without a fabric that ibkit itself simulates (--sim)")
	}
	return nil
}

// ibsimServer is the simulated fabric that another program simulates.
const ibsimServer = "ibsim"

// open opens the port to send from.
func (f *fabricFlags) open(env *environment) func(context.Context) (umad.Port, error) {
	switch {
	case f.simulated != nil:
		return f.simulatedPort(func(context.Context) (umad.Port, error) { return f.simulated.Open(env.getenv("SIM_HOST")) })
	case f.sim == ibsimServer:
		return f.simulatedPort(func(ctx context.Context) (umad.Port, error) {
			o, err := ibsim.OptionsFromEnv(env.getenv)
			if err != nil {
				return nil, &usageError{err}
			}
			return ibsim.Open(ctx, o)
		})
	}
	return func(context.Context) (umad.Port, error) {
		return device.Open(device.Options{Device: f.device, Port: f.port})
	}
}

// simulatedPort opens a port of a simulated fabric, which has one device with one
// port to send from. The classic names may say which they mean.
func (f *fabricFlags) simulatedPort(open func(context.Context) (umad.Port, error)) func(context.Context) (umad.Port, error) {
	return func(ctx context.Context) (umad.Port, error) {
		p, err := open(ctx)
		if err != nil {
			return nil, err
		}
		is := p.Attr()
		if f.allFlags.Changed("Ca") && f.device != is.Device || f.allFlags.Changed("Port") && f.port != 0 && f.port != is.Number {
			_ = p.Close() // it was not used
			return nil, fmt.Errorf("open %q port %d: the simulated fabric has %s port %d only", f.device, f.port, is.Device, is.Number)
		}
		return p, nil
	}
}

// client returns the options for requests.
func (f *fabricFlags) client(env *environment) umad.ClientOptions {
	o := umad.ClientOptions{
		MKey:      f.mkeyValue,
		Timeout:   f.confFile.Timeout,
		MaxWindow: f.window,
	}
	if f.timeout > 0 {
		o.Timeout = time.Duration(f.timeout) * time.Millisecond
	}
	if f.errors || f.verbose > 1 {
		o.Trace = func(e umad.Event) {
			if e.Err != nil || e.Kind == umad.EventTimedOut || f.verbose > 1 {
				fmt.Fprintln(env.err, e)
			}
		}
	}
	return o
}

// lidOfSM returns where the flags say the subnet manager is; 0: nowhere.
func (f *fabricFlags) lidOfSM() (uint16, error) {
	if f.smLID == "" {
		return 0, nil
	}
	lid, err := strconv.ParseUint(f.smLID, 0, 16)
	if err != nil || !mad.IsUnicastLID(uint16(lid)) {
		return 0, usageErrorf("invalid LID %q of the subnet manager: not a number from 1 to 0xbfff", f.smLID)
	}
	return uint16(lid), nil
}

// names reads the map of node names. The default map is read where it exists,
// and its mistakes do not stop a command, for the user did not name it.
func (f *fabricFlags) names(env *environment) (*fabric.NameMap, error) {
	path := f.nameMap
	if path == "" {
		path = fabric.DefaultNameMapPath
	}
	file, err := os.Open(path)
	if f.nameMap == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usageErrorf("read node name map: %w", err)
	}
	defer file.Close()
	names, err := fabric.ReadNameMap(file, path)
	switch {
	case err != nil && f.nameMap != "":
		return nil, &usageError{err}
	case err != nil:
		fmt.Fprintf(env.err, "warning: %v\n", err)
	}
	return names, nil
}
