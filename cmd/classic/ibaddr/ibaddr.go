// Package ibaddr is ibaddr of infiniband-diags.
package ibaddr

import (
	"context"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/portaddr"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

const usage = `
Usage: ibaddr [options] [<lid|dr_path|guid>]

Options:
  --gid_show, -g          show gid address only
  --lid_show, -l          show lid range only
  --Lid_show, -L          show lid range (in decimal) only
  --config, -z <config>   use config file, default: /etc/infiniband-diags/ibdiag.conf
  --Ca, -C <ca>           Ca name to use
  --Port, -P <port>       Ca port number to use
  --Direct, -D            use Direct address argument
  --Guid, -G              use GUID address argument
  --timeout, -t <ms>      timeout in ms
  --sm_port, -s <lid>     SM port lid
  --m_key, -y <key>       M_Key to use in request
  --errors, -e            show send and receive errors
  --verbose, -v           increase verbosity level
  --debug, -d             raise debug level
  --help, -h              help message
  --version, -V           show version

Examples:
  ibaddr 		# local port's address
  ibaddr 32		# show lid range and gid of lid 32
  ibaddr -G 0x8f1040023	# same but using guid address
  ibaddr -l 32		# show lid range only
  ibaddr -L 32		# show decimal lid range only
  ibaddr -g 32		# show gid address only

`

// command is ibaddr of infiniband-diags.
type command struct {
	getopt.Diag
	form portaddr.Form
}

func Run(ctx context.Context, env *cmdutil.Env, args []string) error {
	var c command
	operands, err := c.Parse(env, "ibaddr", usage, "KL", []getopt.Option{
		{Long: "gid_show", Short: 'g', HasValue: false}, {Long: "lid_show", Short: 'l', HasValue: false}, {Long: "Lid_show", Short: 'L', HasValue: false},
	}, args, func(short byte, _ string) error {
		switch short {
		case 'g':
			c.form.GID = true
		case 'l':
			c.form.LID = true
		case 'L':
			c.form.LID, c.form.Decimal = true, true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !c.form.GID && !c.form.LID {
		c.form.GID, c.form.LID = true, true
	}
	if err := c.Resolve(ctx, env, fabricflag.Classic); err != nil {
		return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	smLID, err := c.SMLID()
	if err != nil {
		return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	port, err := c.OpenPort(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	client := umad.NewClient(port, c.Client(env))
	var to umad.Target
	number := 0
	if len(operands) > 0 {
		to, err = c.Destination(ctx, client, operands[0], smLID)
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

// show asks a node for its addresses and prints them.
func (c *command) show(ctx context.Context, client *umad.Client, to umad.Target, number uint32) error {
	var node mad.NodeInfo
	var port mad.PortInfo
	for _, a := range []struct {
		attr     mad.Attribute
		modifier uint32
	}{{&node, 0}, {&port, number}} {
		reply, err := client.Call(ctx, &umad.Request{To: to, Attr: a.attr.ID(), Modifier: a.modifier})
		if err == nil {
			err = mad.Decode(a.attr, reply.Data())
		}
		if err != nil {
			return c.Iberror("main", err, "can't resolve requested address")
		}
	}
	out := render.NewOutput(c.Env.Out)
	c.form.Write(out, ib.MakeGID(port.GIDPrefix, node.PortGUID), int(port.LID), int(port.LID)+1<<port.LMC-1)
	return out.Flush()
}
