package sim

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/sim/serve"
)

// serveCommand is one call of sim serve.
type serveCommand struct {
	env     *cmdutil.Env
	name    string
	port    uint16
	console string
	rmpp    bool
	fabric  inUse
}

func newServe(env *cmdutil.Env) *cobra.Command {
	s := &serveCommand{env: env}
	cmd := &cobra.Command{
		Use:   "serve [flags] FABRIC",
		Short: "Serve a simulated fabric to other programs, like ibsim",
		Long: strings.TrimSpace(`
serve makes a simulated fabric available on the sockets of ibsim, the simulator
of linux-rdma, until it is interrupted. C tools attach with the preloaded
library libumad2sim.so, ibkit with --sim ibsim. Up to 1024 programs can attach.

The environment variable SIM_HOST selects the node that a program runs at: an ID
or a description, with a port number in brackets for a port other than the first
one that is up. The default is the first adapter.

ibkit sim ctl changes the fabric while it is served.`),
		Example: strings.Trim(`
  ibkit sim serve demo &
  LD_PRELOAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so iblinkinfo
  ibkit linkinfo --sim ibsim`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdutil.Missing("fabric")
			}
			if len(args) != 1 {
				return cmdutil.UsageErrorf("number of fabrics: got %d, want 1", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.name, "name", "", "`NAME` of the server, first part of its sockets' names\n(default: IBSIM_SOCKNAME, or sim)")
	flags.Uint16Var(&s.port, "udp", 0, "also serve clients on other hosts by UDP, without authentication,\non `PORT` and one port above it per client")
	flags.BoolVar(&s.rmpp, "rmpp", false, "send long tables in segments, which only ibkit can read")
	flags.StringVar(&s.console, "console", "", "`PATH` of the socket for ibkit sim ctl (default: in a private directory)")
	s.fabric.define(env, cmd)
	cmdutil.CompleteOperand(env, cmd, fabricflag.Fabrics)
	return cmd
}

func (s *serveCommand) run(cmd *cobra.Command, description string) error {
	f, err := s.fabric.build(s.env, cmd.CommandPath(), description)
	if err != nil {
		return err
	}
	name := cmp.Or(s.name, s.env.Getenv("IBSIM_SOCKNAME"))
	server, err := serve.Listen(f, serve.Options{
		SockName: name,
		UDPPort:  int(s.port),
		Console:  consolePath(s.env, s.console, name),
		RMPP:     s.rmpp,
	})
	if errors.Is(err, syscall.EADDRINUSE) {
		return cmdutil.WithHint(err, "another server runs: use it, or select another --name, --udp or --console")
	}
	if err != nil {
		return err
	}
	// Scripts wait for this line of ibsim.
	if _, err := fmt.Fprintln(s.env.Out, "Network simulator ready."); err != nil {
		return err
	}
	err = server.Serve(cmd.Context())
	if c := server.Counters(); c.Malformed+c.Overflowed > 0 {
		fmt.Fprintf(s.env.ErrOut, "dropped packets: %d malformed, %d for clients that do not read\n", c.Malformed, c.Overflowed)
	}
	return err
}
