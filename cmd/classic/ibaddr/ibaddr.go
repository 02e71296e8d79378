// Package ibaddr implements ibaddr from infiniband-diags. It computes a single port's
// addresses from two replies, without a scan and in the original's formats, while package
// resolve searches the fabric.
package ibaddr

import (
	"context"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibaddr call.
type command struct {
	*getopt.Diag
	form form
}

// New returns ibaddr.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibaddr")}
	return &getopt.Tool{
		Name: "ibaddr", Family: getopt.InfinibandDiags, Operands: "[<lid|dr_path|guid>]",
		Examples: []string{
			"\t\t# local port's address",
			"32\t\t# show lid range and gid of lid 32",
			"-G 0x8f1040023\t# same but using guid address",
			"-l 32\t\t# show lid range only",
			"-L 32\t\t# show decimal lid range only",
			"-g 32\t\t# show gid address only",
		},
		Options: append([]getopt.Option{
			{Long: "gid_show", Short: 'g', Help: "show gid address only", Set: getopt.True(&c.form.gid)},
			{Long: "lid_show", Short: 'l', Help: "show lid range only", Set: getopt.True(&c.form.lid)},
			{Long: "Lid_show", Short: 'L', Help: "show lid range (in decimal) only", Set: func(string) error {
				c.form.lid, c.form.decimal = true, true
				return nil
			}},
		}, c.Options("KL")...),
		Run: c.run,
	}
}

func (c *command) run(ctx context.Context, operands []string) error {
	if !c.form.gid && !c.form.lid {
		c.form.gid, c.form.lid = true, true
	}
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	client := umad.NewClient(port, c.Client(c.Env))
	to := umad.Target{Route: mad.Local}
	number := 0
	if len(operands) > 0 {
		to, err = c.Destination(ctx, client, operands[0])
	} else {
		number = int(port.Attr().Number)
	}
	if err != nil {
		return err
	}
	if len(operands) > 1 {
		number = getopt.Strtol(operands[1])
	}
	return c.show(ctx, client, to, uint32(number))
}

// show queries port addresses and prints them.
func (c *command) show(ctx context.Context, client *umad.Client, to umad.Target, number uint32) error {
	var node mad.NodeInfo
	var port mad.PortInfo
	for _, a := range []struct {
		attr     mad.Attribute
		modifier uint32
	}{{&node, 0}, {&port, number}} {
		if err := client.Get(ctx, to, a.attr, umad.Modifier(a.modifier)); err != nil {
			return c.Iberror("main", err, "can't resolve requested address")
		}
	}
	out := render.NewOutput(c.Env.Out)
	c.form.write(out, ib.MakeGID(port.GIDPrefix, node.PortGUID), int(port.LID), int(port.LID)+1<<port.LMC-1)
	return out.Flush()
}
