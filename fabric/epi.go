package fabric

import "github.com/ibkit/ibkit/mad"

// deviceRange is a device ID range, both ends included. Vendor 0 matches any vendor:
// the chip maker assigned these IDs, and many vendors' boards have them.
type deviceRange struct {
	vendor      uint32
	first, last uint16
}

const vendorBull = 0x119f

// extendedPortInfoDevices are the devices with attribute 0xff90,
// ExtendedPortInfo (rdma-core, libibnetdisc/ibnetdisc.c).
var extendedPortInfoDevices = []deviceRange{
	{0, 0xc738, 0xc73b}, // SwitchX, SwitchX-2
	{0, 0xc839, 0xc839},
	{0, 0xcb20, 0xcb20}, // Switch-IB
	{0, 0xcf08, 0xcf09}, // Switch-IB 2
	{0, 0xd2f0, 0xd2f0}, // Quantum
	{0, 0x1003, 0x101b}, // ConnectX-3 to ConnectX-6
	{0, 0xa2d2, 0xa2d2}, // BlueField
	{vendorBull, 0x1b02, 0x1b02},
	{vendorBull, 0x1b33, 0x1b33},
	{vendorBull, 0x1b40, 0x1b41},
	{vendorBull, 0x1b50, 0x1b50},
	{vendorBull, 0x1b60, 0x1b61},
	{vendorBull, 0x1b73, 0x1b73},
	{vendorBull, 0x1b83, 0x1b83},
	{vendorBull, 0x1b93, 0x1b94},
	{vendorBull, 0x1ba0, 0x1ba0},
	{vendorBull, 0x1bb4, 0x1bb5},
	{vendorBull, 0x1bc4, 0x1bc6},
	{vendorBull, 0x1bd0, 0x1bd5},
	{vendorBull, 0x1bf0, 0x1bf0},
}

// HasExtendedPortInfo reports whether a device has NVIDIA's ExtendedPortInfo.
func HasExtendedPortInfo(i *mad.NodeInfo) bool {
	for _, r := range extendedPortInfoDevices {
		if (r.vendor == 0 || r.vendor == i.VendorID) && r.first <= i.DeviceID && i.DeviceID <= r.last {
			return true
		}
	}
	return false
}
