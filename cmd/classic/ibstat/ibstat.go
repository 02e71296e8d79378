// Package ibstat implements ibstat from infiniband-diags.
package ibstat

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/simhost"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/verbs"
)

// command is an ibstat call.
type command struct {
	*getopt.Diag
	view
	list, portList bool
}

// New returns ibstat. The options -z and -v have no effect, as in infiniband-diags. -d
// would enable libibumad messages, but that library is not used here.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibstat"), view: view{out: render.NewOutput(env.Out), env: env, port: -1}}
	return &getopt.Tool{
		Name: "ibstat", Family: getopt.InfinibandDiags, Operands: "<ca_name> [portnum]",
		Examples: []string{
			"-l       # list all IB devices",
			"mthca0 2 # stat port 2 of 'mthca0'",
		},
		Options: append([]getopt.Option{
			{Long: "list_of_cas", Short: 'l', Help: "list all IB devices", Set: getopt.True(&c.list)},
			{Long: "short", Short: 's', Help: "short output", Set: getopt.True(&c.short)},
			{Long: "port_list", Short: 'p', Help: "show port list", Set: getopt.True(&c.portList)},
		}, c.Options("CPDLGtsKye")...),
		Run: c.run,
	}
}

func (c *command) run(ctx context.Context, operands []string) error {
	defer c.out.Flush()
	if len(operands) > 1 {
		c.port = getopt.Strtol(operands[1])
	}
	root, remove, err := simhost.Sysfs(ctx, c.Env, &c.Settings)
	if err != nil {
		return err
	}
	defer remove()
	if root == string(sysfs.Default) {
		c.speeds = portSpeeds
	}
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: root, Brief: true, SysfsOnly: true})
	if err != nil {
		return err
	}
	devices := slices.DeleteFunc(r.Devices, func(d *devinfo.Device) bool { return !d.HasMADs() })
	slices.SortFunc(devices, func(a, b *devinfo.Device) int { return strings.Compare(a.Name, b.Name) })
	if len(operands) > 0 {
		devices = slices.DeleteFunc(devices, func(d *devinfo.Device) bool { return d.Name != operands[0] })
		if len(devices) == 0 {
			return c.panic("'%s' IB device can't be found: Success", operands[0])
		}
	}
	for _, d := range devices {
		switch {
		case c.portList:
			if !complete(d) {
				c.out.Flush()
				return c.panic("can't list ports: Success")
			}
			for _, p := range d.Ports {
				if guid := portGUID(p); guid != 0 {
					fmt.Fprintf(c.out, "0x%016x\n", guid)
				}
			}
		case c.list:
			fmt.Fprintln(c.out, d.Name)
		default:
			c.show(d)
		}
	}
	return nil
}

// show prints a device. A device that cannot be read is a warning, without which the C tool
// omits devices that are no endpoints: their port has neither a GID nor a connection manager.
func (c *command) show(d *devinfo.Device) {
	switch {
	case complete(d):
		if c.device(d) {
			return
		}
	case !isEndpoint(d, c.port):
		return
	}
	c.out.Flush()
	fmt.Fprintf(c.Env.ErrOut, "ibwarn: [%d] main: stat of IB device '%s' failed\n", os.Getpid(), d.Name)
}

// isEndpoint reports whether a port, by default port 1, can be the end of a connection, as far
// as it can be read.
func isEndpoint(d *devinfo.Device, port int) bool {
	if port < 0 {
		port = 1
	}
	for _, p := range d.Ports {
		if p.Number == port {
			return p.GID0 != nil || p.CapMask != nil && mad.PortCapMask(*p.CapMask).Has(mad.CapCommunicationManagement)
		}
	}
	return false
}

// panic ends the tool as IBPANIC in infiniband-diags does.
func (c *command) panic(format string, args ...any) error {
	fmt.Fprintf(c.Env.ErrOut, "ibpanic: [%d] main: %s\n", os.Getpid(), fmt.Sprintf(format, args...))
	return &cmdutil.ExitError{Code: getopt.ExitFailure}
}

// complete reports whether all files exist that libibumad requires.
func complete(d *devinfo.Device) bool {
	if d.NodeGUID == nil || d.SysImageGUID == nil || d.Ports == nil {
		return false
	}
	for _, p := range d.Ports {
		if p.State == nil || p.PhysState == nil || p.LID == nil || p.LMC == nil || p.SMLID == nil ||
			p.Rate == nil || p.CapMask == nil || p.GID0 == nil {
			return false
		}
	}
	return true
}

func portGUID(p *devinfo.Port) uint64 {
	b := p.GID0.As16()
	var guid uint64
	for _, x := range b[8:] {
		guid = guid<<8 | uint64(x)
	}
	return guid
}

