package sim

import "github.com/ibkit/ibkit/mad"

// ccTableBlocks is the number of 64-entry blocks in an adapter's congestion control table.
const ccTableBlocks = 2

// congestion is the state of a port's congestion control agent: switch port 0, or an
// adapter port.
type congestion struct {
	key    mad.CongestionKeyInfo
	marks  mad.SwitchCongestionSetting // switches
	ports  []mad.PortCongestionSetting // switches, by port number
	limits mad.CACongestionSetting     // adapters
	last   uint16                      // adapters: highest valid table index
	table  [ccTableBlocks]mad.CongestionControlTable
	log    mad.CongestionLog
}

// congestion returns the agent state for the port.
func (p *Port) congestion() *congestion {
	if p.cc == nil {
		p.cc = &congestion{}
		p.cc.log.Type = mad.CongestionLogCA
		if p.Node.IsSwitch() {
			p.cc.log.Type = mad.CongestionLogSwitch
			p.cc.ports = make([]mad.PortCongestionSetting, len(p.Node.Ports))
		}
	}
	return p.cc
}

// ccAgent answers requests for an attribute. set changes the state; get, which also writes
// the reply to a Set, returns the attribute.
type ccAgent struct {
	get          func(f *Fabric, c *congestion, modifier uint32) (mad.Attribute, mad.Status)
	set          func(c *congestion, p *mad.Packet) mad.Status
	switchesOnly bool
	adaptersOnly bool
}

var ccAgents = map[mad.AttrID]ccAgent{
	mad.AttrClassPortInfo:               {get: getCCClassPortInfo},
	mad.AttrCongestionInfo:              {get: getCongestionInfo},
	mad.AttrCongestionKeyInfo:           {get: getCongestionKeyInfo, set: setCongestionKeyInfo},
	mad.AttrCongestionLog:               {get: getCongestionLog},
	mad.AttrSwitchCongestionSetting:     {get: getSwitchCongestion, set: setSwitchCongestion, switchesOnly: true},
	mad.AttrSwitchPortCongestionSetting: {get: getSwitchPortCongestion, set: setSwitchPortCongestion, switchesOnly: true},
	mad.AttrCACongestionSetting:         {get: getCACongestion, set: setCACongestion, adaptersOnly: true},
	mad.AttrCongestionControlTable:      {get: getCCTable, set: setCCTable, adaptersOnly: true},
	mad.AttrTimeStamp:                   {get: getTimeStamp},
}

// answerCC is a node's congestion control agent (InfiniBand Architecture, Volume 1, annex
// A10). It turns a request into its reply and reports whether the agent replies.
func (f *Fabric) answerCC(d destination, p *mad.Packet) bool {
	method := p.Method()
	if method != mad.MethodGet && method != mad.MethodSet {
		return false
	}
	c := d.node.managed(d.entry).congestion()
	trusted := c.key.Key == 0 || c.key.Key == p.Key()
	if !trusted {
		c.key.Violations = max(c.key.Violations, c.key.Violations+1)
		if method == mad.MethodSet {
			return false
		}
	}
	p.SetMethod(mad.MethodGetResp)
	p.SetStatus(f.answerCongestion(d.node, c, p, method == mad.MethodSet))
	if p.Attr() == mad.AttrCongestionKeyInfo && !trusted && c.key.ProtectBit != 0 {
		clear(p.Data()[:8])
	}
	return true
}

func (f *Fabric) answerCongestion(n *Node, c *congestion, p *mad.Packet, set bool) mad.Status {
	if p.Header().ClassVersion != mad.ClassCC.Version() {
		return mad.StatusBadVersion
	}
	agent, known := ccAgents[p.Attr()]
	switch {
	case !known, agent.switchesOnly && !n.IsSwitch(), agent.adaptersOnly && n.IsSwitch(), set && agent.set == nil:
		return mad.StatusBadMethodAttr
	case set:
		if status := agent.set(c, p); status != 0 {
			return status
		}
	}
	a, status := agent.get(f, c, p.Modifier())
	if status != 0 {
		return status
	}
	return encode(p, a)
}

func getCCClassPortInfo(*Fabric, *congestion, uint32) (mad.Attribute, mad.Status) {
	return &mad.ClassPortInfo{BaseVersion: 1, ClassVersion: mad.ClassCC.Version(), RespTimeValue: 18}, 0
}

func getCongestionInfo(_ *Fabric, c *congestion, _ uint32) (mad.Attribute, mad.Status) {
	if c.log.Type == mad.CongestionLogSwitch {
		return &mad.CongestionInfo{Info: mad.CongestionCreditStarvation}, 0
	}
	return &mad.CongestionInfo{ControlTableCap: ccTableBlocks}, 0
}

func getCongestionKeyInfo(_ *Fabric, c *congestion, _ uint32) (mad.Attribute, mad.Status) {
	return &c.key, 0
}

// setCongestionKeyInfo keeps the violation count unless the request sets it to 0.
func setCongestionKeyInfo(c *congestion, p *mad.Packet) mad.Status {
	var set mad.CongestionKeyInfo
	if p.Decode(&set) != nil {
		return mad.StatusBadValue
	}
	if set.Violations != 0 {
		set.Violations = c.key.Violations
	}
	c.key = set
	return 0
}

