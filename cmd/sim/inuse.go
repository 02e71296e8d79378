package sim

import (
	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/sim"
)

// inUse are flags of commands by which other programs use a simulated fabric.
type inUse struct {
	sm        string
	pings     []string
	behaviour fabricflag.Behaviour
}

func (s *inUse) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.sm, "sm", "", "how a subnet manager has configured the fabric: `WAY` on or minhop takes shortest ways, updown those that\ngo up and then down; off: none has, for one that attaches (default: what FABRIC says, or on)")
	cmdutil.CompleteFlag(env, cmd, "sm", cmdutil.Constant("on", "minhop", "updown", "off"))
	flags.StringArrayVar(&s.pings, "ping", nil, "answer pings at `NODE` as an ibping server would; all: at every node")
	cmdutil.CompleteFlag(env, cmd, "ping", fabricflag.NodeNames)
	s.behaviour.Define(env, cmd, "")
}

// build makes the fabric and has it do what the flags say. command is who speaks
// of events that could not happen.
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
		f.Unconfigure() // a file may have LIDs
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

// quoteNode makes a node's name one word, but for all, which names none.
func quoteNode(name string) string {
	if name == "all" {
		return name
	}
	return `"` + name + `"`
}
