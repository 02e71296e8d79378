package sim

import (
	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/sim"
)

// inUse holds the flags of commands that serve a simulated fabric.
type inUse struct {
	sm        string
	pings     []string
	behaviour fabricflag.Behaviour
}

func (s *inUse) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &s.sm, "sm", "", []string{"on", "minhop", "updown", "off"}, "routing `MODE` of the subnet manager (off: not configured)")
	flags.StringArrayVar(&s.pings, "ping", nil, "run an ibping server at a `NODE` (all: at each node)")
	cmdutil.CompleteFlag(env, cmd, "ping", fabricflag.NodeNames)
	s.behaviour.Define(env, cmd)
}

// build makes the fabric and applies the flags. command is the prefix of messages about
// events that fail.
func (s *inUse) build(env *cmdutil.Env, command, description string) (*sim.Fabric, error) {
	var options []string
	if s.sm != "" {
		options = append(options, "sm="+s.sm)
	}
	f, err := fabricflag.Build(description, options...)
	if err != nil {
		return nil, err
	}
	if s.sm == "off" {
		f.Unconfigure() // a file may contain LIDs
	}
	for _, node := range s.pings {
		c, err := f.ParseCommand("--ping", 1, "ping "+quoteNode(node))
		if err != nil {
			return nil, &cmdutil.UsageError{Err: err}
		}
		if err := f.Do(c, env.ErrOut); err != nil {
			return nil, err
		}
	}
	return f, s.behaviour.Apply(f, func(err error) { cmdutil.PrintError(env, command, err) })
}

// quoteNode quotes the name of a node; all is a keyword.
func quoteNode(name string) string {
	if name == "all" {
		return name
	}
	return `"` + name + `"`
}
