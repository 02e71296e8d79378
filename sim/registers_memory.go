package sim

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// A memoryMap is a module's memory: pages of 256 bytes, with the lower half in each.
type memoryMap map[uint8]*[256]uint8

// memory returns the memory of the port's module as SFF-8636 or CMIS describe it, nil
// without a module. A module has the values that its registers have.
func (p *Port) memory() memoryMap {
	m := p.module()
	switch {
	case !m.HasModule():
		return nil
	case m.Identifier.IsCMIS():
		return cmisMemory(m)
	}
	return sffMemory(m)
}

// put16 stores values from an address on.
func put16[T ~uint16](page *[256]uint8, address int, values ...T) {
	for i, v := range values {
		binary.BigEndian.PutUint16(page[address+2*i:], uint16(v))
	}
}

// tenths returns light in units of 0.1 microwatts.
func tenths(powers ...register.Power) []uint16 {
	var list []uint16
	for _, p := range powers {
		list = append(list, uint16(min(uint32(p)*10, 1<<16-1)))
	}
	return list
}

const (
	separable, notSeparable = 0x0c, 0x23 // connectors: MPO, none
)

func connector(m *register.Module) uint8 {
	if m.Type == register.CableOptical {
		return separable
	}
	return notSeparable
}

// sffMemory returns SFF-8636.
func sffMemory(m *register.Module) memoryMap {
	low, limits := new([256]uint8), new([256]uint8)
	const qsfp28, flat = 0x11, 1 << 2
	low[0], low[130], low[146] = qsfp28, connector(m), m.RawLength
	if m.Type == register.CablePassive {
		low[2], low[147] = flat, 0xa0
	}
	copy(low[148:], m.VendorName[:])
	low[165], low[166], low[167] = uint8(m.OUI>>16), uint8(m.OUI>>8), uint8(m.OUI)
	copy(low[168:], m.PartNumber[:])
	copy(low[184:], m.Revision[:2])
	copy(low[196:], m.Serial[:])
	copy(low[212:], m.Date[:])
	put16(low, 22, m.Temperature)
	put16(low, 26, m.Voltage)
	put16(low, 34, tenths(m.RxPower[:4]...)...)
	put16(low, 42, m.Bias[:4]...)
	put16(low, 50, tenths(m.TxPower[:4]...)...)
	put16(limits, 128, m.TemperatureHigh, m.TemperatureLow)
	put16(limits, 144, m.VoltageHigh, m.VoltageLow)
	put16(limits, 176, tenths(m.RxHigh, m.RxLow)...)
	put16(limits, 184, m.BiasHigh, m.BiasLow)
	put16(limits, 192, tenths(m.TxHigh, m.TxLow)...)
	return memoryMap{0: low, 3: limits}
}

// cmisMemory returns CMIS.
func cmisMemory(m *register.Module) memoryMap {
	low, limits, lanes := new([256]uint8), new([256]uint8), new([256]uint8)
	const qsfpCMIS, osfp, singleMode, passive, active = 0x1e, 0x19, 2, 3, 4
	low[0], low[1], low[3], low[85], low[203] = osfp, 0x50, uint8(m.State)<<1, singleMode, connector(m)
	if m.Identifier == register.QSFPCMIS {
		low[0] = qsfpCMIS
	}
	switch m.Type {
	case register.CablePassive:
		low[2], low[85] = 1<<7, passive
	case register.CableActive:
		low[85] = active
	}
	low[39], low[40], low[202] = uint8(m.Firmware>>24), uint8(m.Firmware>>16), m.RawLength
	copy(low[129:], m.VendorName[:])
	low[145], low[146], low[147] = uint8(m.OUI>>16), uint8(m.OUI>>8), uint8(m.OUI)
	copy(low[148:], m.PartNumber[:])
	copy(low[164:], m.Revision[:2])
	copy(low[166:], m.Serial[:])
	copy(low[182:], m.Date[:])
	put16(low, 14, m.Temperature)
	put16(low, 16, m.Voltage)
	put16(limits, 128, m.TemperatureHigh, m.TemperatureLow)
	put16(limits, 136, m.VoltageHigh, m.VoltageLow)
	put16(limits, 176, tenths(m.TxHigh, m.TxLow)...)
	put16(limits, 184, m.BiasHigh, m.BiasLow)
	put16(limits, 192, tenths(m.RxHigh, m.RxLow)...)
	put16(lanes, 154, tenths(m.TxPower[:]...)...)
	put16(lanes, 170, m.Bias[:]...)
	put16(lanes, 186, tenths(m.RxPower[:]...)...)
	return memoryMap{0: low, 2: limits, 0x11: lanes}
}

// read returns bytes of a page, nil outside of the memory.
func (m memoryMap) read(page uint8, address, size uint16) []uint8 {
	at := m[page]
	if address < 128 {
		at = m[0]
	}
	if at == nil || size > register.EEPROMSize || int(address)+int(size) > len(at) {
		return nil
	}
	return at[address:][:size]
}

// eeprom answers MCIA.
func eeprom(_ *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus) {
	var r register.EEPROM
	data := make([]byte, r.Spec().Size)
	copy(data, request)
	if mad.Decode(&r, data) != nil {
		return nil, register.StatusBadParameter
	}
	r.Status, r.Data = 0, [register.EEPROMSize]uint8{}
	p := (cage{n, int(r.Module) + 1}).port()
	if p == nil {
		r.Status = register.EEPROMNotConnected
		return &r, 0
	}
	b := p.memory().read(r.Page, r.Address, r.Size)
	if b == nil || r.I2C != register.EEPROMAddress {
		return nil, register.StatusBadParameter
	}
	copy(r.Data[:], b)
	return &r, 0
}

// getCableInfo answers CableInfo, which has its request in the data.
func getCableInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	const noPort, noCable, noAddress = 1 << 8, 3 << 8, 6 << 8
	var a register.CableInfo
	if d.node.vendor == nil || mad.Decode(&a, p.Data()) != nil {
		return mad.StatusBadMethodAttr
	}
	port := d.port(p.Modifier() & 0xff)
	switch {
	case port == nil || port.Number == 0:
		return noPort
	case port.Peer == nil:
		return noCable
	}
	b := port.memory().read(a.Page, a.Address, a.Size)
	if b == nil {
		return noAddress
	}
	a.Data = [register.EEPROMSize]uint8{}
	copy(a.Data[:], b)
	return encode(p, &a)
}
