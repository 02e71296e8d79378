// Package ibstat implements ibstat of infiniband-diags.
package ibstat

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/portstate"
	"github.com/ibkit/ibkit/devinfo"
)

const usage = `
Usage: ibstat [options] <ca_name> [portnum]

Options:
  --list_of_cas, -l       list all IB devices
  --short, -s             short output
  --port_list, -p         show port list
  --config, -z <config>   use config file, default: /etc/infiniband-diags/ibdiag.conf
  --verbose, -v           increase verbosity level
  --debug, -d             raise debug level
  --help, -h              help message
  --version, -V           show version

Examples:
  ibstat -l       # list all IB devices
  ibstat mthca0 2 # stat port 2 of 'mthca0'

`

// Run runs ibstat. The options -z and -v have no effect, as in infiniband-diags. -d
// would enable messages of libibumad, which is not used here.
func Run(ctx context.Context, env *cmdutil.Env, args []string) error {
	out := render.NewOutput(env.Out)
	defer out.Flush()
	v := view{out: out, env: env, port: -1}
	var list, ports, help, showVersion bool
	operands, err := getopt.Parse("ibstat", []getopt.Option{
		{Long: "list_of_cas", Short: 'l', HasValue: false}, {Long: "short", Short: 's', HasValue: false}, {Long: "port_list", Short: 'p', HasValue: false},
		{Long: "config", Short: 'z', HasValue: true}, {Long: "verbose", Short: 'v', HasValue: false}, {Long: "debug", Short: 'd', HasValue: false},
		{Long: "help", Short: 'h', HasValue: false}, {Long: "version", Short: 'V', HasValue: false},
	}, args, func(short byte, _ string) error {
		switch short {
		case 'l':
			list = true
		case 's':
			v.short = true
		case 'p':
			ports = true
		case 'h':
			help = true
		case 'V':
			showVersion = true
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(env.ErrOut, err)
	}
	if err != nil || help {
		fmt.Fprint(env.ErrOut, usage)
		return &cmdutil.ExitError{Code: 2}
	}
	if showVersion {
		fmt.Fprintf(env.ErrOut, "ibstat BUILD VERSION: %s\n", buildinfo.Version())
		return nil
	}
	if len(operands) > 1 {
		v.port = getopt.Strtol(operands[1])
	}
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: env.Sysfs(), Brief: true, SysfsOnly: true})
	if err != nil {
		return err
	}
	devices := slices.DeleteFunc(r.Devices, func(d *devinfo.Device) bool {
		return d.NodeType == nil || *d.NodeType < 1 || *d.NodeType > 3
	})
	slices.SortFunc(devices, func(a, b *devinfo.Device) int { return strings.Compare(a.Name, b.Name) })
	if len(operands) > 0 {
		devices = slices.DeleteFunc(devices, func(d *devinfo.Device) bool { return d.Name != operands[0] })
		if len(devices) == 0 {
			fmt.Fprintf(env.ErrOut, "ibpanic: [%d] main: '%s' IB device can't be found: Success\n", os.Getpid(), operands[0])
			return &cmdutil.ExitError{Code: getopt.ExitFailure}
		}
	}
	for _, d := range devices {
		switch {
		case ports:
			if !complete(d) {
				out.Flush()
				fmt.Fprintf(env.ErrOut, "ibpanic: [%d] main: can't list ports: Success\n", os.Getpid())
				return &cmdutil.ExitError{Code: getopt.ExitFailure}
			}
			for _, p := range d.Ports {
				if guid := portGUID(p); guid != 0 {
					fmt.Fprintf(out, "0x%016x\n", guid)
				}
			}
		case list:
			fmt.Fprintln(out, d.Name)
		default:
			if !complete(d) || !v.device(d) {
				// The C tool prints errno of the last failed system call.
				fmt.Fprintf(env.ErrOut, "ibpanic: [%d] main: stat of IB device '%s' failed: No such file or directory\n", os.Getpid(), d.Name)
				return &cmdutil.ExitError{Code: getopt.ExitFailure}
			}
		}
	}
	return nil
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

var nodeTypes = [...]string{"???", "CA", "Switch", "Router"}

// view prints devices in the format of ibstat.
type view struct {
	out   *render.Output
	env   *cmdutil.Env
	short bool
	port  int // -1 for all
}

// device prints a device or one of its ports. It returns false if the port does not
// exist.
func (v *view) device(d *devinfo.Device) bool {
	kind := nodeTypes[*d.NodeType]
	if !v.short && v.port >= 0 {
		last := 0
		for _, p := range d.Ports {
			if last = p.Number; last == v.port {
				fmt.Fprintf(v.out, "%s: '%s'\n", kind, d.Name)
				v.showPort(p, "", "")
				return true
			}
		}
		fmt.Fprintf(v.env.ErrOut, "ibwarn: [%d] ca_stat: %s: '%s' has no port number %d - max (%d)\n",
			os.Getpid(), kind, d.Name, v.port, last)
		return false
	}
	fmt.Fprintf(v.out, "%s '%s'\n", kind, d.Name)
	fmt.Fprintf(v.out, "\t%s type: %s\n", kind, render.OrZero(d.HCAType))
	last := 0
	if len(d.Ports) > 0 {
		last = d.Ports[len(d.Ports)-1].Number
	}
	fmt.Fprintf(v.out, "\tNumber of ports: %d\n", last)
	fmt.Fprintf(v.out, "\tFirmware version: %s\n", render.OrZero(d.Firmware))
	fmt.Fprintf(v.out, "\tHardware version: %s\n", render.OrZero(d.HWRev))
	fmt.Fprintf(v.out, "\tNode GUID: %s\n", render.OrZero(d.NodeGUID))
	fmt.Fprintf(v.out, "\tSystem image GUID: %s\n", render.OrZero(d.SysImageGUID))
	if v.short {
		return true
	}
	for _, p := range d.Ports {
		v.showPort(p, "\t", "\t\t")
	}
	return true
}

func (v *view) showPort(p *devinfo.Port, header, indent string) {
	name := func(names []string, n uint8) string {
		if int(n) < len(names) {
			return names[n]
		}
		return "???"
	}
	fmt.Fprintf(v.out, "%sPort %d:\n", header, p.Number)
	line := func(format string, args ...any) { fmt.Fprintf(v.out, indent+format+"\n", args...) }
	line("State: %s", name(portstate.Names[:], *p.State))
	line("Physical state: %s", name(portstate.PhysNames[:], *p.PhysState))
	switch rate := getopt.Strtol(*p.Rate); {
	case strings.Contains(strings.ToLower(*p.Rate), "fdr10)"):
		line("Rate: %d (FDR10)", rate)
	case rate == 2: // 1x SDR
		line("Rate: 2.5")
	default:
		line("Rate: %d", rate)
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
