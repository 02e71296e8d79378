package cmd

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/spf13/pflag"

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

// ibaddr is ibaddr of infiniband-diags.
func ibaddr(ctx context.Context, env *environment, args []string) error {
	var f fabricFlags
	flags := pflag.NewFlagSet("ibaddr", pflag.ContinueOnError)
	f.define(flags)
	common := map[byte]string{'z': "config", 'C': "Ca", 'P': "Port", 't': "timeout", 's': "sm_port", 'y': "m_key"}
	var gid, lid, decimal, direct, byGUID, help, showVersion bool
	operands, err := getopt("ibaddr", []getoptFlag{
		{"gid_show", 'g', false}, {"lid_show", 'l', false}, {"Lid_show", 'L', false},
		{"config", 'z', true}, {"Ca", 'C', true}, {"Port", 'P', true}, {"Direct", 'D', false}, {"Guid", 'G', false},
		{"timeout", 't', true}, {"sm_port", 's', true}, {"m_key", 'y', true}, {"errors", 'e', false},
		{"verbose", 'v', false}, {"debug", 'd', false}, {"help", 'h', false}, {"version", 'V', false},
	}, args, func(short byte, value string) error {
		switch short {
		case 'g':
			gid = true
		case 'l':
			lid = true
		case 'L':
			lid, decimal = true, true
		case 'D':
			direct, byGUID = true, false
		case 'G':
			direct, byGUID = false, true
		case 'e', 'd':
			f.errors = true
		case 'v':
			f.verbose++
		case 'h':
			help = true
		case 'V':
			showVersion = true
		default:
			return flags.Set(common[short], value)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(env.err, err)
	}
	if err != nil || help {
		fmt.Fprint(env.err, ibaddrUsage)
		return &outcome{code: 2}
	}
	if showVersion {
		fmt.Fprintf(env.err, "ibaddr BUILD VERSION: %s\n", version())
		return nil
	}
	if !gid && !lid {
		gid, lid = true, true
	}
	node, port, err := askAddress(ctx, env, &f, operands, direct, byGUID)
	if err != nil {
		return &outcome{code: classicFailure, err: err}
	}
	if gid {
		fmt.Fprintf(env.out, "GID %v ", netip.AddrFrom16(mad.MakeGID(port.GIDPrefix, node.PortGUID)))
	}
	last := int(port.LID) + 1<<port.LMC - 1
	switch {
	case decimal:
		fmt.Fprintf(env.out, "LID start %d end %d", port.LID, last)
	case lid:
		fmt.Fprintf(env.out, "LID start 0x%x end 0x%x", port.LID, last)
	}
	fmt.Fprintln(env.out)
	return nil
}

// askAddress asks the node that the operands name for its addresses; the local
// one where there are none.
func askAddress(ctx context.Context, env *environment, f *fabricFlags, operands []string, direct, byGUID bool) (node mad.NodeInfo, port mad.PortInfo, err error) {
	if err = f.resolve(ctx, env, classic); err != nil {
		return node, port, err
	}
	smLID, err := f.lidOfSM()
	if err != nil {
		return node, port, err
	}
	p, err := f.open(env)(ctx)
	if err != nil {
		return node, port, err
	}
	defer p.Close()
	c := umad.NewClient(p, f.client(env))
	var to umad.Target
	number := uint32(0)
	switch {
	case len(operands) == 0:
		number = uint32(p.Attr().Number)
	case direct:
		to.Route, err = mad.ParseRoute(operands[0])
	case byGUID:
		var guid uint64
		if guid, err = mad.ParseGUID(operands[0]); err == nil {
			to.LID, err = c.ResolveGUID(ctx, guid, smLID)
		}
	default:
		n := strtol(operands[0])
		if to.LID = uint16(n); n != int(to.LID) || !mad.IsUnicastLID(to.LID) {
			err = fmt.Errorf("can't resolve destination port %s", operands[0])
		}
	}
	if len(operands) > 1 {
		number = uint32(strtol(operands[1]))
	}
	if err != nil {
		return node, port, err
	}
	for _, a := range []struct {
		attr     mad.Attribute
		modifier uint32
	}{{&node, 0}, {&port, number}} {
		reply, err := c.Call(ctx, &umad.Request{To: to, Attr: a.attr.ID(), Modifier: a.modifier})
		if err == nil {
			err = mad.Decode(a.attr, reply.Data())
		}
		if err != nil {
			return node, port, fmt.Errorf("can't resolve requested address: %w", err)
		}
	}
	return node, port, nil
}
