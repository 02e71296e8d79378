package register

import "github.com/ibkit/ibkit/mad"

// An Eye is a lane's eye opening, in units of the SerDes. Versions before 4 (7 nm) have other
// fields, which are not decoded.
type Eye struct {
	LocalPort LocalPort
	Lane      uint8 // 4 bits
	Valid     uint8 // 1: there is a measurement
	Version   uint8 // 4: 7 nm, 5: 5 nm

	Initial, Last, Upper, Mid, Lower uint16 // 8 bits in version 4
}

// Part returns the register's number and index.
func (r *Eye) Part() Part { return Part{IDSLRG, [2]uint16{uint16(r.LocalPort), uint16(r.Lane)}} }

// Spec returns the register's spec.
func (*Eye) Spec() mad.Spec { return spec(0x28) }

// MarshalJSON writes the fields as an object; see package mad.
func (r Eye) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *Eye) Layout(c *mad.Codec) {
	r.LocalPort.layout(c)
	bits(c, &r.Lane, 0x00, 8, 4, "Lane")
	bits(c, &r.Version, 0x00, 24, 4, "Version")
	bits(c, &r.Valid, 0x00, 28, 4, "Status")
	switch r.Version {
	case 4:
		bits(c, &r.Initial, 0x08, 0, 8, "InitialFom")
		bits(c, &r.Lower, 0x0c, 0, 8, "LowerEye")
		bits(c, &r.Mid, 0x0c, 8, 8, "MidEye")
		bits(c, &r.Upper, 0x0c, 16, 8, "UpperEye")
		bits(c, &r.Last, 0x0c, 24, 8, "LastFom")
	case 5:
		bits(c, &r.Initial, 0x08, 0, 16, "InitialFom")
		bits(c, &r.Upper, 0x0c, 0, 16, "UpperEye")
		bits(c, &r.Last, 0x0c, 16, 16, "LastFom")
		bits(c, &r.Lower, 0x10, 0, 16, "LowerEye")
		bits(c, &r.Mid, 0x10, 16, 16, "MidEye")
	}
}

// IsKnown reports whether the lane has a measurement that this package decodes.
func (r *Eye) IsKnown() bool { return r.Valid == 1 && (r.Version == 4 || r.Version == 5) }

// A BERMonitor is the firmware's verdict on a port's error rates.
type BERMonitor struct {
	LocalPort LocalPort
	Type      uint8 // in a reply, bit set: 1 after correction, 2 before correction, 4 symbol errors
	State     MonitorState
}

// Part returns the register's number and index.
func (r *BERMonitor) Part() Part { return Part{IDPPBMC, r.LocalPort} }

// Spec returns the register's spec.
func (*BERMonitor) Spec() mad.Spec { return spec(0x10) }

// MarshalJSON writes the fields as an object; see package mad.
func (r BERMonitor) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *BERMonitor) Layout(c *mad.Codec) {
	r.LocalPort.layout(c)
	bits(c, &r.Type, 0x00, 8, 4, "MonitorType")
	bits(c, &r.State, 0x04, 0, 8, "MonitorState")
}

// A MonitorState is a BER monitor's state.
type MonitorState uint8

// The states.
const (
	MonitorNone    MonitorState = 0
	MonitorNormal  MonitorState = 1
	MonitorWarning MonitorState = 2
	MonitorAlarm   MonitorState = 3
)

// String returns the state.
func (s MonitorState) String() string { return nameOf(monitorStates, s) }

var monitorStates = map[MonitorState]string{
	MonitorNone: "not supported", MonitorNormal: "normal", MonitorWarning: "warning", MonitorAlarm: "alarm",
}
