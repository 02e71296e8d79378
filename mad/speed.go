package mad

import "strings"

// A Speed is the signalling rate of a lane, or a set of them. The bits are this
// package's own and in the order of the rates: PortInfo spreads the rates over
// three groups of fields, and NVIDIA's ExtendedPortInfo adds FDR10.
type Speed uint16

// The speeds.
const (
	SDR Speed = 1 << iota
	DDR
	QDR
	FDR10
	FDR
	EDR
	HDR
	NDR
	XDR
)

// speeds has the properties of each speed, slowest first.
var speeds = []struct {
	name string
	gbps float64 // signalling rate of one lane
	text string  // as the classic tools print it
}{
	{"SDR", 2.5, "2.5 Gbps"},
	{"DDR", 5, "5.0 Gbps"},
	{"QDR", 10, "10.0 Gbps"},
	{"FDR10", 10.3125, "10.0 Gbps (FDR10)"},
	{"FDR", 14.0625, "14.0625 Gbps"},
	{"EDR", 25.78125, "25.78125 Gbps"},
	{"HDR", 53.125, "53.125 Gbps"},
	{"NDR", 106.25, "106.25 Gbps"},
	{"XDR", 212.5, "212.5 Gbps"},
}

// Has reports whether all of speed is in s.
func (s Speed) Has(speed Speed) bool { return s&speed == speed }

// Max returns the fastest speed in s, 0 if there is none.
func (s Speed) Max() Speed {
	for i := len(speeds) - 1; i >= 0; i-- {
		if s&(1<<i) != 0 {
			return 1 << i
		}
	}
	return 0
}

// LaneGbps returns the signalling rate of one lane at the fastest speed in s,
// in 10^9 bits a second and with the line code's overhead; 0 if there is none.
func (s Speed) LaneGbps() float64 {
	for i := len(speeds) - 1; i >= 0; i-- {
		if s&(1<<i) != 0 {
			return speeds[i].gbps
		}
	}
	return 0
}

// String returns the names of the speeds in s, "SDR,DDR,QDR", or "none".
func (s Speed) String() string {
	if n := s.names(); n != nil {
		return strings.Join(n, ",")
	}
	return "none"
}

// Classic returns the fastest speed in s as iblinkinfo prints it, for example
// "14.0625 Gbps"; "" if there is none.
func (s Speed) Classic() string {
	for i := len(speeds) - 1; i >= 0; i-- {
		if s&(1<<i) != 0 {
			return speeds[i].text
		}
	}
	return ""
}

func (s Speed) names() []string {
	var n []string
	for i := range speeds {
		if s&(1<<i) != 0 {
			n = append(n, speeds[i].name)
		}
	}
	return n
}

// LinkGbps returns the signalling rate of a whole link, in 10^9 bits a second:
// that of a lane times the lanes. Of sets the widest and fastest counts.
func LinkGbps(width LinkWidth, speed Speed) float64 {
	return float64(width.Lanes()) * speed.LaneGbps()
}

// extDisabled is the value of LinkSpeedExtEnabled that turns all extended
// speeds off.
const extDisabled LinkSpeedExt = 30

// ActiveSpeed returns the speed that the link runs at, 0 where it is not
// known. It means nothing while the port is down.
//
// caps is the PortInfo whose capability masks hold for the port: port 0's on a
// switch, its own elsewhere. nil stands for one without capabilities. ext is
// NVIDIA's ExtendedPortInfo, nil where the port has none.
func (a *PortInfo) ActiveSpeed(caps *PortInfo, ext *MlnxExtPortInfo) Speed {
	// The newest group of fields that names a speed counts. An FDR10 link
	// is QDR to those who do not know FDR10.
	if s := a.extendedSpeeds(caps, a.LinkSpeedExtActive, a.LinkSpeedExt2Active); s != 0 {
		return s.Max()
	}
	if ext != nil && ext.LinkSpeedActive.Speed() != 0 {
		return FDR10
	}
	return a.LinkSpeedActive.Speed()
}

// SupportedSpeeds returns the speeds that the port can do. The arguments are
// those of ActiveSpeed.
func (a *PortInfo) SupportedSpeeds(caps *PortInfo, ext *MlnxExtPortInfo) Speed {
	s := a.LinkSpeedSupported.Speed() | a.extendedSpeeds(caps, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported)
	if ext != nil {
		s |= ext.LinkSpeedSupported.Speed()
	}
	return s
}

// EnabledSpeeds returns the speeds that the port may use. The arguments are
// those of ActiveSpeed.
func (a *PortInfo) EnabledSpeeds(caps *PortInfo, ext *MlnxExtPortInfo) Speed {
	espeed := a.LinkSpeedExtEnabled
	if espeed == extDisabled {
		espeed = 0
	}
	s := a.LinkSpeedEnabled.Speed() | a.extendedSpeeds(caps, espeed, a.LinkSpeedExt2Enabled)
	if ext != nil {
		s |= ext.LinkSpeedEnabled.Speed()
	}
	return s
}

// extendedSpeeds joins the two groups of extended speeds, each of which means
// something only where a capability says that it is there.
func (a *PortInfo) extendedSpeeds(caps *PortInfo, e LinkSpeedExt, e2 LinkSpeedExt2) Speed {
	if caps == nil || !caps.CapMask.Has(CapExtendedSpeeds) {
		return 0
	}
	s := e.Speed()
	if caps.CapMask.Has(CapCapMask2) && caps.CapMask2.Has(Cap2ExtendedSpeeds2) {
		s |= e2.Speed()
	}
	return s
}
