package cmd

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/sim"
)

// simBehaviour is how a simulated fabric behaves while it is in use.
type simBehaviour struct {
	model  string
	events string
}

// define makes the flags, whose names begin with a prefix.
func (b *simBehaviour) define(flags *pflag.FlagSet, prefix string) {
	flags.StringVar(&b.model, prefix+"model", "", "clock model of the simulated fabric: `NAME=VALUE,...`, such as hop=1us,service=20us,queue=64,\nloss=0.01,duplicate=0.01,delay=5us,jitter=2us,reorder=0.01,late=1ms,timeout=1s,seed=7")
	flags.StringVar(&b.events, prefix+"events", "", "what happens to the simulated fabric: `FILE` with lines of a time and a command,\nor random:seed=1,count=10,within=10s (see ibkit sim ctl --help)")
}

func (b *simBehaviour) given() bool { return b.model != "" || b.events != "" }

// apply makes a fabric behave so from now on. failed is told of events that
// could not happen.
func (b *simBehaviour) apply(f *sim.Fabric, failed func(error)) error {
	if strings.TrimSpace(b.model) != "" {
		if err := f.Model.ParseModel(b.model); err != nil {
			return &usageError{err}
		}
	}
	if b.events == "" {
		return nil
	}
	events, err := f.ReadEvents(b.events)
	if err != nil {
		return &usageError{err}
	}
	f.Play(events, failed)
	return nil
}
