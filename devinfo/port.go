package devinfo

import (
	"net"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// addIPoIB sets the network devices of InfiniBand ports.
func (o Options) addIPoIB(devices []*Device) {
	isInfiniBand := func(p *Port) bool { return p.Netdev == nil && p.LinkLayer != nil && *p.LinkLayer == "InfiniBand" }
	if o.Brief || !slices.ContainsFunc(devices, func(d *Device) bool { return slices.ContainsFunc(d.Ports, isInfiniBand) }) {
		return
	}
	all := o.sysfs().IPoIBs()
	for _, d := range devices {
		for _, p := range d.Ports {
			if name := o.sysfs().IPoIB(all, d.Name, p.Number); name != "" && isInfiniBand(p) {
				p.setNetdev(o, name)
			}
		}
	}
}

// setNetdev sets the network device and its MTU.
func (p *Port) setNetdev(o Options, name string) {
	var ignored []error
	p.Netdev, p.NetdevMTU = &name, o.sysfs().Dir(&ignored, "class/net", name).Int("mtu")
}

// portTables completes the ports with the attributes of the opened device and with
// their network devices.
func (d *Device) portTables(o Options) {
	for _, p := range d.Ports {
		if p.Attr != nil {
			p.complete(p.Attr)
		}
		if o.Brief {
			continue
		}
		if len(p.GIDs) == 0 {
			for _, g := range d.GIDs {
				if int(g.Port) == p.Number && !g.GID.IsUnspecified() {
					p.GIDs = append(p.GIDs, fromVerbs(g))
				}
			}
		}
		if p.Netdev == nil && len(p.GIDs) > 0 {
			p.Netdev = p.GIDs[0].Netdev
		}
		if p.Netdev != nil {
			p.setNetdev(o, *p.Netdev)
		}
	}
}

// complete sets the fields that sysfs does not provide.
func (p *Port) complete(a *verbs.PortAttr) {
	if p.State == nil {
		p.State = &a.State
	}
	if p.PhysState == nil {
		p.PhysState = &a.PhysState
	}
	if p.LID == nil {
		p.LID = new(uint16(a.LID))
	}
	if p.SMLID == nil {
		p.SMLID = new(uint16(a.SMLID))
	}
	if p.LMC == nil {
		p.LMC = &a.LMC
	}
	if p.LinkLayer == nil {
		p.LinkLayer = new(a.LinkLayer.String())
	}
	if rate := a.Rate(); p.Rate == nil && rate != "" {
		p.Rate = &rate
	}
	if n := a.ActiveMTU.Bytes(); n > 0 {
		p.MTU = &n
	}
	if n := a.MaxMTU.Bytes(); n > 0 {
		p.MaxMTU = &n
	}
}

func fromVerbs(g verbs.GIDEntry) GID {
	out := GID{Index: g.Index, GID: g.GID, Type: new(g.Type.String())}
	if g.Ifindex != 0 {
		if i, err := net.InterfaceByIndex(int(g.Ifindex)); err == nil {
			out.Netdev = &i.Name
		}
	}
	return out
}

// Ethernet reports whether the link layer of the port is Ethernet (RoCE or iWARP).
func (p *Port) Ethernet() bool { return p.LinkLayer != nil && *p.LinkLayer == "Ethernet" }

// Active reports whether the port is active.
func (p *Port) Active() bool { return p.State != nil && *p.State == ib.PortActive }
