package mad

// An MTU is the code of a maximum packet payload (PortInfo's MTUCap and
// NeighborMTU).
type MTU uint8

// The MTU codes.
const (
	MTU256  MTU = 1
	MTU512  MTU = 2
	MTU1024 MTU = 3
	MTU2048 MTU = 4
	MTU4096 MTU = 5
)

var mtuNames = names{"", "256", "512", "1024", "2048", "4096"}

// Bytes returns the payload size, 0 for an undefined code.
func (m MTU) Bytes() int {
	if m < MTU256 || m > MTU4096 {
		return 0
	}
	return 128 << m
}

// String returns the payload size in bytes, for example "2048".
func (m MTU) String() string { return mtuNames.text(uint64(m)) }

// A VLCap is the code of a number of virtual lanes (PortInfo's VLCap and
// OperationalVLs).
type VLCap uint8

var (
	vlCapNames   = names{"", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14"}
	operVLsNames = append(names{"No change"}, vlCapNames[1:]...)
)

// Lanes returns how many data lanes there are, 0 for an undefined code.
func (v VLCap) Lanes() int {
	switch {
	case v >= 1 && v <= 4:
		return 1 << (v - 1)
	case v == 5:
		return 15
	}
	return 0
}

// String returns the range of lanes, for example "VL0-7".
func (v VLCap) String() string { return vlCapNames.text(uint64(v)) }

var (
	asMTU     = mtuNames.style()
	asVLCap   = vlCapNames.style()
	asOperVLs = operVLsNames.style()
)
