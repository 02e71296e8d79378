package register

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Memory has the parts of a module's memory that have been read: SFF-8636 or CMIS.
type Memory struct {
	lower [128]uint8
	pages map[uint8]*[128]uint8
}

// ErrEmpty is wrapped by the error for a memory with the same value everywhere.
var ErrEmpty = errors.New("the module's memory has no values")

// Store keeps a part of the memory. It returns an error if the part is outside of it.
func (m *Memory) Store(page uint8, address uint16, data []byte) error {
	end := int(address) + len(data)
	switch {
	case end > 256, address < 128 && end > 128:
		return fmt.Errorf("store %d bytes at address %d of page %d: outside of the memory", len(data), address, page)
	case address < 128:
		copy(m.lower[address:], data)
	default:
		if m.pages == nil {
			m.pages = map[uint8]*[128]uint8{}
		}
		if m.pages[page] == nil {
			m.pages[page] = new([128]uint8)
		}
		copy(m.pages[page][address-128:], data)
	}
	return nil
}

// A MemoryPart is a part of the memory to read.
type MemoryPart struct {
	Page          uint8
	Address, Size uint16
}

// FirstParts are the parts that each module has.
var FirstParts = []MemoryPart{{0, 0, 48}, {0, 48, 48}, {0, 128, 48}, {0, 176, 48}}

// Identifiers of SFF-8024 in byte 0.
const (
	sffQSFP, sffQSFPPlus, sffQSFP28 = 0x0c, 0x0d, 0x11
	sffQSFPDD, sffOSFP, sffQSFPCMIS = 0x18, 0x19, 0x1e
)

var sffIdentifiers = map[uint8]Identifier{
	sffQSFP: QSFPPlus, sffQSFPPlus: QSFPPlus, sffQSFP28: QSFP28, sffQSFPDD: QSFPDD, sffOSFP: OSFP, sffQSFPCMIS: QSFPCMIS,
}

// MoreParts returns the parts with limits and light, according to the parts that have been
// read: copper cables have one page.
func (m *Memory) MoreParts() []MemoryPart {
	switch id, known := sffIdentifiers[m.lower[0]]; {
	case !known:
		return nil
	case id.IsCMIS() && m.lower[2]>>7 == 0:
		return []MemoryPart{{2, 128, 48}, {2, 176, 24}, {0x11, 154, 48}}
	case !id.IsCMIS() && m.lower[2]>>2&1 == 0:
		return []MemoryPart{{3, 128, 24}, {3, 176, 24}}
	}
	return nil
}

// Fill sets the fields of a module that the memory has. Power is in microwatts.
func (m *Memory) Fill(r *Module) error {
	id, known := sffIdentifiers[m.lower[0]]
	switch {
	case m.isUniform():
		return fmt.Errorf("decode EEPROM: %w", ErrEmpty)
	case !known:
		return fmt.Errorf("decode EEPROM: unknown identifier 0x%02x", m.lower[0])
	}
	r.Identifier = id
	for _, part := range m.MoreParts() {
		r.noLight = r.noLight || m.pages[part.Page] == nil
	}
	if id.IsCMIS() {
		m.fillCMIS(r)
	} else {
		m.fillSFF(r)
	}
	return nil
}

// isUniform reports whether identity and vendor have no values.
func (m *Memory) isUniform() bool {
	p := m.page(0)
	if m.lower[0] != 0 && m.lower[0] != 0xff {
		return false
	}
	for _, b := range p[:96] {
		if b != p[0] {
			return false
		}
	}
	return true
}

// page returns a page, zeros for one that was not read. Index 0 is address 128.
func (m *Memory) page(number uint8) *[128]uint8 {
	if p := m.pages[number]; p != nil {
		return p
	}
	return new([128]uint8)
}

func word16(b []uint8, at int) uint16 { return binary.BigEndian.Uint16(b[at:]) }

