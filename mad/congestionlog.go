package mad

import "github.com/ibkit/ibkit/ib"

// A CongestionLog is a congestion control agent's log (InfiniBand Architecture, Volume
// 1, A10.4.3.5). Type determines which fields are valid. A channel adapter's log has
// the layout in libibmad: the specification moved its fields more than once.
type CongestionLog struct {
	Type      uint8 // CongestionLogSwitch or CongestionLogCA
	Flags     uint8
	Events    uint16 // since the log was last read
	TimeStamp uint32 // time stamp of this reply; see [TimeStamp]

	PortMap      PortMask // switch: ports that have marked packets
	SwitchEvents [15]SwitchCongestionEvent

	SLMap    uint16 // channel adapter: service levels that have reached the threshold
	CAEvents [13]CACongestionEvent
}

// Congestion log types.
const (
	CongestionLogSwitch = 1
	CongestionLogCA     = 2
)

// A SwitchCongestionEvent is a packet that a switch has marked.
type SwitchCongestionEvent struct {
	SLID      ib.LID `json:"slid"`
	DLID      ib.LID `json:"dlid"`
	SL        uint8  `json:"sl"` // 4 bits
	TimeStamp uint32 `json:"timestamp"`
}

// A CACongestionEvent is a flow that has reached its service level's threshold.
type CACongestionEvent struct {
	LocalQP     uint32 `json:"local_qp"`     // 24 bits
	SL          uint8  `json:"sl"`           // 4 bits
	ServiceType uint8  `json:"service_type"` // 4 bits
	RemoteQP    uint32 `json:"remote_qp"`    // 24 bits
	LocalLID    ib.LID `json:"local_lid"`
	RemoteLID   ib.LID `json:"remote_lid"`
	TimeStamp   uint32 `json:"timestamp"`
}

// Spec returns the AttrCongestionLog spec.
func (*CongestionLog) Spec() Spec {
	return Spec{Class: ClassCC, ID: AttrCongestionLog, Size: congestionLogSize}
}

// MarshalJSON writes the fields that are valid for the log type, with the
// events that are in use.
func (a CongestionLog) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *CongestionLog) marshal(c *Codec) {
	log := struct {
		Type      uint8  `json:"log_type"`
		Flags     uint8  `json:"congestion_flags"`
		Events    uint16 `json:"events"`
		TimeStamp uint32 `json:"timestamp"`
		PortMap   []int  `json:"ports,omitempty"`
		SLMap     uint16 `json:"sl_map,omitempty"`
		Log       any    `json:"log"`
	}{Type: a.Type, Flags: a.Flags, Events: a.Events, TimeStamp: a.TimeStamp}
	switch a.Type {
	case CongestionLogSwitch:
		for port := range 256 {
			if a.PortMap.Has(uint8(port)) {
				log.PortMap = append(log.PortMap, port)
			}
		}
		log.Log = used(a.SwitchEvents[:])
	case CongestionLogCA:
		log.SLMap, log.Log = a.SLMap, used(a.CAEvents[:])
	}
	c.value(log)
}

// used returns the events that are not empty.
func used[T comparable](events []T) []T {
	found := []T{}
	var empty T
	for _, e := range events {
		if e != empty {
			found = append(found, e)
		}
	}
	return found
}

// Layout declares the fields.
func (a *CongestionLog) Layout(c *Codec) {
	a.common(c)
	switch a.Type {
	case CongestionLogSwitch:
		a.switchFields(c)
		for i := range a.SwitchEvents {
			a.SwitchEvents[i].fields(c, 320+i*96)
		}
	case CongestionLogCA:
		a.adapterFields(c)
		for i := range a.CAEvents {
			a.CAEvents[i].fields(c, 96+i*128)
		}
	}
}

func (a *CongestionLog) common(c *Codec) {
	Bits(c, &a.Type, 0, 8, "LogType", Decimal)
	Bits(c, &a.Flags, 8, 8, "CongestionFlags", Hex)
}

func (a *CongestionLog) switchFields(c *Codec) {
	Bits(c, &a.Events, 16, 16, "LogEventsCounter", Decimal)
	Bits(c, &a.TimeStamp, 32, 32, "CurrentTimeStamp", Decimal)
	Array(c, a.PortMap[:], 64, 8, "PortMap", Bytes)
}

func (e *SwitchCongestionEvent) fields(c *Codec, at int) {
	Bits(c, &e.SLID, at, 16, "SLID", Decimal)
	Bits(c, &e.DLID, at+16, 16, "DLID", Decimal)
	Bits(c, &e.SL, at+32, 4, "SL", Decimal)
	Bits(c, &e.TimeStamp, at+64, 32, "Timestamp", Decimal)
}

func (a *CongestionLog) adapterFields(c *Codec) {
	Bits(c, &a.Events, 16, 16, "ThresholdEventCounter", Decimal)
	Bits(c, &a.SLMap, 32, 16, "ThresholdCongestionEventMap", Hex)
	Bits(c, &a.TimeStamp, 64, 32, "CurrentTimeStamp", Decimal)
}

func (e *CACongestionEvent) fields(c *Codec, at int) {
	Bits(c, &e.LocalQP, at, 24, "Local_QP_CN_Entry", Decimal)
	Bits(c, &e.SL, at+24, 4, "SL_CN_Entry", Decimal)
	Bits(c, &e.ServiceType, at+28, 4, "Service_Type_CN_Entry", Hex)
	Bits(c, &e.RemoteQP, at+32, 24, "Remote_QP_Number_CN_Entry", Decimal)
	Bits(c, &e.LocalLID, at+64, 16, "Local_LID_CN", Decimal)
	Bits(c, &e.RemoteLID, at+80, 16, "Remote_LID_CN_Entry", Decimal)
	Bits(c, &e.TimeStamp, at+96, 32, "Timestamp_CN_Entry", Decimal)
}

// dump writes a paragraph per event that is in use, as ibccquery does.
func (a *CongestionLog) dump(c *Codec) {
	a.common(c)
	switch a.Type {
	case CongestionLogSwitch:
		a.switchFields(c)
		c.blank()
		for _, e := range used(a.SwitchEvents[:]) {
			e.fields(c, 0)
			c.blank()
		}
	case CongestionLogCA:
		a.adapterFields(c)
		c.blank()
		for _, e := range used(a.CAEvents[:]) {
			e.fields(c, 0)
			c.blank()
		}
	}
}
