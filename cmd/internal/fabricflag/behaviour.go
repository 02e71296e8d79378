package fabricflag

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/sim"
)

// Behaviour is how a simulated fabric behaves while it is in use.
type Behaviour struct {
	model  string
	events string
}

// Define makes the flags, whose names begin with a prefix.
func (b *Behaviour) Define(env *cmdutil.Env, cmd *cobra.Command, prefix string) {
	flags := cmd.Flags()
	flags.StringVar(&b.model, prefix+"model", "", "clock model of the simulated fabric: `NAME=VALUE,...`, such as hop=1us,service=20us,queue=64,\nloss=0.01,duplicate=0.01,delay=5us,jitter=2us,reorder=0.01,late=1ms,timeout=1s,seed=7")
	cmdutil.CompleteList(env, cmd, prefix+"model", modelParameters)
	flags.StringVar(&b.events, prefix+"events", "", "what happens to the simulated fabric: `FILE` with lines of a time and a command,\nor random:seed=1,count=10,within=10s (see ibkit sim ctl --help)")
}

func (b *Behaviour) given() bool { return b.model != "" || b.events != "" }

// Apply makes a fabric behave so from now on. failed is told of events that
// could not happen.
func (b *Behaviour) Apply(f *sim.Fabric, failed func(error)) error {
	if strings.TrimSpace(b.model) != "" {
		if err := f.Model.ParseModel(b.model); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	if b.events == "" {
		return nil
	}
	events, err := f.ReadEvents(b.events)
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	f.Play(events, failed)
	return nil
}
