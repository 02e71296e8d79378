package sim

import (
	"cmp"
	"fmt"
	"strings"

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
	fabric  inUse
}

func newServe(env *cmdutil.Env) *cobra.Command {
	s := &serveCommand{env: env}
	cmd := &cobra.Command{
		Use:   "serve FABRIC",
		Short: "Serve a simulated fabric to other programs, as ibsim does",
		Long: strings.TrimSpace(`
serve puts a simulated fabric behind the sockets of ibsim, the simulator of
linux-rdma, until it is interrupted. C tools attach by its library
libumad2sim.so, ibkit by --sim ibsim. More than ten at a time may do so.

Programs choose the node that they run at by the environment variable SIM_HOST:
an ID or a description, with a port in brackets where it is not the first
that is up. Where there is none, it is the first adapter.

ibkit sim ctl changes the fabric meanwhile.`),
		Example: strings.Trim(`
  ibkit sim serve demo &
  LD_PRELOAD=/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so iblinkinfo
  ibkit linkinfo --sim ibsim`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdutil.UsageErrorf("%d arguments, expected one: the fabric to serve", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.name, "name", "", "first part of the sockets' `NAME` (default: the environment variable IBSIM_SOCKNAME, or sim)")
	flags.Uint16Var(&s.port, "listen", 0, "serve clients elsewhere as well, by UDP on `PORT` and one more port for each; anyone who gets there may attach")
	flags.StringVar(&s.console, "console", "", "`PATH` of the socket for ibkit sim ctl (default: in a directory of the user's own)")
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
	})
	if err != nil {
		return err
	}
	// Scripts wait for this line, which ibsim prints as well.
	if _, err := fmt.Fprintln(s.env.Out, "Network simulator ready."); err != nil {
		return err
	}
	err = server.Serve(cmd.Context())
	if c := server.Counters(); c.Malformed+c.Overflowed > 0 {
		fmt.Fprintf(s.env.ErrOut, "dropped datagrams: %d that are not ibsim's, %d to clients that did not read\n", c.Malformed, c.Overflowed)
	}
	return err
}
