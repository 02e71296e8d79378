package fabricflag

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/sim"
)

// Behaviour is the behaviour of a simulated fabric while it is in use.
type Behaviour struct {
	Model  string // clock model: NAME=VALUE,...
	Events string // file of events, or random:...
}

// Define declares the flags.
func (b *Behaviour) Define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&b.Model, "sim-model", "", "delays and losses of the fabric: `LIST` such as hop=1us,loss=0.01")
	cmdutil.CompleteList(env, cmd, "sim-model", ModelParameters)
	flags.StringVar(&b.Events, "sim-events", "", "events of the fabric: `FILE`, or random:seed=1,count=10,within=10s")
}

func (b *Behaviour) given() bool { return b.Model != "" || b.Events != "" }

// Apply makes a fabric behave like this from now on. failed is called for each event
// that is not possible.
func (b *Behaviour) Apply(f *sim.Fabric, failed func(error)) error {
	if strings.TrimSpace(b.Model) != "" {
		if err := f.Model.ParseModel(b.Model); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	if b.Events == "" {
		return nil
	}
	events, err := f.ReadEvents(b.Events)
	if err != nil {
		return cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "the file has a time and a command on each line: 5s unlink leaf1[5]; all commands: man ibkit-sim-ctl")
	}
	f.Play(events, failed)
	return nil
}
