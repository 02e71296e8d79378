package saquery

import (
	"net/netip"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// path has the path and multicast record fields that options select. As in the C tool,
// -1 or 0 stands for a field that is not selected.
type path struct {
	serviceID             uint64
	sgid, dgid, gid, mgid ib.GID
	slid, dlid, mlid      uint16
	flowLabel             uint32
	hopLimit              int
	trafficClass          uint8
	reversible, numbPath  int
	pkey                  uint16
	qosClass, sl          int
	mtu, rate, lifetime   uint8 // with the selector in the top bits
	qkey                  uint32
	scope, joinState      uint8
	proxyJoin             int
}

func (p *path) defaults() {
	p.hopLimit, p.reversible, p.numbPath, p.qosClass, p.sl, p.proxyJoin = -1, -1, -1, -1, -1, -1
}

func setNumber[T integer](to *T) func(string) error {
	return func(value string) error {
		*to = T(getopt.Strtoull(value))
		return nil
	}
}

func setInt(to *int) func(string) error {
	return func(value string) error {
		*to = int(int32(getopt.Strtoull(value)))
		return nil
	}
}

// setGID returns a Set for a GID in IPv6 address form.
func setGID(to *ib.GID) func(string) error {
	return func(value string) error {
		ip, err := netip.ParseAddr(value)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return getopt.ErrUsage
		}
		*to = ip.As16()
		return nil
	}
}

func (p *path) options(c *command) []getopt.Option {
	key := func(name string, set func(uint64)) func(string) error {
		return func(value string) error {
			v, err := c.secret(value, name)
			if err == nil {
				set(v)
			}
			return err
		}
	}
	return []getopt.Option{
		{Long: "slid", Arg: "<lid>", Help: "Source LID (PathRecord)", Set: setNumber(&p.slid)},
		{Long: "dlid", Arg: "<lid>", Help: "Destination LID (PathRecord)", Set: setNumber(&p.dlid)},
		{Long: "mlid", Arg: "<lid>", Help: "Multicast LID (MCMemberRecord)", Set: setNumber(&p.mlid)},
		{Long: "sgid", Arg: "<gid>", Help: "Source GID (IPv6 format) (PathRecord)", Set: setGID(&p.sgid)},
		{Long: "dgid", Arg: "<gid>", Help: "Destination GID (IPv6 format) (PathRecord)", Set: setGID(&p.dgid)},
		{Long: "gid", Arg: "<gid>", Help: "Port GID (MCMemberRecord)", Set: setGID(&p.gid)},
		{Long: "mgid", Arg: "<gid>", Help: "Multicast GID (MCMemberRecord)", Set: setGID(&p.mgid)},
		{Long: "reversible", Short: 'r', Arg: "<val>", Help: "Reversible path (PathRecord)", Set: setInt(&p.reversible)},
		{Long: "numb_path", Short: 'n', Arg: "<val>", Help: "Number of paths (PathRecord)", Set: setInt(&p.numbPath)},
		{Long: "pkey", Arg: "<val>", Help: "P_Key (PathRecord, MCMemberRecord). If non-numeric value (like 'x') is specified then saquery will prompt for a value", Set: key("P_Key", func(v uint64) { p.pkey = uint16(v) })},
		{Long: "qos_class", Short: 'Q', Arg: "<val>", Help: "QoS Class (PathRecord)", Set: setInt(&p.qosClass)},
		{Long: "sl", Arg: "<val>", Help: "Service level (PathRecord, MCMemberRecord)", Set: setInt(&p.sl)},
		{Long: "mtu", Short: 'M', Arg: "<val>", Help: "MTU and selector (PathRecord, MCMemberRecord)", Set: setNumber(&p.mtu)},
		{Long: "rate", Short: 'R', Arg: "<val>", Help: "Rate and selector (PathRecord, MCMemberRecord)", Set: setNumber(&p.rate)},
		{Long: "pkt_lifetime", Arg: "<val>", Help: "Packet lifetime and selector (PathRecord, MCMemberRecord)", Set: setNumber(&p.lifetime)},
		{Long: "qkey", Short: 'q', Arg: "<val>", Help: "Q_Key (MCMemberRecord). If non-numeric value (like 'x') is specified then saquery will prompt for a value", Set: key("Q_Key", func(v uint64) { p.qkey = uint32(v) })},
		{Long: "tclass", Short: 'T', Arg: "<val>", Help: "Traffic Class (PathRecord, MCMemberRecord)", Set: setNumber(&p.trafficClass)},
		{Long: "flow_label", Short: 'F', Arg: "<val>", Help: "Flow Label (PathRecord, MCMemberRecord)", Set: setNumber(&p.flowLabel)},
		{Long: "hop_limit", Short: 'H', Arg: "<val>", Help: "Hop limit (PathRecord, MCMemberRecord)", Set: setInt(&p.hopLimit)},
		{Long: "scope", Arg: "<val>", Help: "Scope (MCMemberRecord)", Set: setNumber(&p.scope)},
		{Long: "join_state", Short: 'J', Arg: "<val>", Help: "Join state (MCMemberRecord)", Set: setNumber(&p.joinState)},
		{Long: "proxy_join", Short: 'X', Arg: "<val>", Help: "Proxy join (MCMemberRecord)", Set: setInt(&p.proxyJoin)},
		{Long: "service_id", Arg: "<val>", Help: "ServiceID (PathRecord)", Set: setNumber(&p.serviceID)},
	}
}

