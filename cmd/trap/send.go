package trap

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/internal/tool/trap"
)

// sendCommand is one call of trap send.
type sendCommand struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	port   uint8
	noWait bool
}

func newSend(env *cmdutil.Env) *cobra.Command {
	c := &sendCommand{env: env}
	cmd := &cobra.Command{
		Use:   "send [flags] TRAP",
		Short: "Send a trap for tests to the subnet manager",
		Long: strings.TrimSpace(`
send sends a trap with example details from the local port to the subnet
manager, and waits until the manager represses it. A TRAP is a name or a number.

The subnet manager cannot distinguish the trap from a real one: it logs it,
forwards it to subscribers, and may sweep the fabric.`),
		Example: strings.Trim(`
  # an error at port 3
  ibkit trap send link-integrity --port 3

  # a changed node description, which makes opensm sweep the fabric
  ibkit trap send capabilities`, "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), cmd.Flags(), args) },
	}
	flags := cmd.Flags()
	c.port = 1
	cmdutil.NumberFlag(flags, &c.port, "port", cmdutil.NumberRange{Least: 1, Most: 254}, "`NUMBER` of the port in traps about a link")
	flags.BoolVar(&c.noWait, "no-wait", false, "send once, and do not wait for the subnet manager")
	c.fabric.Define(env, cmd)
	cmdutil.CompleteOperand(env, cmd, cmdutil.Constant(kindNames()...))
	return cmd
}

func (c *sendCommand) run(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	if len(args) == 0 {
		return cmdutil.Missing("trap")
	}
	if len(args) != 1 {
		return cmdutil.UsageErrorf("number of traps: got %d, want 1", len(args))
	}
	kind, err := parseKind(args[0])
	if err != nil {
		return err
	}
	if kind.Name == "" {
		return cmdutil.UsageErrorf("send trap %d: the specification does not define its details", kind.Number)
	}
	if flags.Changed("port") && !trap.HasPort(kind.Number) {
		return cmdutil.UsageErrorf("--port has no effect on trap %v: its details contain no port", kind)
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	sent, err := trap.Send(ctx, trap.SendOptions{
		Source: c.fabric.Source(c.env), SMLID: c.fabric.SMLID, Kind: kind, Port: c.port, NoWait: c.noWait,
	})
	if err != nil {
		return fabricflag.WithHint(err)
	}
	text := fmt.Sprintf("trap %d (%v) sent to %s", kind.Number, kind, sent.To.Place())
	if !c.noWait {
		text += fmt.Sprintf(", repressed after %v", sent.RTT.Round(time.Microsecond))
	}
	_, err = fmt.Fprintln(c.env.Out, text)
	c.fabric.PrintStats(c.env)
	return err
}
