// Package ibvdevinfo implements ibv_devinfo from libibverbs.
package ibvdevinfo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/libibverbs"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// command is an ibv_devinfo call.
type command struct {
	view
	settings fabricflag.Settings
	device   string
	list     bool
}

// New returns ibv_devinfo.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{view: view{out: render.NewOutput(env.Out), env: env}}
	return &getopt.Tool{
		Name: "ibv_devinfo", Family: libibverbs.Family, About: "print the ca attributes",
		Options: append([]getopt.Option{
			{Long: "ib-dev", Short: 'd', Arg: "<dev>", Help: "use IB device <dev> (default all devices)", Set: getopt.Text(&c.device), Complete: cmdutil.DeviceNames},
			{Long: "ib-port", Short: 'i', Arg: "<port>", Help: "use port <port> of IB device (default all ports)", Set: c.setPort},
			{Long: "list", Short: 'l', Help: "print only the IB devices names", Set: func(string) error {
				c.list = true
				return getopt.ErrStop
			}},
			{Long: "verbose", Short: 'v', Help: "print all the attributes of the IB device(s)", Set: getopt.True(&c.verbose)},
		}, getopt.SimOptions(&c.settings)...),
		Run: c.run,
	}
}

func (c *command) setPort(value string) error {
	if c.port = getopt.Strtol(value); c.port <= 0 {
		return &getopt.UsageError{Code: 1}
	}
	c.port &= 0xff // the C tool keeps a byte
	return nil
}

func (c *command) run(ctx context.Context, _ []string) error {
	defer c.out.Flush()
	if err := libibverbs.Check(c.env, &c.settings, getopt.ExitFailure); err != nil {
		return err
	}
	if c.list {
		names := devinfo.Names(devinfo.Options{Sysfs: c.env.Sysfs()})
		s := "s"
		if len(names) == 1 {
			s = ""
		}
		fmt.Fprintf(c.out, "%d HCA%s found:\n", len(names), s)
		for _, name := range names {
			fmt.Fprintf(c.out, "\t%s\n", name)
		}
		fmt.Fprintln(c.out)
		return nil
	}
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: c.env.Sysfs(), Brief: true, Device: c.device})
	if r == nil {
		return err
	}
	code, found := 0, false
	for _, d := range r.Devices {
		// libibverbs lists only devices with an existing uverbs node.
		if d.UVerbs == nil || errors.Is(d.OpenError, fs.ErrNotExist) {
			continue
		}
		found = true
		code |= c.showDevice(d)
	}
	if !found {
		code = getopt.ExitFailure
		if c.device != "" {
			fmt.Fprintf(c.env.ErrOut, "IB device '%s' wasn't found\n", c.device)
		} else {
			fmt.Fprintln(c.env.ErrOut, "No IB devices found")
		}
	}
	if code != 0 {
		return &cmdutil.ExitError{Code: code}
	}
	return nil
}

// transports maps node types to libibverbs transports.
var transports = map[string]struct {
	number int
	name   string
}{
	"CA": {0, "InfiniBand"}, "Switch": {0, "InfiniBand"}, "Router": {0, "InfiniBand"},
	"RNIC": {1, "iWARP"}, "usNIC": {2, "usNIC"}, "usNIC UDP": {3, "usNIC UDP"}, "unspecified": {4, "unspecified"},
}

// view prints devices in ibv_devinfo format.
type view struct {
	out     *render.Output
	env     *cmdutil.Env
	port    int // 0 for all
	verbose bool
}

// fail prints an error and returns the exit code.
func (v *view) fail(code int, format string, args ...any) int {
	fmt.Fprintf(v.env.ErrOut, format+"\n", args...)
	return code
}

