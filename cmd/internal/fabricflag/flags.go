package fabricflag

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibdiagconf"
)

// Flags are the flags of native commands that send MADs.
type Flags struct {
	Settings

	// SentOnce is set for commands that time their own packets and do not repeat
	// them.
	SentOnce bool

	flags *pflag.FlagSet
	smLID string
}

// milliseconds is the value of --timeout.
type milliseconds time.Duration

func (m *milliseconds) Set(text string) error {
	ms, err := strconv.ParseUint(text, 0, 31)
	if err != nil || ms == 0 {
		return fmt.Errorf("want a number of milliseconds from 1 to %d", math.MaxInt32)
	}
	*m = milliseconds(time.Duration(ms) * time.Millisecond)
	return nil
}

func (m *milliseconds) String() string {
	return strconv.FormatInt(time.Duration(*m).Milliseconds(), 10)
}

func (m *milliseconds) Type() string { return "milliseconds" }

// Group is the heading of these flags in help texts.
const Group = "Fabric flags"

// Define declares the flags as a group of their own.
func (f *Flags) Define(env *cmdutil.Env, cmd *cobra.Command) {
	defer cmdutil.GroupNewFlags(cmd, Group)()
	flags := cmd.Flags()
	f.flags = flags
	flags.StringVar(&f.Sim, "sim", "", "simulate a `FABRIC`: see ibkit sim list (default: IBKIT_SIM)")
	cmdutil.CompleteFlag(env, cmd, "sim", Fabrics)
	f.Behaviour.Define(env, cmd)
	flags.StringVarP(&f.ConfigFile, "config", "z", "", "read defaults from `FILE`, after "+ibdiagconf.DefaultPath)
	flags.StringVarP(&f.Device, "Ca", "C", "", "use this local `DEVICE` (default: the first with an active port)")
	cmdutil.CompleteFlag(env, cmd, "Ca", cmdutil.DeviceNames)
	flags.Uint8VarP(&f.Port, "Port", "P", 0, "use this local port `NUMBER` (default: the first active port)")
	cmdutil.CompleteFlag(env, cmd, "Port", cmdutil.PortNumbers)
	wait := "wait `MS` milliseconds for each of 3 attempts (default 1000)"
	window := "maximum `N` of outstanding requests (default 64; reduced on loss)"
	if f.SentOnce {
		wait = "wait `MS` milliseconds for each reply (default 1000)"
		window = "maximum `N` of outstanding probes (default 64)"
	}
	flags.VarP((*milliseconds)(&f.Timeout), "timeout", "t", wait)
	flags.StringVar(&f.smLID, "sm-port", "", "query the subnet manager at `LID` (default: the local port's)")
	flags.StringVarP(&f.MKey, "m-key", "y", "", "M_Key of requests: a `KEY`, @FILE with it, or - for a prompt")
	flags.IntVarP(&f.Window, "outstanding-smps", "o", 0, window)
	flags.BoolVarP(&f.Errors, "errors", "e", false, "print each failed attempt")
	flags.CountVarP(&f.Verbose, "verbose", "v", "``print statistics; twice: print each request")
	flags.StringVar(&f.NameMap, "node-name-map", "", "read node names from `FILE` (default: "+fabric.DefaultNameMapPath+")")
}

// Complete validates the flags and completes the settings.
func (f *Flags) Complete(ctx context.Context, env *cmdutil.Env) error {
	f.DeviceGiven, f.PortGiven = f.flags.Changed("Ca"), f.flags.Changed("Port")
	if err := cmdutil.CutLocalPort(f.flags, "Ca", "Port", &f.Device, &f.Port); err != nil {
		return err
	}
	f.PortGiven = f.PortGiven || f.DeviceGiven && f.Port != 0
	if f.flags.Changed("outstanding-smps") && f.Window < 1 {
		return cmdutil.UsageErrorf("invalid --outstanding-smps %d: want at least 1", f.Window)
	}
	if f.smLID != "" {
		lid, err := strconv.ParseUint(f.smLID, 0, 16)
		if err != nil || !ib.LID(lid).IsUnicast() {
			return cmdutil.UsageErrorf("invalid --sm-port %q: want a LID from 1 to 0xbfff", f.smLID)
		}
		f.SMLID = ib.LID(lid)
	}
	return f.Settings.Complete(ctx, env)
}

// CompleteNames is [Flags.Complete] followed by [Settings.Names].
func (f *Flags) CompleteNames(ctx context.Context, env *cmdutil.Env) (*fabric.NameMap, error) {
	if err := f.Complete(ctx, env); err != nil {
		return nil, err
	}
	return f.Names(env)
}