// getCongestionLog returns the log and restarts the event count.
func getCongestionLog(f *Fabric, c *congestion, _ uint32) (mad.Attribute, mad.Status) {
	log := c.log
	log.TimeStamp = f.timeStamp()
	c.log.Events = 0
	return &log, 0
}

func getSwitchCongestion(_ *Fabric, c *congestion, _ uint32) (mad.Attribute, mad.Status) {
	return &c.marks, 0
}

func setSwitchCongestion(c *congestion, p *mad.Packet) mad.Status {
	var set mad.SwitchCongestionSetting
	if p.Decode(&set) != nil {
		return mad.StatusBadValue
	}
	m := &c.marks
	m.ControlMap = set.ControlMap
	if set.ControlMap&mad.CongestionSetVictimMask != 0 {
		m.VictimMask = set.VictimMask
	}
	if set.ControlMap&mad.CongestionSetCreditMask != 0 {
		m.CreditMask = set.CreditMask
	}
	if set.ControlMap&mad.CongestionSetThreshold != 0 {
		m.Threshold, m.PacketSize = set.Threshold, set.PacketSize
	}
	if set.ControlMap&mad.CongestionSetStarvation != 0 {
		m.CSThreshold, m.CSReturnDelay = set.CSThreshold, set.CSReturnDelay
	}
	if set.ControlMap&mad.CongestionSetMarkingRate != 0 {
		m.MarkingRate = set.MarkingRate
	}
	return 0
}

// portBlock returns the port settings in a block, nil for a block without ports.
func (c *congestion) portBlock(a *mad.SwitchPortCongestionSetting, modifier uint32) []mad.PortCongestionSetting {
	if uint64(modifier)*uint64(len(a.Ports)) >= uint64(len(c.ports)) {
		return nil
	}
	rest := c.ports[int(modifier)*len(a.Ports):]
	return rest[:min(len(rest), len(a.Ports))]
}

func getSwitchPortCongestion(_ *Fabric, c *congestion, modifier uint32) (mad.Attribute, mad.Status) {
	var a mad.SwitchPortCongestionSetting
	block := c.portBlock(&a, modifier)
	if block == nil {
		return nil, mad.StatusBadValue
	}
	copy(a.Ports[:], block)
	return &a, 0
}

func setSwitchPortCongestion(c *congestion, p *mad.Packet) mad.Status {
	var set mad.SwitchPortCongestionSetting
	block := c.portBlock(&set, p.Modifier())
	if block == nil || p.Decode(&set) != nil {
		return mad.StatusBadValue
	}
	copy(block, set.Ports[:])
	return 0
}

func getCACongestion(_ *Fabric, c *congestion, _ uint32) (mad.Attribute, mad.Status) {
	return &c.limits, 0
}

func setCACongestion(c *congestion, p *mad.Packet) mad.Status {
	var set mad.CACongestionSetting
	if p.Decode(&set) != nil {
		return mad.StatusBadValue
	}
	c.limits.PortControl, c.limits.ControlMap = set.PortControl, set.ControlMap
	for sl := range set.SLs {
		if set.ControlMap>>sl&1 != 0 {
			c.limits.SLs[sl] = set.SLs[sl]
		}
	}
	return 0
}

func getCCTable(_ *Fabric, c *congestion, modifier uint32) (mad.Attribute, mad.Status) {
	if modifier >= ccTableBlocks {
		return nil, mad.StatusBadValue
	}
	a := c.table[modifier]
	a.Limit = c.last
	return &a, 0
}

func setCCTable(c *congestion, p *mad.Packet) mad.Status {
	var set mad.CongestionControlTable
	if p.Modifier() >= ccTableBlocks || p.Decode(&set) != nil || int(set.Limit) >= ccTableBlocks*len(set.Entries) {
		return mad.StatusBadValue
	}
	c.last, c.table[p.Modifier()] = set.Limit, set
	return 0
}

func getTimeStamp(f *Fabric, _ *congestion, _ uint32) (mad.Attribute, mad.Status) {
	return &mad.TimeStamp{Time: f.timeStamp()}, 0
}

// timeStamp returns the fabric's uptime in units of 1.024 µs.
func (f *Fabric) timeStamp() uint32 { return uint32(f.uptime().Nanoseconds() / 1024) }

// LogCongestion adds an event to the congestion logs in the switch and the sending adapter:
// the switch port at has marked a packet that travels between two ports. A log keeps the
// latest events.
func (f *Fabric) LogCongestion(at, from, to *Port, sl uint8) {
	now := f.timeStamp()
	from, to = from.Management(), to.Management()
	if at.Node.IsSwitch() {
		log := &at.Management().congestion().log
		log.Events = max(log.Events, log.Events+1)
		log.PortMap.Add(at.Number)
		event := mad.SwitchCongestionEvent{SLID: from.Info.LID, DLID: to.Info.LID, SL: sl & 0xf, TimeStamp: now}
		copy(log.SwitchEvents[1:], log.SwitchEvents[:])
		log.SwitchEvents[0] = event
	}
	if !from.Node.IsSwitch() {
		log := &from.congestion().log
		log.Events = max(log.Events, log.Events+1)
		log.SLMap |= 1 << (sl & 0xf)
		event := mad.CACongestionEvent{SL: sl & 0xf, LocalLID: from.Info.LID, RemoteLID: to.Info.LID, TimeStamp: now}
		copy(log.CAEvents[1:], log.CAEvents[:])
		log.CAEvents[0] = event
	}
}
