package devinfo

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/report"
)

// mtus lists the path MTUs of InfiniBand in bytes.
var mtus = []int{4096, 2048, 1024, 512, 256}

// roceOverhead is the size of the headers that RoCE v2 adds to the payload within the
// MTU of the network device, as computed by the kernel's iboe_get_mtu: GRH 40, UDP 8,
// BTH 12, EXT_XRC 4, EXT_ATOMIC 28, ICRC 4.
const roceOverhead = 40 + 8 + 12 + 4 + 28 + 4

// findings returns the problems of the devices.
func findings(devices []*Device, o Options) []report.Finding {
	if o.Brief {
		return nil
	}
	var all []report.Finding
	firmware := map[string]map[string][]string{}
	mads, umad := false, false // a device supports MADs; a port has a umad node
	for _, d := range devices {
		mads = mads || d.HasMADs()
		all = append(all, d.guidFindings()...)
		for _, p := range d.Ports {
			all = append(all, d.portFindings(p)...)
			umad = umad || p.UMAD != nil
		}
		if f := d.pciFinding(); f != nil {
			all = append(all, *f)
		}
		if d.BoardID != nil && d.Firmware != nil && *d.Firmware != "" {
			if firmware[*d.BoardID] == nil {
				firmware[*d.BoardID] = map[string][]string{}
			}
			firmware[*d.BoardID][*d.Firmware] = append(firmware[*d.BoardID][*d.Firmware], d.Name)
		}
	}
	for _, d := range devices {
		if d.BoardID != nil && d.Firmware != nil && len(firmware[*d.BoardID]) > 1 && *d.Firmware != "" {
			all = append(all, d.finding(report.FirmwareDiffers, 0, "install the same firmware on adapters of the same model",
				"firmware %s differs from that of another adapter with board ID %s", *d.Firmware, *d.BoardID))
		}
	}
	if mads && !umad {
		f := report.New(report.NoUMAD, "", "no device node for management datagrams")
		f.Hint = f.Kind.HintFor(f)
		all = append(all, f)
	}
	return all
}

func (d *Device) portFindings(p *Port) []report.Finding {
	var all []report.Finding
	add := func(kind report.Kind, hint, format string, args ...any) {
		all = append(all, d.finding(kind, p.Number, hint, format, args...))
	}
	if p.State != nil && !p.Active() {
		hint := ""
		switch {
		case p.PhysState != nil && *p.PhysState == ib.PhysDisabled && p.Ethernet() && p.Netdev != nil:
			hint = "ip link set " + *p.Netdev + " up"
		case p.PhysState != nil && *p.PhysState == ib.PhysLinkUp && !p.Ethernet():
			hint = "the link is up; check that a subnet manager is running"
		}
		add(report.PortDown, hint, "port is not active")
		return all
	}
	if !p.Ethernet() || !p.Active() {
		return all
	}
	if p.MTU != nil && p.MaxMTU != nil && p.NetdevMTU != nil {
		want := 0
		for _, m := range mtus {
			if m+roceOverhead <= *p.NetdevMTU && m <= *p.MaxMTU {
				want = m
				break
			}
		}
		if *p.MTU < want {
			add(report.LowMTU, "", "MTU is %d, although the MTU %d of %s permits %d", *p.MTU, *p.NetdevMTU, deref(p.Netdev), want)
		}
	}
	if f := d.gidFinding(p); f != nil && !d.IsIWARP() {
		all = append(all, *f)
	}
	return all
}

func (d *Device) pciFinding() *report.Finding {
	if d.PCI == nil {
		return nil
	}
	p := d.PCI
	slow := pcie.Link{Width: p.Width, MaxWidth: p.MaxWidth, Speed: p.Speed, MaxSpeed: p.MaxSpeed}.Below()
	if slow == nil {
		return nil
	}
	return new(d.finding(report.PCIeSlow, 0, "", "PCIe link at %s runs at %s", p.Address, strings.Join(slow, ", ")))
}

// finding returns a finding of the device, or of a port other than 0. "" as a hint is that of
// the kind.
func (d *Device) finding(kind report.Kind, port int, hint, format string, args ...any) report.Finding {
	f := report.New(kind, d.Name, fmt.Sprintf(format, args...))
	f.NodeGUID = d.NodeGUID
	if port != 0 {
		f.Subject, f.Port = PortName(d.Name, port), &port
	}
	f.Hint = cmp.Or(hint, kind.HintFor(f))
	return f
}

// PortName returns the name of a port, for example "mlx5_0/1".
func PortName(device string, port int) string { return fmt.Sprintf("%s/%d", device, port) }

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
