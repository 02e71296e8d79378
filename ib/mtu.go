package ib

// An MTU is the code of a maximum packet payload (PortInfo:MTUCap and
// NeighborMTU, path records; the kernel's enum ib_mtu). Codes
// are in size order.
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

// MTUOf returns the MTU code for the given payload size, 0 if no
// code has this size.
func MTUOf(bytes int) MTU {
	for m := MTU256; m <= MTU4096; m++ {
		if m.Bytes() == bytes {
			return m
		}
	}
	return 0
}

// Bytes returns the payload size, 0 for an undefined code.
func (m MTU) Bytes() int {
	if !m.Defined() {
		return 0
	}
	return 128 << m
}

// Defined reports whether the specification defines the code.
func (m MTU) Defined() bool { return mtuNames.defined(uint64(m)) }

// String returns the payload size in bytes, for example "2048".
func (m MTU) String() string { return mtuNames.text(uint64(m)) }

// MarshalText returns the [MTU.String] text. The error is always nil.
func (m MTU) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText parses the text that [MTU.String] returns.
func (m *MTU) UnmarshalText(text []byte) error {
	v, err := mtuNames.parse("MTU", text, 8)
	*m = MTU(v)
	return err
}

// A VLCap is the code of a virtual lane count (PortInfo:VLCap and
// OperationalVLs).
type VLCap uint8

// The codes by data lane count.
const (
	VLs1  VLCap = 1
	VLs2  VLCap = 2
	VLs4  VLCap = 3
	VLs8  VLCap = 4
	VLs15 VLCap = 5
)

var vlCapNames = names{"", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14"}

// Lanes returns the data lane count, 0 for an undefined code.
func (v VLCap) Lanes() int {
	switch {
	case v >= VLs1 && v <= VLs8:
		return 1 << (v - 1)
	case v == VLs15:
		return 15
	}
	return 0
}

// Defined reports whether the specification defines the code.
func (v VLCap) Defined() bool { return vlCapNames.defined(uint64(v)) }

// String returns the lane range, for example "VL0-7".
func (v VLCap) String() string { return vlCapNames.text(uint64(v)) }

// MarshalText returns the [VLCap.String] text. The error is always nil.
func (v VLCap) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText parses the text that [VLCap.String] returns.
func (v *VLCap) UnmarshalText(text []byte) error {
	n, err := vlCapNames.parse("virtual lanes", text, 8)
	*v = VLCap(n)
	return err
}
