package sim

import "github.com/ibkit/ibkit/mad"

// devices are the IDs of a generation of switches and adapters, in decimal as
// ibnetdiscover's and the PCI ID database's users know them.
type devices struct{ fabric, adapter uint16 }

// generations has what NVIDIA, formerly Mellanox, made for each speed.
var generations = map[mad.Speed]devices{
	mad.SDR:   {47396, 23108}, // InfiniScale III, InfiniHost
	mad.DDR:   {47396, 25218}, // InfiniScale III, InfiniHost III Ex
	mad.QDR:   {48438, 26428}, // InfiniScale IV, ConnectX-2
	mad.FDR10: {51000, 4099},  // SwitchX, ConnectX-3
	mad.FDR:   {51000, 4113},  // SwitchX, Connect-IB
	mad.EDR:   {52000, 4115},  // Switch-IB, ConnectX-4
	mad.HDR:   {54000, 4123},  // Quantum, ConnectX-6
	mad.NDR:   {54002, 4129},  // Quantum-2, ConnectX-7
	mad.XDR:   {54004, 4131},  // Quantum-3, ConnectX-8
}

// devicesOf returns the devices that run at a speed at best; 0: HDR.
func devicesOf(s mad.Speed) devices { return generations[or(s, mad.HDR)] }
