// Package fabricflag selects the fabric that a command works on: the flags of native
// commands and the settings behind them, which classic tools share.
package fabricflag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibdiagconf"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// Ibsim is the value of Sim for a running ibsim server.
const Ibsim = "ibsim"

// Settings select a fabric, the local port and the way requests are sent.
type Settings struct {
	Sim       string // simulated fabric; "": a device
	Behaviour Behaviour

	Device      string // "": the first with an active port
	DeviceGiven bool
	Port        uint8 // 0: the first active one
	PortGiven   bool

	Timeout time.Duration // of a request; 0: 1 s
	SMLID   ib.LID        // LID of the subnet manager; 0: the local port's
	MKey    string        // see ReadKey; "": IBKIT_M_KEY, or the configuration
	Window  int           // maximum outstanding requests; 0: the default
	Errors  bool          // print failed attempts
	Verbose int

	PKeyIndex uint16 // P_Key index of packets other than subnet management packets

	ConfigFile string
	NameMap    string // path of the node name map; "": the default

	// Classic makes mistakes in files warnings, as the tools of infiniband-diags do.
	Classic bool

	given     *Settings // before Complete
	strict    bool      // mistakes in default files are errors, not warnings
	prompted  *mad.Key  // M_Key in place of a prompt; nil: not read yet
	conf      ibdiagconf.Config
	mkey      mad.Key
	simulated *sim.Fabric
	counter   *packetCounter // with -v
}

// Complete reads the configuration files, prompts for the M_Key and builds the
// simulated fabric.
func (s *Settings) Complete(ctx context.Context, env *cmdutil.Env) error {
	given := *s
	s.given = &given
	if err := s.readFiles(ctx, env); err != nil {
		return err
	}
	switch {
	case s.Sim != "" && s.Sim != Ibsim:
		var err error
		if s.simulated, err = Build(s.Sim); err != nil {
			return err
		}
		return s.Behaviour.Apply(s.simulated, func(err error) { cmdutil.PrintError(env, "simulated fabric", err) })
	case s.Behaviour.given():
		return cmdutil.UsageErrorf("--sim-model and --sim-events require a fabric that ibkit simulates itself (--sim)")
	}
	return nil
}

// readFiles reads the configuration files and the M_Key.
func (s *Settings) readFiles(ctx context.Context, env *cmdutil.Env) error {
	s.Sim = cmp.Or(s.Sim, env.Getenv("IBKIT_SIM"))
	byFlag := s.DeviceGiven || s.PortGiven
	if err := s.readConfig(env); err != nil {
		return err
	}
	switch {
	case !s.DeviceGiven && !s.PortGiven || s.Sim == "" || s.Classic:
	case !byFlag:
		return cmdutil.UsageErrorf("the local device or port in %s (CA, Port) and a simulated fabric (--sim or IBKIT_SIM) are mutually exclusive", s.ConfigFile)
	default:
		return cmdutil.UsageErrorf("a local device or port (-C, -P) and a simulated fabric (--sim or IBKIT_SIM) are mutually exclusive")
	}
	s.mkey = mad.Key(s.conf.MKey)
	switch text := cmp.Or(s.MKey, env.Getenv("IBKIT_M_KEY")); {
	case text == "":
	case text == "-" && s.prompted != nil:
		s.mkey = *s.prompted
	default:
		var err error
		read := ReadKey
		if s.Classic {
			read = ReadClassicKey
		}
		if s.mkey, err = read(ctx, env, "M_Key", text); err != nil {
			return err
		}
	}
	return nil
}

// readConfig reads the default configuration file and the given one. Settings of
// the command line take precedence. The device and the port of the default file are
// those of this host, and are ignored for a simulated fabric.
func (s *Settings) readConfig(env *cmdutil.Env) error {
	if err := s.conf.ReadFile(env.ConfigFile(ibdiagconf.DefaultPath), true); err != nil {
		if s.strict {
			return &cmdutil.UsageError{Err: err}
		}
		warn(env, err)
	}
	if s.Sim != "" {
		s.conf.Device, s.conf.Port = "", 0
	}
	if s.ConfigFile != "" {
		if err := s.conf.ReadFile(s.ConfigFile, false); err != nil {
			if !s.Classic {
				return &cmdutil.UsageError{Err: err}
			}
			warn(env, err)
		}
	}
	if !s.DeviceGiven && s.conf.Device != "" {
		s.Device, s.DeviceGiven = s.conf.Device, true
	}
	if !s.PortGiven && s.conf.Port != 0 {
		s.Port, s.PortGiven = s.conf.Port, true
	}
	if s.Timeout == 0 {
		s.Timeout = s.conf.Timeout
	}
	return nil
}

