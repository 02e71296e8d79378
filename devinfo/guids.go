package devinfo

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// hintGUID is advice for a device without GUIDs, which is most often a virtual function.
const hintGUID = "virtual function: on its host, ip link set NETDEV vf N node_guid GUID port_guid GUID, then bind the driver again; else burn the GUIDs again"

// guidFindings returns a finding for each GUID that is 0, of devices that are addressed by
// GUID: adapters, switches and routers. EFA devices have none (node type unspecified), and
// iWARP ports have MAC addresses in their GIDs (node type RNIC). The specification permits a
// system image GUID of 0.
func (d *Device) guidFindings() []report.Finding {
	if !d.HasMADs() {
		return nil
	}
	isZero := func(guid *ib.GUID) bool { return guid != nil && *guid == 0 }
	var all []report.Finding
	switch node, system := isZero(d.NodeGUID), isZero(d.SysImageGUID); {
	case node && system:
		all = append(all, d.finding(report.ZeroGUID, 0, hintGUID, "node GUID and system image GUID are 0"))
	case node:
		all = append(all, d.finding(report.ZeroGUID, 0, hintGUID, "node GUID is 0"))
	case system:
		f := d.finding(report.ZeroGUID, 0, "update the firmware", "system image GUID is 0: the device counts as a system of its own")
		f.Severity = report.Info
		all = append(all, f)
	}
	for _, p := range d.Ports {
		if p.hasZeroGUID() {
			all = append(all, d.finding(report.ZeroGUID, p.Number, hintGUID, "port GUID is 0: GID 0 is %v", p.GID0))
		}
	}
	return all
}

// hasZeroGUID reports whether the lower half of an InfiniBand port's first GID, the port
// GUID, is 0. A port that is not active may have an empty table.
func (p *Port) hasZeroGUID() bool {
	if p.GID0 == nil || p.LinkLayer == nil || *p.LinkLayer != "InfiniBand" {
		return false
	}
	gid := p.GID0.As16()
	return cmp.Or(gid[8], gid[9], gid[10], gid[11], gid[12], gid[13], gid[14], gid[15]) == 0 && (p.Active() || !p.GID0.IsUnspecified())
}

// HasMADs reports whether the device is an adapter, a switch or a router, which supports
// management datagrams.
func (d *Device) HasMADs() bool { return slices.Contains(NodeTypes[1:4], deref(d.NodeType)) }

// IsIWARP reports whether the device is an iWARP adapter.
func (d *Device) IsIWARP() bool { return deref(d.NodeType) == "RNIC" }

// IsEFA reports whether the device is an Elastic Fabric Adapter of AWS: it has neither a network
// device nor connections by rdma_cm, and its only GID has index 0 (efa_query_gid, efa_query_port
// and efa_get_port_immutable in the kernel's efa_verbs.c).
func (d *Device) IsEFA() bool { return deref(d.Driver) == "efa" || deref(d.DriverID) == "efa" }
