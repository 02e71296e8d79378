package fabric

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// A HostName is the host that a channel adapter's name contains.
type HostName struct {
	Host   string // "" if the name does not identify a host
	Device string // "mlx5_0", "HCA-1"; "" if the name does not contain it

	// Problem is the reason why Host is empty.
	Problem string
}

// IsAggregation reports whether a channel adapter is a switch's aggregation node, not a
// host.
func (n *Node) IsAggregation() bool {
	return n.IsCA() && strings.Contains(n.Desc.String(), "Aggregation Node")
}

// HostNames returns the hosts of a fabric's channel adapters, without aggregation nodes, by
// [HostNameOf]. A host name has letters, digits and "_.-" only. A description that devices
// with different system image GUIDs share does not identify a host. A name that a node name
// map assigns to several adapters does.
func HostNames(f *Fabric, names *NameMap) map[*Node]HostName {
	hosts := map[*Node]HostName{}
	system, repeated := map[string]ib.GUID{}, map[string]bool{}
	for _, n := range f.Nodes {
		if !n.IsCA() || n.IsAggregation() {
			continue
		}
		name := names.Name(n)
		hosts[n] = HostNameOf(name)
		if h := hosts[n].Host; h != "" && !validHost.MatchString(h) {
			hosts[n] = HostName{Problem: fmt.Sprintf("%q has characters that no host name has", h)}
		}
		if first, known := system[name]; known && first != systemOf(n) {
			repeated[name] = true
		} else {
			system[name] = systemOf(n)
		}
	}
	for n, h := range hosts {
		if name := n.Desc.Clean(); h.Host != "" && repeated[name] && names.Name(n) == name {
			hosts[n] = HostName{Problem: fmt.Sprintf("several devices have the description %q", name)}
		}
	}
	return hosts
}

// systemOf returns the system image GUID, or the node GUID of a node without one.
func systemOf(n *Node) ib.GUID {
	if n.Info.SystemGUID != 0 {
		return n.Info.SystemGUID
	}
	return n.GUID
}

// Descriptions that devices have before the host sets its own.
var (
	// Firmware: "MT4129 ConnectX7   Mellanox Technologies".
	defaultChip = lazyregexp.New(`^MT\d{4,5}(?:$| (?:ConnectX|Connect-IB|InfiniHost|BlueField))`)

	// Adapters and switches of other vendors, by their first word.
	defaultVendor = lazyregexp.New(`^(?:Mellanox|NVIDIA|Infini[Ss]cale|SwitchX|SwitchIB|Voltaire|Topspin|SilverStorm|QLogic|PathScale|Cisco|Intel)\b`)

	// The Linux drivers qib and ib_ipath: the host is last.
	trailingHost = lazyregexp.New(`^(?:Intel|QLogic) Infiniband HCA (\S+)$`)

	// The characters of a host name, and of a NodeName in Slurm.
	validHost = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

	// A host without a name.
	unnamedHost = lazyregexp.New(`^(?i:localhost(?:[46]|\..*)?|\(none\)|none|unknown|HCA-\d+|(?:mlx[45]|mthca|hfi1|qib|ipath|bnxt_re|irdma|rxe|siw)_?\d+)$`)
)

// HostNameOf returns the host in a channel adapter's name: its first word. Linux sets the
// description "HOST HCA-1" or "HOST mlx5_0". A description that a vendor assigned, and the
// name localhost, do not identify a host.
func HostNameOf(name string) HostName {
	words := strings.Fields(name)
	if len(words) == 0 {
		return HostName{Problem: "the description is empty"}
	}
	h := HostName{Host: words[0]}
	if len(words) == 2 {
		h.Device = words[1]
	}
	one := strings.Join(words, " ")
	if m := trailingHost.FindStringSubmatch(one); m != nil {
		h = HostName{Host: m[1]}
	} else if defaultChip.MatchString(one) || defaultVendor.MatchString(one) || strings.Contains(one, "Mellanox Technologies") {
		return HostName{Problem: fmt.Sprintf("%q is the description of the vendor", one)}
	}
	if unnamedHost.MatchString(h.Host) {
		return HostName{Problem: fmt.Sprintf("%q does not contain the name of a host", one)}
	}
	return h
}
