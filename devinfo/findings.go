package devinfo

import (
	"fmt"
	"strconv"
	"strings"
)

// mtus are the path MTUs there are, in bytes.
var mtus = []int{4096, 2048, 1024, 512, 256}

// roceOverhead is what RoCE v2 over IPv6 adds to a packet's payload within the
// MTU of Ethernet: IPv6 40, UDP 8, BTH 12, the longest extended header 28, ICRC 4,
// as the kernel's iboe_get_mtu counts it (GRH + UDP + BTH + EXT_XRC + EXT_ATOMIC
// + ICRC).
const roceOverhead = 40 + 8 + 12 + 4 + 28 + 4

// findings says what is wrong with devices.
func findings(devices []*Device, o Options) []Finding {
	if o.Brief {
		return nil
	}
	var all []Finding
	firmware := map[string]map[string][]string{}
	mads, umad := false, false // whether a device has management datagrams, and a node for them
	for _, d := range devices {
		mads = mads || d.NodeType != nil && *d.NodeType >= 1 && *d.NodeType <= 3
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
			all = append(all, Finding{
				Device: d.Name, Kind: "firmware-differs",
				Text: fmt.Sprintf("firmware %s, and another one on a card of the same board %s", *d.Firmware, *d.BoardID),
				Hint: "give like cards the same firmware",
			})
		}
	}
	if mads && !umad {
		all = append(all, Finding{
			Kind: "no-umad", Text: "no port has a device node for management datagrams",
			Hint: "modprobe ib_umad",
		})
	}
	return all
}

func (d *Device) portFindings(p *Port) []Finding {
	var all []Finding
	add := func(kind, hint, format string, args ...any) {
		all = append(all, Finding{d.Name, p.Number, kind, fmt.Sprintf(format, args...), hint})
	}
	if p.State != nil && !p.Active() {
		hint := "look at the cable and the other end"
		switch {
		case p.PhysState != nil && *p.PhysState == 3 && p.Netdev != nil:
			hint = "ip link set " + *p.Netdev + " up"
		case p.PhysState != nil && *p.PhysState == 5 && !p.Ethernet():
			hint = "the link is up: is a subnet manager running?"
		}
		add("port-down", hint, "port is not active")
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
			add("mtu-low", "set the MTU of the network device again", "MTU is %d, %s with %d allows %d", *p.MTU, deref(p.Netdev), *p.NetdevMTU, want)
		}
	}
	iwarp := d.NodeType != nil && *d.NodeType == 4
	if _, ok := p.RoCEv2IPv4(); !ok && !iwarp && p.GIDs != nil {
		add("no-ipv4-gid", "give the network device an IPv4 address", "no GID of RoCE v2 over IPv4")
	}
	return all
}

func (d *Device) pciFinding() *Finding {
	if d.PCI == nil {
		return nil
	}
	p := d.PCI
	var slow []string
	if p.Width != nil && p.MaxWidth != nil && *p.Width > 0 && *p.Width < *p.MaxWidth {
		slow = append(slow, fmt.Sprintf("x%d instead of x%d", *p.Width, *p.MaxWidth))
	}
	if a, b := gigatransfers(p.Speed), gigatransfers(p.MaxSpeed); a > 0 && a < b {
		slow = append(slow, fmt.Sprintf("%s instead of %s", *p.Speed, *p.MaxSpeed))
	}
	if slow == nil {
		return nil
	}
	return &Finding{
		Device: d.Name, Kind: "pcie-slow",
		Text: "PCIe link at " + p.Address + " runs at " + strings.Join(slow, ", "),
		Hint: "look at the slot and the BIOS: can the slot do more?",
	}
}

// gigatransfers reads "16.0 GT/s PCIe", 0 where it is "Unknown".
func gigatransfers(s *string) float64 {
	if s == nil {
		return 0
	}
	word, _, _ := strings.Cut(*s, " ")
	n, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0
	}
	return n
}

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
