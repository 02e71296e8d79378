package query

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A scope determines the requests for an attribute: the ports and blocks that each need a
// request.
type scope uint8

const (
	ofAgent        scope = iota // a single request to the agent
	ofNode                      // a single request to the node
	ofPort                      // the modifier is a port
	ofCounters                  // the attribute contains the port
	ofPKeys                     // blocks of 32 for a port
	ofGUIDs                     // blocks of 8 for the port that receives the request
	ofSLtoVL                    // an output port with each input port
	ofVLs                       // two blocks per priority for a port
	ofLFT                       // blocks up to the highest LID
	ofMFT                       // blocks for each 16-port group
	ofStates                    // blocks of 128 ports
	ofCCT                       // blocks of 64 entries
	ofSPC                       // blocks of 48 ports
	ofCapabilities              // the modifier selects the capabilities
	ofARGroups                  // blocks of 2 up to the highest group
	ofARLFT                     // blocks of 16 up to the highest LID
	ofAddresses                 // blocks of 18 addresses
)

var scopes = map[key]scope{
	smp(mad.AttrNodeInfo):                 ofNode,
	smp(mad.AttrNodeDescription):          ofNode,
	smp(mad.AttrSwitchInfo):               ofNode,
	smp(mad.AttrPortInfo):                 ofPort,
	smp(mad.AttrPortInfoExtended):         ofPort,
	smp(mad.AttrMlnxExtPortInfo):          ofPort,
	smp(mad.AttrPKeyTable):                ofPKeys,
	smp(mad.AttrGUIDInfo):                 ofGUIDs,
	smp(mad.AttrSLtoVLMapping):            ofSLtoVL,
	smp(mad.AttrVLArbitration):            ofVLs,
	smp(mad.AttrLinearForwardingTable):    ofLFT,
	smp(mad.AttrMulticastForwardingTable): ofMFT,
	smp(mad.AttrSwitchPortStateTable):     ofStates,

	smp(mad.AttrHierarchyInfo):           ofPort,
	smp(mad.AttrPrivateLFTInfo):          ofNode,
	smp(mad.AttrVendorCapabilities):      ofCapabilities,
	smp(mad.AttrAdaptiveRoutingInfo):     ofNode,
	smp(mad.AttrARGroupTable):            ofARGroups,
	smp(mad.AttrARLinearForwardingTable): ofARLFT,

	{mad.ClassMlnx, mad.AttrMlnxConfigSpace}:        ofAddresses,
	{mad.ClassMlnx, mad.AttrMlnxCounterGroupInfo}:   ofPort,
	{mad.ClassMlnx, mad.AttrMlnxCounterGroupConfig}: ofPort,

	{mad.ClassPM, mad.AttrClassPortInfo}:               ofAgent,
	{mad.ClassCC, mad.AttrCongestionControlTable}:      ofCCT,
	{mad.ClassCC, mad.AttrSwitchPortCongestionSetting}: ofSPC,
}

// needs are a node's attributes that determine the requests.
type needs struct{ node, sw, port, limit, adaptive, agent bool }

// needs returns the attributes that are necessary before a scope's requests.
func (s scope) needs(ports Ports) needs {
	switch s {
	case ofPort:
		return needs{node: ports.All}
	case ofCounters:
		return needs{node: true}
	case ofPKeys:
		return needs{node: true, sw: true}
	case ofGUIDs:
		return needs{port: true}
	case ofVLs:
		return needs{node: true, port: true}
	case ofSLtoVL, ofStates, ofSPC:
		return needs{node: true}
	case ofLFT, ofMFT, ofARLFT:
		return needs{node: true, sw: true}
	case ofARGroups:
		return needs{adaptive: true}
	case ofCCT:
		return needs{limit: true}
	}
	return needs{}
}

// facts are a node's attributes that determine the requests.
type facts struct {
	node  mad.NodeInfo
	sw    mad.SwitchInfo
	port  mad.PortInfo
	limit uint16 // last entry's index in the congestion control table

	adaptive mad.AdaptiveRoutingInfo
}

// label returns the meaning of a part's block.
func (s scope) label() string {
	switch s {
	case ofSLtoVL:
		return "input port"
	case ofVLs:
		return "block"
	case ofARGroups:
		return "from group"
	case ofAddresses:
		return "from address"
	}
	return "from entry"
}

// A part is a single request for an attribute.
type part struct {
	port     int // -1: the attribute belongs to no port
	modifier uint32
	block    int // the first entry's index; -1: not a table
}

