// Package register encodes and decodes the registers of NVIDIA devices that describe a
// link's physical layer: bit error rates, forward error correction, cable, module,
// temperature, fans and power supplies.
//
// A register is a [mad.Attribute]: [mad.Decode], [mad.Encode] and [mad.AppendJSON] apply.
// Three packets carry registers by LID: a [Block] in a Get, which changes no device
// state, and [Access] and [SubnetAccess] in a Set. Offsets, widths and field names
// follow the register tables in mstflint (register_access_table.adb). A JSON key is
// the field's name there; a counter in two halves is one number without "_high".
//
// Firmware defines which registers a device has. A register that a device rejects is
// unknown, not zero.
package register