func warn(env *cmdutil.Env, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") { // of joined errors
		fmt.Fprintf(env.ErrOut, "warning: %s\n", cmdutil.Message(line))
	}
}

// IsSimulated reports whether the fabric is simulated, by this process or another.
func (s *Settings) IsSimulated() bool { return s.Sim != "" }

// IsOwn reports whether this process simulates the fabric, which then ends with it.
func (s *Settings) IsOwn() bool { return s.simulated != nil }

// SimulationBegan returns the time from which the counters of the fabric that this process
// simulates increase, zero for other fabrics.
func (s *Settings) SimulationBegan() time.Time {
	if s.simulated == nil {
		return time.Time{}
	}
	return s.simulated.Began()
}

// ContinueSimulation makes the counters of the fabric that this process simulates those of
// one that began at a time, unless that is zero.
func (s *Settings) ContinueSimulation(began time.Time) {
	if s.simulated != nil && !began.IsZero() && began.Before(time.Now()) {
		s.simulated.Continue(began)
	}
}

// WarnEarlyEvents warns of events of the fabric that this process simulates before the first
// reading of counters. A command that compares two readings calls it.
func (s *Settings) WarnEarlyEvents(env *cmdutil.Env) {
	if s.simulated == nil {
		return
	}
	if n := s.simulated.EarlyEvents(); n > 0 {
		warn(env, fmt.Errorf("simulate fabric: %s before the first reading of counters: the changes are in no window", plural.Count(n, "event", "events")))
	}
}

// IsPrivate reports whether this process simulates the fabric: no other can attach.
func (s *Settings) IsPrivate() bool { return s.simulated != nil }

// SAKey returns the SM_Key of the configuration for requests to subnet administration.
func (s *Settings) SAKey() mad.Key { return mad.Key(s.conf.SAKey) }

// NoExtendedPortInfo reports whether the configuration turns off queries of vendor
// attributes.
func (s *Settings) NoExtendedPortInfo() bool { return s.conf.NoExtendedPortInfo }

// Open returns a function that opens the local port.
func (s *Settings) Open(env *cmdutil.Env) func(context.Context) (umad.Port, error) {
	open := s.open(env)
	if env.Transport == nil {
		return open
	}
	return func(ctx context.Context) (umad.Port, error) {
		p, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return env.Transport(p), nil
	}
}

// Source returns the fabric at the local port.
func (s *Settings) Source(env *cmdutil.Env) fabric.Source {
	return fabric.Source{OpenPort: s.Open(env), Client: s.Client(env), NoExtendedPortInfo: s.NoExtendedPortInfo()}
}

func (s *Settings) open(env *cmdutil.Env) func(context.Context) (umad.Port, error) {
	switch {
	case s.simulated != nil:
		return s.onlyPort(s.simulated.Opener(env.Getenv("SIM_HOST")))
	case s.Sim == Ibsim:
		return s.onlyPort(func(ctx context.Context) (umad.Port, error) { return openIbsim(ctx, env, false) })
	}
	return device.Opener(device.Options{Device: s.Device, Port: s.Port})
}

// OpenResponder returns a function that opens a port of a running ibsim server as
// the one that answers for its node.
func OpenResponder(env *cmdutil.Env) func(context.Context) (umad.Port, error) {
	return func(ctx context.Context) (umad.Port, error) { return openIbsim(ctx, env, true) }
}

// ErrPrivate is the error of a server in a fabric that no other process can reach.
var ErrPrivate error = &cmdutil.UsageError{Err: errors.New("no other process can reach the simulated fabric of this process: serve it by ibkit sim serve, and use --sim ibsim")}

