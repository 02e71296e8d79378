package cmd

import (
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/sim"
)

// simInUse are flags of commands by which other programs use a simulated fabric.
type simInUse struct {
	sm        string
	pings     []string
	behaviour simBehaviour
}

func (s *simInUse) define(flags *pflag.FlagSet) {
	flags.StringVar(&s.sm, "sm", "", "how a subnet manager has configured the fabric: `WAY` on or minhop takes shortest ways, updown those that\ngo up and then down; off: none has, for one that attaches (default: what FABRIC says, or on)")
	flags.StringArrayVar(&s.pings, "ping", nil, "answer pings at `NODE` as an ibping server would; all: at every node")
	s.behaviour.define(flags, "")
}

// build makes the fabric and has it do what the flags say. command is who speaks
// of events that could not happen.
func (s *simInUse) build(env *environment, command, description string) (*sim.Fabric, error) {
	var options []string
	if s.sm != "" {
		options = append(options, "sm="+s.sm)
	}
	f, err := sim.Build(description, options...)
	if err != nil {
		return nil, &usageError{err}
	}
	if s.sm == "off" {
		f.Unconfigure() // a file may have LIDs
	}
	for _, node := range s.pings {
		c, err := f.ParseCommand("--ping", 1, "ping "+quoteNode(node))
		if err != nil {
			return nil, &usageError{err}
		}
		if err := f.Do(c, env.err); err != nil {
			return nil, err
		}
	}
	return f, s.behaviour.apply(f, func(err error) { say(env, command, err) })
}

// quoteNode makes a node's name one word, but for all, which names none.
func quoteNode(name string) string {
	if name == "all" {
		return name
	}
	return `"` + name + `"`
}
