package verbs

import "fmt"

// LinkWidth is over how many lanes a link runs, in PortInfo's code (enum
// ib_port_width).
type LinkWidth uint8

// Lanes returns the number of lanes, 0 if it is none.
func (w LinkWidth) Lanes() int {
	switch w {
	case 1:
		return 1
	case 2:
		return 4
	case 4:
		return 8
	case 8:
		return 12
	case 16:
		return 2
	}
	return 0
}

// String returns what ibv_devinfo prints, with the X.
func (w LinkWidth) String() string {
	switch w {
	case 1:
		return "1X"
	case 2:
		return "4X"
	case 4:
		return "8X"
	case 8:
		return "12X"
	case 16:
		return "2X"
	}
	return "invalid widthX"
}

// LinkSpeed is how fast each lane of a link runs (enum ib_port_speed): 1 SDR, 2
// DDR, 4 QDR, 8 FDR10, 16 FDR, 32 EDR, 64 HDR, 128 NDR, 256 XDR.
type LinkSpeed uint32

// String returns what ibv_devinfo prints.
func (s LinkSpeed) String() string {
	switch s {
	case 1:
		return "2.5 Gbps"
	case 2:
		return "5.0 Gbps"
	case 4, 8:
		return "10.0 Gbps"
	case 16:
		return "14.0 Gbps"
	case 32:
		return "25.0 Gbps"
	case 64:
		return "50.0 Gbps"
	case 128:
		return "100.0 Gbps"
	case 256:
		return "200.0 Gbps"
	}
	return "invalid speed"
}

// linkSpeeds are the names of speeds and their lanes' rates, in 100 Mbit/s, as
// the kernel has them in sysfs (drivers/infiniband/core/sysfs.c, rate_show).
var linkSpeeds = map[LinkSpeed]struct {
	name string
	rate int
}{
	1: {"SDR", 25}, 2: {"DDR", 50}, 4: {"QDR", 100}, 8: {"FDR10", 100}, 16: {"FDR", 140},
	32: {"EDR", 250}, 64: {"HDR", 500}, 128: {"NDR", 1000}, 256: {"XDR", 2000},
}

// Rate returns the rate of a link in the form of sysfs, "100 Gb/sec (4X EDR)"; ""
// where width or speed are not known.
func (a *PortAttr) Rate() string {
	speed, ok := linkSpeeds[a.ActiveSpeed]
	lanes := a.ActiveWidth.Lanes()
	if !ok || lanes == 0 {
		return ""
	}
	return fmt.Sprintf("%v Gb/sec (%dX %s)", float64(speed.rate*lanes)/10, lanes, speed.name)
}