// OpenServer returns a function that opens the local port for a server. It returns
// [ErrPrivate] if the server would have no clients.
func (s *Settings) OpenServer(env *cmdutil.Env) (func(context.Context) (umad.Port, error), error) {
	if s.IsPrivate() {
		return nil, ErrPrivate
	}
	return s.OpenListener(env), nil
}

// OpenListener returns a function that opens the local port to receive packets that are not
// responses.
func (s *Settings) OpenListener(env *cmdutil.Env) func(context.Context) (umad.Port, error) {
	if s.Sim == Ibsim {
		return OpenResponder(env)
	}
	return s.Open(env)
}

func openIbsim(ctx context.Context, env *cmdutil.Env, responder bool) (umad.Port, error) {
	o, err := ibsim.OptionsFromEnv(env.Getenv)
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	o.Responder = responder
	return ibsim.Open(ctx, o)
}

// onlyPort opens the only port of a simulated fabric, if it is the given one.
func (s *Settings) onlyPort(open func(context.Context) (umad.Port, error)) func(context.Context) (umad.Port, error) {
	return func(ctx context.Context) (umad.Port, error) {
		p, err := open(ctx)
		if err != nil {
			return nil, err
		}
		attr := p.Attr()
		if s.DeviceGiven && s.Device != attr.Device || s.PortGiven && s.Port != 0 && s.Port != attr.Number {
			_ = p.Close() // unused
			return nil, fmt.Errorf("open %s: the simulated fabric has only %s/%d", s.localPort(), attr.Device, attr.Number)
		}
		return p, nil
	}
}

// Client returns the options for requests.
func (s *Settings) Client(env *cmdutil.Env) umad.ClientOptions {
	o := umad.ClientOptions{MKey: s.mkey, Timeout: s.Timeout, MaxWindow: s.Window, PKeyIndex: s.PKeyIndex}
	if s.Verbose > 0 && s.counter == nil {
		s.counter = new(packetCounter)
	}
	if s.Errors || s.Verbose > 0 {
		o.Trace = func(e umad.Event) {
			if s.Verbose > 1 || s.Errors && (e.Err != nil || e.Kind == umad.EventTimedOut) {
				fmt.Fprintln(env.ErrOut, e)
			}
			if s.counter != nil {
				s.counter.count(e)
			}
		}
	}
	return o
}

// Resolve returns the options that find ports by their addresses.
func (s *Settings) Resolve(env *cmdutil.Env, names *fabric.NameMap) lookup.Options {
	return lookup.Options{SMLID: s.SMLID, Names: names, Simulated: s.IsSimulated(), Sysfs: env.Sysfs()}
}

// GIDByIP returns the function that finds the GID of a port by its IP address.
func (s *Settings) GIDByIP(ctx context.Context, env *cmdutil.Env) func(netip.Addr) (ib.GID, error) {
	o := s.Resolve(env, nil)
	return func(ip netip.Addr) (ib.GID, error) { return lookup.GIDByIP(ctx, ip, o) }
}

// Names reads the node name map. A missing or invalid map of a classic tool, and an
// invalid default one, cause a warning.
func (s *Settings) Names(env *cmdutil.Env) (*fabric.NameMap, error) {
	names, err := readNames(cmp.Or(s.NameMap, env.ConfigFile(fabric.DefaultNameMapPath)))
	switch {
	case err == nil, s.NameMap == "" && errors.Is(err, fs.ErrNotExist):
		return names, nil
	case s.NameMap != "" && !s.Classic, s.strict:
		return nil, cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "the file has a node GUID and a name on each line: 0x0002c90300001234 leaf1")
	}
	warn(env, err)
	if s.Classic {
		return nil, nil // the tools of infiniband-diags reject the whole map
	}
	return names, nil
}

func readNames(path string) (*fabric.NameMap, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read node name map: %w", err)
	}
	defer file.Close()
	return fabric.ReadNameMap(file, path)
}

// localPort names the local port as far as the options select it.
func (s *Settings) localPort() string {
	switch {
	case !s.DeviceGiven:
		return fmt.Sprintf("port %d", s.Port)
	case !s.PortGiven || s.Port == 0:
		return s.Device
	}
	return fmt.Sprintf("%s/%d", s.Device, s.Port)
}
