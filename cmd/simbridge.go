package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/sim/bridge"
)

// simBridge is one call of sim bridge.
type simBridge struct {
	env    *environment
	plugs  []string
	fabric simInUse
}

func newSimBridge(env *environment) *cobra.Command {
	s := &simBridge{env: env}
	cmd := &cobra.Command{
		Use:   "bridge FABRIC",
		Short: "Plug ports of this host's kernel into a simulated fabric",
		Long: strings.TrimSpace(`
bridge makes InfiniBand ports of the kernel module ibtest ports of a simulated
fabric, until it is interrupted. Programs that know nothing of a simulator see
the fabric through /dev/infiniband/umadN then, and may take part in it: as a
subnet manager, or as an ibping server.

The module is one for tests, without a data path. It is no part of ibkit: its
sources are in the folder test/kmod/ibtest of ibkit's repository.`),
		Example: strings.Trim(`
  # the port ibtest0/1 is that of the first adapter
  ibkit sim bridge demo &
  iblinkinfo

  # two devices on two nodes, to be configured by opensm
  ibkit sim bridge fat-tree --sm off --plug ibtest0=host00001 --plug ibtest1=host00002`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageErrorf("%d arguments, expected one: the fabric to plug into", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&s.plugs, "plug", []string{"ibtest0="}, "make a port of this host that of a node: `DEVICE[/PORT]=NODE`, where NODE may have the number of\nits port in brackets behind it and stands for the first adapter where it is empty")
	s.fabric.define(flags)
	return cmd
}

func (s *simBridge) run(cmd *cobra.Command, description string) error {
	var plugs []bridge.Plug
	for _, text := range s.plugs {
		plug, err := bridge.ParsePlug(text)
		if err != nil {
			return &usageError{err}
		}
		plugs = append(plugs, plug)
	}
	f, err := s.fabric.build(s.env, cmd.CommandPath(), description)
	if err != nil {
		return err
	}
	b, err := bridge.Open(f, plugs)
	if err != nil {
		return err
	}
	// Scripts wait for this line.
	if _, err := fmt.Fprintln(s.env.out, "Plugged in."); err != nil {
		return err
	}
	return b.Run(cmd.Context())
}
