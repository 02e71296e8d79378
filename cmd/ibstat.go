package cmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
)

const ibstatUsage = `
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

// ibstat is ibstat of infiniband-diags. What of its common options has an effect
// elsewhere, -z and -v, has none on it; -d, given twice, makes libibumad tell
// what it does, and there is none here.
func ibstat(ctx context.Context, env *environment, args []string) error {
	out := bufferedOut(env)
	defer out.Flush()
	v := ibstatView{out: out, env: env, port: -1}
	var list, ports, help, showVersion bool
	operands, err := getopt("ibstat", []getoptFlag{
		{"list_of_cas", 'l', false}, {"short", 's', false}, {"port_list", 'p', false},
		{"config", 'z', true}, {"verbose", 'v', false}, {"debug", 'd', false},
		{"help", 'h', false}, {"version", 'V', false},
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
		fmt.Fprintln(env.err, err)
	}
	if err != nil || help {
		fmt.Fprint(env.err, ibstatUsage)
		return &outcome{code: 2}
	}
	if showVersion {
		fmt.Fprintf(env.err, "ibstat BUILD VERSION: %s\n", version())
		return nil
	}
	if len(operands) > 1 {
		v.port = strtol(operands[1])
	}
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: string(sysfsRoot(env)), Brief: true, SysfsOnly: true})
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
			fmt.Fprintf(env.err, "ibpanic: [%d] main: '%s' IB device can't be found: Success\n", os.Getpid(), operands[0])
			return &outcome{code: classicFailure}
		}
	}
	for _, d := range devices {
		switch {
		case ports:
			if !complete(d) {
				out.Flush()
				fmt.Fprintf(env.err, "ibpanic: [%d] main: can't list ports: Success\n", os.Getpid())
				return &outcome{code: classicFailure}
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
				// The C tool adds what the last system call that failed left in errno.
				fmt.Fprintf(env.err, "ibpanic: [%d] main: stat of IB device '%s' failed: No such file or directory\n", os.Getpid(), d.Name)
				return &outcome{code: classicFailure}
			}
		}
	}
	return nil
}

// complete tells whether libibumad could read the device: it wants all of these.
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

var (
	ibstatNodes  = [...]string{"???", "CA", "Switch", "Router"}
	ibstatStates = [...]string{"???", "Down", "Initializing", "Armed", "Active"}
	ibstatPhys   = [...]string{
		"No state change", "Sleep", "Polling", "Disabled",
		"PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "PhyTest",
	}
)

// ibstatView prints devices as ibstat does.
type ibstatView struct {
	out   *output
	env   *environment
	short bool
	port  int // -1: all
}

// device prints a device, or one port of it; false if there is no such port.
func (v *ibstatView) device(d *devinfo.Device) bool {
	kind := ibstatNodes[*d.NodeType]
	if !v.short && v.port >= 0 {
		last := 0
		for _, p := range d.Ports {
			if last = p.Number; last == v.port {
				fmt.Fprintf(v.out, "%s: '%s'\n", kind, d.Name)
				v.showPort(p, "", "")
				return true
			}
		}
		fmt.Fprintf(v.env.err, "ibwarn: [%d] ca_stat: %s: '%s' has no port number %d - max (%d)\n",
			os.Getpid(), kind, d.Name, v.port, last)
		return false
	}
	fmt.Fprintf(v.out, "%s '%s'\n", kind, d.Name)
	fmt.Fprintf(v.out, "\t%s type: %s\n", kind, or0(d.HCAType))
	last := 0
	if len(d.Ports) > 0 {
		last = d.Ports[len(d.Ports)-1].Number
	}
	fmt.Fprintf(v.out, "\tNumber of ports: %d\n", last)
	fmt.Fprintf(v.out, "\tFirmware version: %s\n", or0(d.Firmware))
	fmt.Fprintf(v.out, "\tHardware version: %s\n", or0(d.HWRev))
	fmt.Fprintf(v.out, "\tNode GUID: %s\n", or0(d.NodeGUID))
	fmt.Fprintf(v.out, "\tSystem image GUID: %s\n", or0(d.SysImageGUID))
	if v.short {
		return true
	}
	for _, p := range d.Ports {
		v.showPort(p, "\t", "\t\t")
	}
	return true
}

func (v *ibstatView) showPort(p *devinfo.Port, header, indent string) {
	name := func(names []string, n uint8) string {
		if int(n) < len(names) {
			return names[n]
		}
		return "???"
	}
	fmt.Fprintf(v.out, "%sPort %d:\n", header, p.Number)
	line := func(format string, args ...any) { fmt.Fprintf(v.out, indent+format+"\n", args...) }
	line("State: %s", name(ibstatStates[:], *p.State))
	line("Physical state: %s", name(ibstatPhys[:], *p.PhysState))
	switch rate := strtol(*p.Rate); {
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
