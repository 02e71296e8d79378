package sim

import (
	"github.com/ibkit/ibkit/mad"
)

// answerSMP is a node's subnet management agent (InfiniBand Architecture, Volume 1, 14.2).
// It turns a request into its reply and reports whether the agent replies.
func (f *Fabric) answerSMP(d destination, p *mad.Packet) bool {
	method := p.Method()
	if method == mad.MethodTrap {
		return f.receiveTrap(d, p)
	}
	if method != mad.MethodGet && method != mad.MethodSet || d.node.isMuted(p) {
		return false
	}
	switch d.checkKey(p) {
	case keyRefused:
		d.refused(p)
		return false
	case keyHidden:
		defer hideKey(p)
	}
	p.SetMethod(mad.MethodGetResp)
	status := mad.StatusBadMethodAttr
	if a, ok := agents[p.Attr()]; ok {
		status = 0
		if method == mad.MethodSet {
			status = mad.StatusBadMethodAttr
			if a.set != nil {
				status = a.set(f, d, p)
			}
		}
		if status == 0 {
			status = a.get(f, d, p)
		}
	}
	if p.Class() == mad.ClassSMPDirected {
		p.SetReturning()
	}
	p.SetStatus(status)
	return true
}

// An agent answers requests for an attribute. set changes the node; get, which also answers
// a Set, writes the attribute into the reply.
type agent struct {
	get, set func(f *Fabric, d destination, p *mad.Packet) mad.Status
}

var agents = map[mad.AttrID]agent{
	mad.AttrNodeDescription:          {get: getNodeDescription, set: setNodeDescription},
	mad.AttrNodeInfo:                 {get: getNodeInfo},
	mad.AttrSwitchInfo:               {get: getSwitchInfo, set: setSwitchInfo},
	mad.AttrPortInfo:                 {get: getPortInfo, set: setPortInfo},
	mad.AttrPKeyTable:                {get: getPKeyTable, set: setPKeyTable},
	mad.AttrSLtoVLMapping:            {get: getSLtoVL, set: setSLtoVL},
	mad.AttrGUIDInfo:                 {get: getGUIDInfo},
	mad.AttrLinearForwardingTable:    {get: getLFT, set: setLFT},
	mad.AttrMulticastForwardingTable: {get: getMFT, set: setMFT},
	mad.AttrVLArbitration:            {get: getVLArbitration, set: setVLArbitration},
	mad.AttrSMInfo:                   {get: getSMInfo, set: setSMInfo},
	mad.AttrSwitchPortStateTable:     {get: getPortStates},
	mad.AttrMlnxExtPortInfo:          {get: getExtendedPortInfo, set: setExtendedPortInfo},
	mad.AttrPortInfoExtended:         {get: getPortInfoExtended},
	mad.AttrHierarchyInfo:            {get: getHierarchyInfo},
	mad.AttrVendorCapabilities:       {get: getVendorCapabilities},
	mad.AttrPrivateLFTInfo:           {get: getPrivateLFTInfo},
	mad.AttrAdaptiveRoutingInfo:      {get: getAdaptiveRoutingInfo},
	mad.AttrARGroupTable:             {get: getARGroupTable},
	mad.AttrARLinearForwardingTable:  {get: getARLFT},
	mad.AttrMlnxConfigSpaceSMP:       {get: getWords, set: setWords},
	mad.AttrMlnxRegisterAccess:       {get: getSubnetAccess, set: setSubnetAccess},
	mad.AttrMlnxCableInfo:            {get: getCableInfo},
	mad.AttrMlnxSemaphore:            {get: getSemaphore, set: setSemaphore},
}

// A keyCheck is the result of an M_Key comparison.
type keyCheck uint8

const (
	keyAccepted keyCheck = iota
	keyHidden            // reply without the key
	keyRefused           // no reply
)

// checkKey compares a packet's M_Key with the port's M_Key (14.2.4). A Set requires the
// right key; the protection bits determine the result of a Get.
func (d destination) checkKey(p *mad.Packet) keyCheck {
	info := &d.node.managed(d.entry).Info
	switch {
	case info.MKey == 0 || info.MKey == p.Key():
		return keyAccepted
	case p.Method() == mad.MethodSet || info.MKeyProtect > 1:
		return keyRefused
	case info.MKeyProtect == 1:
		return keyHidden
	}
	return keyAccepted
}

// managed returns the port with the management settings for packets that arrive at a port:
// switch port 0, otherwise the port itself.
func (n *Node) managed(entry uint8) *Port {
	if n.IsSwitch() {
		return &n.Ports[0]
	}
	return &n.Ports[entry]
}

// hideKey clears the M_Key in a PortInfo.
func hideKey(p *mad.Packet) {
	if p.Attr() == mad.AttrPortInfo {
		clear(p.Data()[:8])
	}
}

// encode writes an attribute into a reply and returns the reply status.
func encode(p *mad.Packet, a mad.Attribute) mad.Status {
	if mad.Encode(a, p.Data()) != nil {
		return mad.StatusBadValue
	}
	return 0
}

// port returns the port that a modifier selects. 0 stands for the port at which the
// packet arrived, and on a switch for port 0.
func (d destination) port(number uint32) *Port {
	if number == 0 && !d.node.IsSwitch() {
		number = uint32(d.entry)
	}
	if int(number) >= len(d.node.Ports) {
		return nil
	}
	return &d.node.Ports[number]
}

func getNodeDescription(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	return encode(p, &d.node.Desc)
}

func setNodeDescription(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	copy(d.node.Desc[:], p.Data())
	return 0
}

func getNodeInfo(f *Fabric, d destination, p *mad.Packet) mad.Status {
	info := &f.nodeInfo
	*info = d.node.Info
	info.LocalPort = d.entry
	info.PortGUID = d.node.managed(d.entry).GUID
	return encode(p, info)
}

func getSwitchInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	if !d.node.IsSwitch() {
		return mad.StatusBadMethodAttr
	}
	return encode(p, &d.node.Switch)
}

func setSwitchInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	var info mad.SwitchInfo
	if !d.node.IsSwitch() || p.Decode(&info) != nil {
		return mad.StatusBadMethodAttr
	}
	s := &d.node.Switch
	s.LinearFDBTop = info.LinearFDBTop
	s.DefaultPort = info.DefaultPort
	s.DefaultMulticastPrimaryPort = info.DefaultMulticastPrimaryPort
	s.DefaultMulticastNotPrimaryPort = info.DefaultMulticastNotPrimaryPort
	s.LifeTimeValue = info.LifeTimeValue
	s.OptimizedSLtoVL = info.OptimizedSLtoVL
	s.MulticastFDBTop = info.MulticastFDBTop
	if info.PortStateChange != 0 {
		s.PortStateChange = 0 // 1 clears the bit
	}
	return 0
}

func getPortInfo(f *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.port(p.Modifier() & 0xff)
	if port == nil {
		return mad.StatusBadValue
	}
	info := &f.portInfo
	*info = port.Info
	info.LocalPort = d.entry
	return encode(p, info)
}

func getExtendedPortInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.port(p.Modifier() & 0xff)
	switch {
	case port != nil && port.Ext != nil:
		return encode(p, port.Ext)
	case port != nil && d.node.hasExtendedPortInfo():
		return encode(p, &mad.MlnxExtPortInfo{})
	}
	return mad.StatusBadMethodAttr
}

func getGUIDInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	var info mad.GUIDInfo
	if p.Modifier() == 0 {
		info.GUIDs[0] = d.node.managed(d.entry).GUID
	}
	return encode(p, &info)
}
