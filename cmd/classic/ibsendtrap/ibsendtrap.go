// Package ibsendtrap implements ibsendtrap from infiniband-diags.
package ibsendtrap

import (
	"context"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibsendtrap call.
type command struct{ *getopt.Diag }

// New returns ibsendtrap.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{getopt.NewDiag(env, "ibsendtrap")}
	var operands strings.Builder
	operands.WriteString("[<trap_name>] [<error_port>]\n\nArgument <trap_name> can be one of the following:\n")
	for _, t := range traps {
		fmt.Fprintf(&operands, "  %s\n", t.name)
	}
	fmt.Fprintf(&operands, "\n  default behavior is to send %q", traps[0].name)
	return &getopt.Tool{
		Name: "ibsendtrap", Family: getopt.InfinibandDiags, Operands: operands.String(),
		Options: c.Options("DGKL"), Run: c.run,
	}
}

func (c *command) run(ctx context.Context, operands []string) error {
	name, errorPort := traps[0].name, 1
	if len(operands) > 0 {
		name = operands[0]
	}
	if len(operands) > 1 {
		errorPort = getopt.Atoi(operands[1])
	}
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	for _, t := range traps {
		if t.name == name {
			s := &sender{command: c, ctx: ctx, client: c.NewClient(port), local: port.Attr(), errorPort: uint8(errorPort)}
			n, err := s.notice(t.number, t.adapt)
			if err != nil {
				return err
			}
			return s.send(port, n)
		}
	}
	return getopt.ErrUsage
}

// A sender sends a trap for the local port.
type sender struct {
	*command
	ctx       context.Context
	client    *umad.Client
	local     umad.PortAttr
	errorPort uint8 // port in a link trap
}

// get queries a local port attribute by the port's LID.
func (s *sender) get(a mad.Attribute) bool {
	to := umad.Target{LID: s.local.LID}
	_, err := s.Call(s.ctx, s.client, getopt.MadRPC, getopt.PortID{Target: to, Text: to.String()}, &umad.Request{Value: a})
	return err == nil
}

// send sends a trap to the subnet manager. It does not wait for the
// response.
func (s *sender) send(port umad.Port, n *mad.Notice) error {
	if s.local.SMLID == 0 {
		return s.Iberror("main", umad.ErrNoSM, "can't resolve SM destination port")
	}
	if err := trap.SendOnce(port, umad.Target{LID: s.local.SMLID, SL: s.local.SMSL}, n); err != nil {
		return fmt.Errorf("send trap %d: %w", n.TrapNumber, err)
	}
	return nil
}