// power returns light: the memory has units of 0.1 microwatts.
func power(b []uint8, at int) Power { return Power((uint32(word16(b, at)) + 5) / 10) }

// fillSFF decodes SFF-8636.
func (m *Memory) fillSFF(r *Module) {
	const connectorByte, noConnector = 130 - 128, 0x23
	p := m.page(0)
	r.RawLength, r.Technology = p[146-128], p[147-128]
	switch kind := r.Technology >> 4; {
	case kind == 0xa || kind == 0xb:
		r.Type = CablePassive
	case kind > 0xb || p[connectorByte] == noConnector:
		r.Type = CableActive
	default:
		r.Type = CableOptical
	}
	copy(r.VendorName[:], p[148-128:])
	copy(r.PartNumber[:], p[168-128:])
	copy(r.Revision[:], p[184-128:186-128])
	copy(r.Serial[:], p[196-128:])
	copy(r.Date[:], p[212-128:])
	r.OUI = uint32(p[165-128])<<16 | uint32(word16(p[:], 166-128))
	r.Temperature, r.Voltage = Celsius256(word16(m.lower[:], 22)), word16(m.lower[:], 26)
	limits := m.page(3)
	r.TemperatureHigh, r.TemperatureLow = Celsius256(word16(limits[:], 0)), Celsius256(word16(limits[:], 2))
	r.VoltageHigh, r.VoltageLow = word16(limits[:], 16), word16(limits[:], 18)
	r.RxHigh, r.RxLow = power(limits[:], 48), power(limits[:], 50)
	r.BiasHigh, r.BiasLow = word16(limits[:], 56), word16(limits[:], 58)
	r.TxHigh, r.TxLow = power(limits[:], 64), power(limits[:], 66)
	for lane := range 4 {
		r.RxPower[lane], r.Bias[lane] = power(m.lower[:], 34+2*lane), word16(m.lower[:], 42+2*lane)
		r.TxPower[lane] = power(m.lower[:], 50+2*lane)
	}
}

// fillCMIS decodes CMIS.
func (m *Memory) fillCMIS(r *Module) {
	p := m.page(0)
	r.State, r.RawLength = ModuleState(m.lower[3]>>1&7), p[202-128]
	const passive, active, noConnector = 3, 4, 0x23
	switch media := m.lower[85]; {
	case media == passive:
		r.Type = CablePassive
	case media == active, p[203-128] == noConnector:
		r.Type = CableActive
	default:
		r.Type = CableOptical
	}
	r.Firmware = uint32(m.lower[39])<<24 | uint32(m.lower[40])<<16
	copy(r.VendorName[:], p[129-128:])
	copy(r.PartNumber[:], p[148-128:])
	copy(r.Revision[:], p[164-128:166-128])
	copy(r.Serial[:], p[166-128:])
	copy(r.Date[:], p[182-128:])
	r.OUI = uint32(p[145-128])<<16 | uint32(word16(p[:], 146-128))
	r.Temperature, r.Voltage = Celsius256(word16(m.lower[:], 14)), word16(m.lower[:], 16)
	limits, lanes := m.page(2), m.page(0x11)
	r.TemperatureHigh, r.TemperatureLow = Celsius256(word16(limits[:], 0)), Celsius256(word16(limits[:], 2))
	r.VoltageHigh, r.VoltageLow = word16(limits[:], 8), word16(limits[:], 10)
	r.TxHigh, r.TxLow = power(limits[:], 48), power(limits[:], 50)
	r.BiasHigh, r.BiasLow = word16(limits[:], 56), word16(limits[:], 58)
	r.RxHigh, r.RxLow = power(limits[:], 64), power(limits[:], 66)
	for lane := range 8 {
		r.TxPower[lane], r.Bias[lane] = power(lanes[:], 26+2*lane), word16(lanes[:], 42+2*lane)
		r.RxPower[lane] = power(lanes[:], 58+2*lane)
	}
}
