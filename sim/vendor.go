package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// A vendorAgent is the part of a node that answers NVIDIA's attributes.
type vendorAgent struct {
	selected map[uint32]mad.MlnxCounterGroupConfig // by port
	config   map[uint32]uint32                     // configuration space: words that were written
	adaptive *adaptiveRouting                      // nil: off
	firmware [3]uint8                              // major, minor, subminor
	platform platform

	refused        map[register.ID]bool // registers that the firmware rejects
	oldCarriers    bool                 // without [register.Block]
	managementOnly bool                 // without the vendor class
}

// simFirmware is the firmware version of all nodes.
var simFirmware = [3]uint8{31, 20, 12}

func newVendorAgent() *vendorAgent {
	return &vendorAgent{selected: map[uint32]mad.MlnxCounterGroupConfig{}, config: map[uint32]uint32{}, firmware: simFirmware}
}

// SetVendorAgent makes a node answer NVIDIA's attributes: the vendor class 0x0a, and in
// subnet management the capabilities, HierarchyInfo and adaptive routing, which is off.
// By default a node ignores the class and rejects the attributes.
func (n *Node) SetVendorAgent(on bool) {
	n.vendor = nil
	if on {
		n.vendor = newVendorAgent()
	}
	for i := range n.Ports {
		if p := &n.Ports[i]; p == n.managed(p.Number) {
			p.Info.CapMask &^= mad.CapHierarchyInfo
			if on {
				p.Info.CapMask |= mad.CapHierarchyInfo
			}
		}
	}
}

// answerVendor is the agent for NVIDIA's vendor class (vendstat.c in infiniband-diags). It
// turns a request into its reply and reports whether the agent replies.
func (f *Fabric) answerVendor(d destination, p *mad.Packet) bool {
	n, method := d.node, p.Method()
	if n.vendor == nil || n.vendor.managementOnly || method != mad.MethodGet && method != mad.MethodSet {
		return false
	}
	var status mad.Status
	switch p.Attr() {
	case mad.AttrMlnxRegister:
		status = f.answerBlock(n, p)
	case mad.AttrMlnxRegisterAccess:
		status = f.setRegisterAccess(n, p)
	default:
		var a mad.Attribute
		if a, status = f.vendorAttribute(n, p, method == mad.MethodSet); status == 0 && a != nil {
			status = encode(p, a)
		}
	}
	p.SetMethod(mad.MethodGetResp)
	p.SetStatus(status)
	return true
}

func (f *Fabric) vendorAttribute(n *Node, p *mad.Packet, set bool) (mad.Attribute, mad.Status) {
	port := p.Modifier()
	switch attr := p.Attr(); {
	case attr == mad.AttrMlnxConfigSpace:
		return f.accessConfigSpace(n, p, set)
	case attr == mad.AttrMlnxCounterGroupConfig && int(port) < len(n.Ports):
		selected := n.vendor.selected[port]
		if set && p.Decode(&selected) == nil {
			n.vendor.selected[port] = selected
		}
		return &selected, 0
	case set:
	case attr == mad.AttrClassPortInfo:
		return &mad.ClassPortInfo{BaseVersion: 1, ClassVersion: 1, RespTimeValue: 18}, 0
	case attr == mad.AttrMlnxGeneralInfo:
		return f.generalInfo(n), 0
	case attr == mad.AttrMlnxCounterGroupInfo && int(port) < len(n.Ports):
		// The masks have the values that the vendstat examples select.
		return &mad.MlnxCounterGroupInfo{Groups: 2, Masks: [2]uint32{0x7, 0x106}}, 0
	}
	return nil, mad.StatusBadMethodAttr
}

// generalInfo returns the hardware and firmware versions.
func (f *Fabric) generalInfo(n *Node) *mad.MlnxGeneralInfo {
	a := &mad.MlnxGeneralInfo{
		HWRevision: uint16(n.Info.Revision), DeviceID: n.Info.DeviceID, Uptime: uint32(f.uptime().Seconds()),
		FWMajor: n.vendor.firmware[0], FWMinor: n.vendor.firmware[1], FWSubMinor: n.vendor.firmware[2], FWBuildID: 0x20, FWMonth: 0x05, FWDay: 0x31, FWYear: 0x2026, FWHour: 0x1415,
		INIVersion: 3, SWMajor: 1, SWMinor: 2, SWSubMinor: 3,
	}
	if !n.vendor.oldCarriers {
		a.Capabilities = mad.MlnxCapRegister
	}
	if a.HasExtendedFirmware() {
		a.ExtMajor, a.ExtMinor, a.ExtSubMinor = uint32(a.FWMajor), 1992+uint32(a.FWMinor), 1024+uint32(a.FWSubMinor)
	}
	copy(a.PSID[:], fmt.Sprintf("SIM_%010d", n.Info.DeviceID))
	return a
}

// The PortXmitWait counters in InfiniScale III configuration space (vendstat.c): the words
// for the 24 ports are a page apart and begin with port 4.
const (
	infiniScaleIII      = 47396
	infiniScaleWaits    = 0x10013c
	infiniScalePages    = 24
	infiniScaleFirst    = 4
	infiniScalePageBits = 12
)

// accessConfigSpace reads or writes words in the configuration space: the words addressed by
// the records in a packet, or consecutive words, for which it writes the reply itself.
func (f *Fabric) accessConfigSpace(n *Node, p *mad.Packet, set bool) (mad.Attribute, mad.Status) {
	var a mad.MlnxConfigSpace
	records := int(p.Modifier() >> 16 & 0x3f)
	switch {
	case p.Modifier()>>22&3 == 0:
		return nil, f.accessWords(n, p, set)
	case p.Modifier() != mad.MlnxConfigSpaceModifier(records) || records > len(a.Records) || p.Decode(&a) != nil:
		return nil, mad.StatusBadValue
	}
	for i := range a.Records[:records] {
		r := &a.Records[i]
		if set {
			n.writeWord(r.Address, r.Data, r.Mask)
		}
		r.Data = f.readWord(n, r.Address)
	}
	return &a, 0
}

// portWait returns the counter at an InfiniScale III address.
func (f *Fabric) portWait(n *Node, address uint32) (uint32, bool) {
	page := (address - infiniScaleWaits) >> infiniScalePageBits
	if n.Info.DeviceID != infiniScaleIII || page < 1 || page > infiniScalePages || address&(1<<infiniScalePageBits-1) != infiniScaleWaits&(1<<infiniScalePageBits-1) {
		return 0, false
	}
	port := (page-1+infiniScaleFirst-1)%infiniScalePages + 1
	if int(port) >= len(n.Ports) {
		return 0, true
	}
	value, err := f.Counter(&n.Ports[port], "PortXmitWait")
	return uint32(value), err == nil
}