// showDevice prints a device. It returns the bits to set in the exit code.
func (v *view) showDevice(d *devinfo.Device) int {
	switch {
	case d.OpenError != nil:
		return v.fail(1, "Failed to open device")
	case d.Attr == nil:
		return v.fail(2, "Failed to query device props")
	case v.port > int(d.Attr.PhysPortCount):
		return v.fail(4, "Invalid port requested for device")
	}
	a := d.Attr
	kind := ""
	if d.NodeType != nil {
		kind = *d.NodeType
	}
	transport, ok := transports[kind]
	if !ok {
		transport.number, transport.name = -1, "invalid transport"
	}
	fmt.Fprintf(v.out, "hca_id:\t%s\n", d.Name)
	fmt.Fprintf(v.out, "\ttransport:\t\t\t%s (%d)\n", transport.name, transport.number)
	fw := a.FW.String()
	if fw == "" && d.Firmware != nil {
		fw = *d.Firmware
	}
	if fw != "" {
		fmt.Fprintf(v.out, "\tfw_ver:\t\t\t\t%s\n", fw)
	}
	fmt.Fprintf(v.out, "\tnode_guid:\t\t\t%s\n", colons(uint64(a.NodeGUID)))
	fmt.Fprintf(v.out, "\tsys_image_guid:\t\t\t%s\n", colons(uint64(a.SysImageGUID)))
	fmt.Fprintf(v.out, "\tvendor_id:\t\t\t0x%04x\n", a.VendorID)
	fmt.Fprintf(v.out, "\tvendor_part_id:\t\t\t%d\n", int32(a.VendorPartID))
	fmt.Fprintf(v.out, "\thw_ver:\t\t\t\t0x%X\n", a.HWVersion)
	if d.BoardID != nil && *d.BoardID != "" {
		fmt.Fprintf(v.out, "\tboard_id:\t\t\t%s\n", *d.BoardID)
	}
	fmt.Fprintf(v.out, "\tphys_port_cnt:\t\t\t%d\n", a.PhysPortCount)
	if v.verbose {
		v.capabilities(d)
	}
	for _, p := range d.Ports {
		if v.port != 0 && p.Number != v.port {
			continue
		}
		if p.Attr == nil {
			return v.fail(errnoOf(p.QueryError), "Failed to query port %d props", p.Number)
		}
		v.showPort(d, p, transport.number == 0)
	}
	return 0
}

func (v *view) showPort(d *devinfo.Device, p *devinfo.Port, infiniband bool) {
	a := p.Attr
	fmt.Fprintf(v.out, "\t\tport:\t%d\n", p.Number)
	fmt.Fprintf(v.out, "\t\t\tstate:\t\t\t%s (%d)\n", portState(a.State), uint8(a.State))
	fmt.Fprintf(v.out, "\t\t\tmax_mtu:\t\t%s (%d)\n", mtu(a.MaxMTU), uint8(a.MaxMTU))
	fmt.Fprintf(v.out, "\t\t\tactive_mtu:\t\t%s (%d)\n", mtu(a.ActiveMTU), uint8(a.ActiveMTU))
	fmt.Fprintf(v.out, "\t\t\tsm_lid:\t\t\t%d\n", a.SMLID)
	fmt.Fprintf(v.out, "\t\t\tport_lid:\t\t%d\n", a.LID)
	fmt.Fprintf(v.out, "\t\t\tport_lmc:\t\t0x%02x\n", a.LMC)
	fmt.Fprintf(v.out, "\t\t\tlink_layer:\t\t%s\n", linkLayer(a.LinkLayer))
	if v.verbose {
		v.portCapabilities(p, infiniband)
		for _, g := range d.GIDs {
			if int(g.Port) == p.Number {
				v.gid(g, a.LinkLayer)
			}
		}
	}
	fmt.Fprintln(v.out)
}

// gid prints a GID table entry. RoCE v2 GIDs have the short address form.
func (v *view) gid(g verbs.GIDEntry, layer ib.LinkLayer) {
	b := g.GID.As16()
	if binary.BigEndian.Uint64(b[8:]) == 0 {
		return
	}
	text := g.GID.StringExpanded()
	if g.GID.Is4In6() {
		text = fmt.Sprintf("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", b[12], b[13], b[14], b[15])
	}
	if g.Type == verbs.GIDTypeRoCEv2 {
		text = g.GID.String()
	}
	if layer == ib.LinkLayerEthernet {
		kind := verbs.GIDTypeRoCEv1
		if g.Type == verbs.GIDTypeRoCEv2 {
			kind = g.Type
		}
		text += ", " + kind.String()
	}
	fmt.Fprintf(v.out, "\t\t\tGID[%3d]:\t\t%s\n", g.Index, text)
}
