package cmd

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

const ibaddrUsage = `
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

// classicAddr is ibaddr of infiniband-diags.
type classicAddr struct {
	diagFlags
	form addrForm
}

// addrForm is what ibaddr prints of a port, and how.
type addrForm struct{ gid, lid, decimal bool }

// write prints a line.
func (f addrForm) write(out *output, gid ib.GID, first, last int) {
	if f.gid {
		fmt.Fprintf(out, "GID %s ", inetNtop(gid))
	}
	switch {
	case f.decimal:
		fmt.Fprintf(out, "LID start %d end %d", first, last)
	case f.lid:
		fmt.Fprintf(out, "LID start 0x%x end 0x%x", first, last)
	}
	fmt.Fprintln(out)
}

func ibaddr(ctx context.Context, env *environment, args []string) error {
	var c classicAddr
	operands, err := c.parse(env, "ibaddr", ibaddrUsage, "KL", []getoptFlag{
		{"gid_show", 'g', false}, {"lid_show", 'l', false}, {"Lid_show", 'L', false},
	}, args, func(short byte, _ string) error {
		switch short {
		case 'g':
			c.form.gid = true
		case 'l':
			c.form.lid = true
		case 'L':
			c.form.lid, c.form.decimal = true, true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !c.form.gid && !c.form.lid {
		c.form.gid, c.form.lid = true, true
	}
	if err := c.resolve(ctx, env, classic); err != nil {
		return &outcome{code: classicFailure, err: err}
	}
	smLID, err := c.lidOfSM()
	if err != nil {
		return &outcome{code: classicFailure, err: err}
	}
	port, err := c.openPort(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	client := umad.NewClient(port, c.client(env))
	var to umad.Target
	number := 0
	if len(operands) > 0 {
		to, err = c.destination(ctx, client, operands[0], smLID)
	} else {
		number = int(port.Attr().Number)
	}
	if err != nil {
		return err
	}
	if len(operands) > 1 {
		number = strtol(operands[1])
	}
	return c.show(ctx, client, to, uint32(number))
}

// show asks a node for its addresses and prints them.
func (c *classicAddr) show(ctx context.Context, client *umad.Client, to umad.Target, number uint32) error {
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
			return c.iberror("main", err, "can't resolve requested address")
		}
	}
	out := bufferedOut(c.env)
	c.form.write(out, ib.MakeGID(port.GIDPrefix, node.PortGUID), int(port.LID), int(port.LID)+1<<port.LMC-1)
	return out.Flush()
}

// inetNtop writes a GID as glibc's inet_ntop does. That takes one that begins with
// 96 bits of 0, as where no subnet manager has set the prefix, for an IPv4 address.
func inetNtop(gid ib.GID) string {
	if [12]byte(gid[:]) == [12]byte{} && (gid[12] != 0 || gid[13] != 0) {
		return "::" + netip.AddrFrom4([4]byte(gid[12:])).String()
	}
	return gid.String()
}