// Layout of a byte with a selector and a value (InfiniBand Architecture,
// Volume 1, 15.2.5.16).
const (
	selectorShift = 6
	selectedMask  = 1<<selectorShift - 1
)

// A selection collects the record fields that a query specifies.
type selection struct {
	record mad.Attribute
	mask   mad.ComponentMask
}

// add selects fields if a condition is true.
func (s *selection) add(when bool, fields ...any) {
	if when {
		s.mask |= mad.Components(s.record, fields...)
	}
}

// pathRecord returns the path record to match. The C tool tests and stores some values
// with 8 bits.
func (p *path) pathRecord() (*mad.PathRecord, mad.ComponentMask) {
	r := &mad.PathRecord{
		ServiceID: p.serviceID, SGID: p.sgid, DGID: p.dgid, SLID: ib.LID(p.slid), DLID: ib.LID(p.dlid),
		TrafficClass: p.trafficClass, PKey: mad.PKey(p.pkey),
		MTUSelector: mad.Selector(p.mtu >> selectorShift), MTU: ib.MTU(p.mtu & selectedMask),
		RateSelector: mad.Selector(p.rate >> selectorShift), Rate: ib.Rate(p.rate & selectedMask),
		LifeTimeSelector: mad.Selector(p.lifetime >> selectorShift), LifeTime: p.lifetime & selectedMask,
	}
	s := selection{record: r}
	s.add(p.serviceID != 0, &r.ServiceID)
	s.add(p.sgid != ib.GID{}, &r.SGID)
	s.add(p.dgid != ib.GID{}, &r.DGID)
	s.add(p.slid != 0, &r.SLID)
	s.add(p.dlid != 0, &r.DLID)
	if p.hopLimit != -1 {
		r.HopLimit = uint8(p.hopLimit)
		s.add(true, &r.HopLimit)
	}
	if flow := uint8(p.flowLabel); flow != 0 {
		r.FlowLabel = uint32(flow)
		s.add(true, &r.FlowLabel)
	}
	s.add(p.trafficClass != 0, &r.TrafficClass)
	if uint8(p.reversible) != 0xff {
		r.Reversible = uint8(p.reversible) & 1
		s.add(true, &r.Reversible)
	}
	if n := uint8(p.numbPath); n != 0xff {
		r.NumbPath = n & 0x7f
		r.Reversible |= n >> 7
		s.add(true, &r.NumbPath)
	}
	s.add(p.pkey != 0, &r.PKey)
	if uint16(p.sl) != 0xffff {
		r.SL = uint8(p.sl) & 0xf
		s.add(true, &r.SL)
	}
	if p.qosClass != -1 {
		r.QoSClass = uint16(p.qosClass) & 0xfff
		s.add(true, &r.QoSClass)
	}
	s.add(p.mtu != 0, &r.MTUSelector, &r.MTU)
	s.add(p.rate != 0, &r.RateSelector, &r.Rate)
	s.add(p.lifetime != 0, &r.LifeTimeSelector, &r.LifeTime)
	return r, s.mask
}

// memberRecord returns the multicast record to match.
func (p *path) memberRecord() (*mad.MCMemberRecord, mad.ComponentMask) {
	r := &mad.MCMemberRecord{
		MGID: p.mgid, PortGID: p.gid, MLID: ib.LID(p.mlid), QKey: p.qkey, TrafficClass: p.trafficClass, PKey: mad.PKey(p.pkey),
		MTUSelector: mad.Selector(p.mtu >> selectorShift), MTU: ib.MTU(p.mtu & selectedMask),
		RateSelector: mad.Selector(p.rate >> selectorShift), Rate: ib.Rate(p.rate & selectedMask),
		LifeTimeSelector: mad.Selector(p.lifetime >> selectorShift), LifeTime: p.lifetime & selectedMask,
		Scope: p.scope & 0xf, JoinState: mad.JoinState(p.joinState & 0xf),
	}
	s := selection{record: r}
	s.add(p.mgid != ib.GID{}, &r.MGID)
	s.add(p.gid != ib.GID{}, &r.PortGID)
	s.add(p.mlid != 0, &r.MLID)
	s.add(p.qkey != 0, &r.QKey)
	s.add(p.mtu != 0, &r.MTUSelector, &r.MTU)
	s.add(p.rate != 0, &r.RateSelector, &r.Rate)
	s.add(p.lifetime != 0, &r.LifeTimeSelector, &r.LifeTime)
	s.add(p.trafficClass != 0, &r.TrafficClass)
	s.add(p.pkey != 0, &r.PKey)
	if uint8(p.sl) != 0xff {
		r.SL = uint8(p.sl) & 0xf
		s.add(true, &r.SL)
	}
	if flow := uint8(p.flowLabel); flow != 0 {
		r.FlowLabel = uint32(flow)
		s.add(true, &r.FlowLabel)
	}
	if uint8(p.hopLimit) != 0xff {
		r.HopLimit = uint8(p.hopLimit)
		s.add(true, &r.HopLimit)
	}
	s.add(p.scope != 0, &r.Scope)
	s.add(p.joinState != 0, &r.JoinState)
	if uint8(p.proxyJoin) != 0xff {
		r.ProxyJoin = min(uint8(p.proxyJoin), 1)
		s.add(true, &r.ProxyJoin)
	}
	return r, s.mask
}