// parts returns a scope's requests.
func (s scope) parts(ports Ports, f *facts) []part {
	const noPort, noBlock = -1, -1
	var parts []part
	add := func(port int, modifier uint32, block int) {
		parts = append(parts, part{port, modifier, block})
	}
	// addTable adds the blocks for a table that belongs to no port.
	addTable := func(entries, blockSize int) {
		for first := 0; first < entries; first += blockSize {
			add(noPort, uint32(first/blockSize), first)
		}
	}
	switch s {
	case ofAgent, ofNode:
		add(noPort, 0, noBlock)
	case ofPort:
		for _, n := range s.selected(ports, f) {
			add(int(n), uint32(n), noBlock)
		}
	case ofCounters:
		for _, n := range s.selected(ports, f) {
			add(int(n), 0, noBlock)
		}
	case ofPKeys:
		for _, n := range s.selected(ports, f) {
			capacity, modifier := f.node.PartitionCap, uint32(0)
			if f.node.IsSwitch() {
				modifier = uint32(n) << 16
				if n != 0 {
					capacity = f.sw.PartitionEnforcementCap
				}
			}
			for first := 0; first < int(capacity); first += len(mad.PKeyTable{}.PKeys) {
				add(int(n), modifier|uint32(first/len(mad.PKeyTable{}.PKeys)), first)
			}
		}
	case ofGUIDs:
		addTable(int(f.port.GUIDCap), len(mad.GUIDInfo{}.GUIDs))
	case ofSLtoVL:
		if !f.node.IsSwitch() {
			add(noPort, 0, noBlock)
			break
		}
		for _, out := range s.selected(ports, f) {
			for in := range uint32(f.node.NumPorts) + 1 {
				add(int(out), in<<8|uint32(out), int(in))
			}
		}
	case ofVLs:
		for _, n := range s.selected(ports, f) {
			for _, block := range vlBlocks(&f.port) {
				add(int(n), block<<16|uint32(n), int(block))
			}
		}
	case ofLFT:
		addTable(int(f.sw.LinearFDBTop)+1, len(mad.LinearForwardingTable{}.Ports))
	case ofARLFT:
		addTable(int(f.sw.LinearFDBTop)+1, len(mad.ARLinearForwardingTable{}.Entries))
	case ofARGroups:
		addTable(int(f.adaptive.GroupTop)+1, len(mad.ARGroupTable{}.SubGroups))
	case ofCapabilities:
		add(noPort, mad.VendorCapabilitiesModifier, noBlock)
	case ofMFT:
		return multicastParts(f)
	case ofStates:
		addTable(int(f.node.NumPorts)+1, len(mad.SwitchPortStateTable{}.States))
	case ofCCT:
		addTable(int(f.limit)+1, len(mad.CongestionControlTable{}.Entries))
	case ofSPC:
		addTable(int(f.node.NumPorts)+1, len(mad.SwitchPortCongestionSetting{}.Ports))
	}
	return parts
}

// vlBlocks returns the blocks in a port's arbitration tables: 1 and 2 with low, 3 and 4
// with high priority.
func vlBlocks(port *mad.PortInfo) []uint32 {
	var blocks []uint32
	for _, table := range []struct {
		first    uint32
		capacity uint8
	}{{1, port.VLArbLowCap}, {3, port.VLArbHighCap}} {
		if table.capacity > 0 {
			blocks = append(blocks, table.first)
		}
		if int(table.capacity) > len(mad.VLArbitration{}.Entries) {
			blocks = append(blocks, table.first+1)
		}
	}
	return blocks
}

// representative returns the port with the table sizes in its PortInfo: the last selected
// port.
func (s scope) representative(ports Ports, f *facts) uint32 {
	if s != ofVLs {
		return 0
	}
	selected := s.selected(ports, f)
	if len(selected) == 0 { // the node reports that it has no ports
		return 0
	}
	return uint32(selected[len(selected)-1])
}

// selected returns the selected ports or the default.
func (s scope) selected(ports Ports, f *facts) []uint8 {
	first, last := uint8(1), f.node.NumPorts
	switch {
	case f.node.IsSwitch() && s != ofCounters:
		first = 0
	case !f.node.IsSwitch() && (s == ofPKeys || s == ofVLs || s == ofCounters) && !ports.Given():
		return []uint8{f.node.LocalPort}
	}
	switch {
	case ports.Given():
		return ports.of(first, last)
	case s == ofCounters:
		return Ports{All: true}.of(first, last)
	}
	return []uint8{0} // port 0 on a switch, or the port that receives the request
}

// multicastParts returns the requests for the multicast table: up to the highest LID
// in use if the switch reports it, otherwise the whole table.
func multicastParts(f *facts) []part {
	const perBlock, portsPerGroup, groupShift = len(mad.MulticastForwardingTable{}.Masks), 16, 28
	const firstLID ib.LID = 0xc000
	entries := int(f.sw.MulticastFDBCap)
	if top := f.sw.MulticastFDBTop; top >= firstLID {
		entries = min(entries, int(top-firstLID)+1)
	}
	var parts []part
	for group := range uint32(f.node.NumPorts)/portsPerGroup + 1 {
		for first := 0; first < entries; first += perBlock {
			parts = append(parts, part{port: -1, modifier: group<<groupShift | uint32(first/perBlock), block: int(firstLID) + first})
		}
	}
	return parts
}
