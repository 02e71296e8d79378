package sim

import "github.com/ibkit/ibkit/ib"

// devices are the device IDs of a switch and adapter generation, in decimal as in the PCI
// ID database.
type devices struct{ fabric, adapter uint16 }

// generations are the NVIDIA (formerly Mellanox) devices for each speed.
var generations = map[ib.Speed]devices{
	ib.SDR:   {47396, 23108}, // InfiniScale III, InfiniHost
	ib.DDR:   {47396, 25218}, // InfiniScale III, InfiniHost III Ex
	ib.QDR:   {48438, 26428}, // InfiniScale IV, ConnectX-2
	ib.FDR10: {51000, 4099},  // SwitchX, ConnectX-3
	ib.FDR:   {51000, 4113},  // SwitchX, Connect-IB
	ib.EDR:   {52000, 4115},  // Switch-IB, ConnectX-4
	ib.HDR:   {54000, 4123},  // Quantum, ConnectX-6
	ib.NDR:   {54002, 4129},  // Quantum-2, ConnectX-7
	ib.XDR:   {54004, 4131},  // Quantum-3, ConnectX-8
}

// devicesOf returns the devices with the highest speed s (0: HDR).
func devicesOf(s ib.Speed) devices { return generations[or(s, ib.HDR)] }

// hasExtendedPortInfo reports whether the devices in a generation have NVIDIA's
// ExtendedPortInfo: speeds from FDR10 to HDR, as rdma-core expects (libibnetdisc/ibnetdisc.c).
func (n *Node) hasExtendedPortInfo() bool {
	for _, speed := range []ib.Speed{ib.FDR10, ib.FDR, ib.EDR, ib.HDR} {
		if d := generations[speed]; n.Info.DeviceID == d.fabric || n.Info.DeviceID == d.adapter {
			return true
		}
	}
	return false
}
