// Package ibportstate implements ibportstate from infiniband-diags. It prints PortInfo
// after each request to the port and its peer, without a scan and with the original's
// warnings, while portchange scans the fabric to find peers and risks.
package ibportstate

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// New returns ibportstate.
func New(env *cmdutil.Env) *getopt.Tool {
	d := getopt.NewDiag(env, "ibportstate")
	return &getopt.Tool{
		Name: "ibportstate", Family: getopt.InfinibandDiags,
		Operands: "<dest dr_path|lid|guid> <portnum> [<op>]\n" +
			"\nSupported ops: enable, disable, on, off, reset, speed, espeed, fdr10,\n" +
			"\twidth, query, down, arm, active, vls, mtu, lid, smlid, lmc,\n" +
			"\tmkey, mkeylease, mkeyprot\n",
		Examples: []string{
			"-C qib0 -P 1 3 1 disable     # by CA name, CA Port Number, lid, physical port number",
			"-C qib0 -P 1 3 1 enable      # by CA name, CA Port Number, lid, physical port number",
			"-D 0 1\t\t\t# (query) by direct route",
			"3 1 reset\t\t\t# by lid",
			"3 1 speed 1\t\t\t# by lid",
			"3 1 width 1\t\t\t# by lid",
			"-D 0 1 lid 0x1234 arm\t\t# by direct route",
		},
		Options: d.Options(""),
		Run: func(ctx context.Context, operands []string) error {
			return run(ctx, d, operands)
		},
	}
}

// A call is the state while ibportstate runs.
type call struct {
	*getopt.Diag
	ctx    context.Context
	client *umad.Client
	local  umad.PortAttr
	out    *render.Output
	to     getopt.PortID
	number int32
	change change

	guid ib.GUID        // operand GUID; 0: another address kind
	port *umad.Identity // for which the change is meant
}

// A failure ends the tool with the text and, with -d, the C tool's function.
type failure struct{ function, text string }

func (f *failure) Error() string { return f.text }

func run(ctx context.Context, d *getopt.Diag, operands []string) error {
	if len(operands) < 2 {
		return getopt.ErrUsage
	}
	port, err := d.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	c := &call{Diag: d, ctx: ctx, client: d.NewClient(port), local: port.Attr(), out: render.NewOutput(d.Env.Out)}
	if c.to, err = c.PortID(ctx, c.client, operands[0]); err != nil {
		return err
	}
	if d.ByGUID {
		c.guid = ib.GUID(getopt.Strtoull(operands[0]))
	}
	c.number = int32(getopt.Strtol(operands[1]))
	if err = c.parse(operands[2:]); err == nil {
		err = c.run()
	}
	if flushed := c.out.Flush(); flushed != nil {
		return flushed
	}
	if failed, ok := errors.AsType[*failure](err); ok {
		return d.Iberror(failed.function, nil, "%s", failed.text)
	}
	return err
}

func (c *call) run() error {
	node, err := c.nodeInfo(c.to)
	if err != nil {
		return err
	}
	c.port = new(umad.IdentityOf(node, 0))
	if c.guid != 0 {
		c.port.PortGUID = c.guid
	}
	p := &reading{to: c.to, number: c.number, isSwitch: node.IsSwitch()}
	if c.change.has("mkey", "mkeylease", "mkeyprot") && p.isSwitch && c.number != 0 {
		return &failure{"main", "Can't set M_Key fields on switch port != 0"}
	}
	title := "CA/RT"
	if p.isSwitch {
		title = "Switch"
	}
	if c.change.isQuery() {
		fmt.Fprintf(c.out, "%s PortInfo:\n", title)
	} else {
		fmt.Fprintf(c.out, "Initial %s PortInfo:\n", title)
	}
	if err := c.readPort(p); err != nil {
		return err
	}
	if err := c.show(p); err != nil {
		return err
	}
	if err := c.readExtended(p, node); err != nil {
		return err
	}
	if p.hasExt {
		if err := c.showExtended(p); err != nil {
			return err
		}
	}
	if c.change.isQuery() {
		return c.validate(p)
	}
	return c.set(p)
}