// view prints devices in ibstat format.
type view struct {
	out   *render.Output
	env   *cmdutil.Env
	short bool
	port  int // -1 for all

	// speeds returns the function that returns the effective speed of each port of a device
	// in units of 100 Mbit/s, and the function that closes the device; nil: unknown.
	speeds func(device string) (speed func(port uint32) (uint64, error), done func())
}

// portSpeeds opens a device of this host, with which the kernel reports effective speeds.
func portSpeeds(device string) (speed func(uint32) (uint64, error), done func()) {
	devices, err := verbs.Devices()
	i := slices.IndexFunc(devices, func(d verbs.Device) bool { return d.Name == device })
	if i >= 0 {
		var c *verbs.Context
		if c, err = devices[i].Open(); err == nil {
			return c.PortSpeed, func() { _ = c.Close() }
		}
	}
	return func(uint32) (uint64, error) { return 0, cmp.Or(err, fs.ErrNotExist) }, func() {}
}

// device prints a device or a single port on it. It returns false if the port does not exist.
func (v *view) device(d *devinfo.Device) bool {
	kind := *d.NodeType
	speed := func(uint32) (uint64, error) { return 0, fs.ErrNotExist }
	if v.speeds != nil && !v.short {
		var done func()
		speed, done = v.speeds(d.Name)
		defer done()
	}
	if !v.short && v.port >= 0 {
		last := 0
		for _, p := range d.Ports {
			if last = p.Number; last == v.port {
				fmt.Fprintf(v.out, "%s: '%s'\n", kind, d.Name)
				v.showPort(p, speed, "", "")
				return true
			}
		}
		fmt.Fprintf(v.env.ErrOut, "ibwarn: [%d] ca_stat: %s: '%s' has no port number %d - max (%d)\n",
			os.Getpid(), kind, d.Name, v.port, last)
		return false
	}
	fmt.Fprintf(v.out, "%s '%s'\n", kind, d.Name)
	fmt.Fprintf(v.out, "\t%s type: %s\n", kind, optional.OrZero(d.HCAType))
	last := 0
	if len(d.Ports) > 0 {
		last = d.Ports[len(d.Ports)-1].Number
	}
	fmt.Fprintf(v.out, "\tNumber of ports: %d\n", last)
	fmt.Fprintf(v.out, "\tFirmware version: %s\n", optional.OrZero(d.Firmware))
	fmt.Fprintf(v.out, "\tHardware version: %s\n", optional.OrZero(d.HWRev))
	fmt.Fprintf(v.out, "\tNode GUID: %s\n", optional.OrZero(d.NodeGUID))
	fmt.Fprintf(v.out, "\tSystem image GUID: %s\n", optional.OrZero(d.SysImageGUID))
	if v.short {
		return true
	}
	for _, p := range d.Ports {
		v.showPort(p, speed, "\t", "\t\t")
	}
	return true
}

func (v *view) showPort(p *devinfo.Port, speed func(uint32) (uint64, error), header, indent string) {
	name := func(names []string, n int) string {
		if n < len(names) {
			return names[n]
		}
		return "???"
	}
	fmt.Fprintf(v.out, "%sPort %d:\n", header, p.Number)
	line := func(format string, args ...any) { fmt.Fprintf(v.out, indent+format+"\n", args...) }
	line("State: %s", name(stateNames, int(*p.State)))
	line("Physical state: %s", name(physNames, int(*p.PhysState)))
	switch rate := getopt.Strtol(*p.Rate); {
	case strings.Contains(strings.ToLower(*p.Rate), "fdr10)"):
		line("Rate: %d (FDR10)", rate)
	case rate == 2: // 1x SDR
		line("Rate: 2.5")
	default:
		line("Rate: %d", rate)
	}
	if effective, err := speed(uint32(p.Number)); err == nil {
		line("Effective speed: %s", strconv.FormatFloat(float64(effective)/10, 'g', 6, 64))
	}
	line("Base lid: %d", *p.LID)
	line("LMC: %d", *p.LMC)
	line("SM lid: %d", *p.SMLID)
	line("Capability mask: 0x%08x", *p.CapMask)
	line("Port GUID: 0x%016x", portGUID(p))
	layer := "IB"
	if p.LinkLayer != nil {
		layer = *p.LinkLayer
	}
	line("Link layer: %s", layer)
}

// stateNames are the names of port states, by their numbers in PortInfo.
var stateNames = []string{"???", "Down", "Initializing", "Armed", "Active"}

// physNames are the names of physical port states, by their numbers in PortInfo.
var physNames = []string{
	"No state change", "Sleep", "Polling", "Disabled",
	"PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "PhyTest",
}
