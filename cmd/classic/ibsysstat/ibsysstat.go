// Package ibsysstat implements ibsysstat from infiniband-diags.
package ibsysstat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/sysstat"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibsysstat call.
type command struct {
	*getopt.Diag
	oui    uint32
	server bool
}

// New returns ibsysstat.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibsysstat"), oui: mad.OpenIB}
	return &getopt.Tool{
		Name: "ibsysstat", Family: getopt.InfinibandDiags, Operands: "<dest lid|guid> [<op>]",
		Options: append([]getopt.Option{
			{Long: "oui", Short: 'o', Arg: "<val>", Help: "use specified OUI number", Set: func(value string) error {
				c.oui = uint32(getopt.Strtoull(value)) & (1<<24 - 1)
				return nil
			}},
			{Long: "Server", Short: 'S', Help: "start in server mode", Set: getopt.True(&c.server)},
		}, c.Options("DKy")...),
		Run: c.run,
	}
}

// operations are the operations' attributes.
var operations = map[string]mad.AttrID{
	"ping": mad.AttrSysstatPing,
	"host": mad.AttrSysstatHost,
	"cpu":  mad.AttrSysstatCPU,
}

func (c *command) run(ctx context.Context, operands []string) error {
	if len(operands) == 0 && !c.server {
		return getopt.ErrUsage
	}
	attr := mad.AttrSysstatPing
	if len(operands) > 1 {
		var known bool
		if attr, known = operations[operands[1]]; !known {
			return getopt.ErrUsage
		}
	}
	if c.server {
		return c.serve(ctx)
	}
	return c.query(ctx, operands[0], attr)
}

// query sends a query and prints the reply.
func (c *command) query(ctx context.Context, operand string, attr mad.AttrID) error {
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	to, err := c.PortID(ctx, c.NewClient(port), operand)
	if err != nil {
		return err
	}
	o := c.Client(c.Env)
	o.Attempts = 1 // the C tool does not repeat its query
	r := &umad.Request{To: to.Target, Class: mad.ClassSysstat, Attr: attr, OUI: c.oui}
	c.debug("Sysstat ping..")
	reply, err := umad.NewClient(port, o).CallLong(ctx, r, umad.LongOptions{})
	var status mad.StatusError
	switch {
	case errors.Is(err, umad.ErrTimeout):
		return c.Iberror("main", nil, "ibsystat to %s: Connection timed out", to.Text)
	case errors.As(err, &status):
		// The C tool does not check the status: agents without a server reply, too.
		c.Ibwarn("ibsystat", "MAD completed with error status 0x%x; dport (%s)", uint16(status), to.Text)
		reply = &umad.LongReply{}
	case err != nil:
		return c.Iberror("main", err, "ibsystat to %s: %v", to.Text, err)
	}
	c.debug("Got sysstat pong..")
	if attr == mad.AttrSysstatPing {
		_, err = fmt.Fprintln(c.Env.Out, "sysstat ping succeeded")
		return err
	}
	text, _, _ := bytes.Cut(reply.Data, []byte{0})
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		if _, err := fmt.Fprintln(c.Env.Out, render.Printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// debug prints a C tool message with -d.
func (c *command) debug(text string) {
	if c.Debug > 0 {
		fmt.Fprintf(c.Env.Out, "ibdebug: [%d] ibsystat: %s\n", os.Getpid(), text)
	}
}

// serve answers queries until a signal arrives, which ends the C tool. ibkit detaches from a
// simulator before it ends.
func (c *command) serve(ctx context.Context) error {
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	open, err := c.OpenServer(c.Env)
	if err != nil {
		return err
	}
	port, err := open(ctx)
	if err != nil {
		device, number := c.LocalPort()
		return c.Iberror("main", err, "Failed to open '%s' port '%d'", device, number)
	}
	defer port.Close()
	o := sysstat.Options{OUI: c.oui}
	if c.Debug > 0 {
		o.Log = slog.New(slog.NewTextHandler(c.Env.ErrOut, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	ctx, ended := getopt.UntilSignal(ctx)
	err = sysstat.Serve(ctx, port, o, func() {
		// Scripts wait for this line.
		if c.Debug > 0 {
			fmt.Fprintf(c.Env.Out, "ibdebug: [%d] ibsystat_serv: starting to serve...\n", os.Getpid())
		}
	})
	switch {
	case errors.Is(err, umad.ErrTaken):
		return c.Iberror("main", err, "can't serve class %d", mad.ClassSysstat)
	}
	return ended(err)
}
