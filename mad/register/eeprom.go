package register

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// EEPROMSize is the maximum size of an [EEPROM] read, and the size of [CableInfo], in bytes.
const EEPROMSize = 48

// EEPROMAddress is the I2C address of a module's memory.
const EEPROMAddress = 0x50

// An EEPROM is a part of the memory of the module in a connector.
type EEPROM struct {
	Status  EEPROMStatus
	Module  uint8
	I2C     uint8
	Page    uint8
	Bank    uint8
	Address uint16
	Size    uint16
	Data    [EEPROMSize]uint8
}

// NewEEPROM returns the request for a part of a module's memory: addresses from 128 on are
// in the page.
func NewEEPROM(module, page uint8, address, size uint16) *EEPROM {
	return &EEPROM{Module: module, I2C: EEPROMAddress, Page: page, Address: address, Size: min(size, EEPROMSize)}
}

// Part returns the register's number and index.
func (r *EEPROM) Part() Part {
	return Part{IDMCIA, [5]uint16{uint16(r.Module), uint16(r.I2C), uint16(r.Page), uint16(r.Bank), r.Address}}
}

// Spec returns the register's spec.
func (*EEPROM) Spec() mad.Spec { return spec(0x94) }

// MarshalJSON writes the fields as an object; see package mad.
func (r EEPROM) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &r) }

// Layout declares the fields.
func (r *EEPROM) Layout(c *mad.Codec) {
	bits(c, &r.Status, 0x00, 0, 8, "Status")
	bits(c, &r.Module, 0x00, 16, 8, "Module")
	bits(c, &r.Address, 0x04, 0, 16, "DeviceAddress")
	bits(c, &r.Page, 0x04, 16, 8, "PageNumber")
	bits(c, &r.I2C, 0x04, 24, 8, "I2cDeviceAddress")
	bits(c, &r.Size, 0x08, 0, 16, "Size")
	bits(c, &r.Bank, 0x08, 16, 8, "BankNumber")
	mad.Array(c, r.Data[:], 0x10*8, 8, "Dword", mad.Bytes)
}

// Bytes returns the memory that was read, or the reason why it was not.
func (r *EEPROM) Bytes() ([]byte, error) {
	switch {
	case r.Status != 0:
		return nil, r.Status
	case r.Size > EEPROMSize:
		return nil, fmt.Errorf("got %d bytes of the module's memory, want at most %d", r.Size, EEPROMSize)
	}
	return r.Data[:r.Size], nil
}

// An EEPROMStatus is the reason why a module's memory was not read.
type EEPROMStatus uint8

// EEPROMNotConnected is the status without a module.
const EEPROMNotConnected EEPROMStatus = 3

var eepromStatuses = map[EEPROMStatus]string{
	1: "no reply from the module's EEPROM", 2: "module type not supported", EEPROMNotConnected: "no module in the connector",
	4: "module type not valid", 9: "I2C error", 16: "module disabled",
}

// Error returns the reason.
func (s EEPROMStatus) Error() string { return "read EEPROM: " + nameOf(eepromStatuses, s) }

// CableInfo is a part of a port's module memory by subnet management, on devices before
// registers. The modifier is the port.
type CableInfo struct {
	I2C     uint8
	Page    uint8
	Address uint16
	Size    uint16
	Data    [EEPROMSize]uint8
}

// NewCableInfo returns the request for a part of a module's memory.
func NewCableInfo(page uint8, address, size uint16) *CableInfo {
	return &CableInfo{I2C: EEPROMAddress, Page: page, Address: address, Size: min(size, EEPROMSize)}
}

// Spec returns the AttrMlnxCableInfo spec.
func (*CableInfo) Spec() mad.Spec {
	return mad.Spec{Class: mad.ClassSMPLIDRouted, ID: mad.AttrMlnxCableInfo, Size: mad.DataSize}
}

// MarshalJSON writes the fields as an object; see package mad.
func (a CableInfo) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &a) }

// Layout declares the fields.
func (a *CableInfo) Layout(c *mad.Codec) {
	bits(c, &a.Address, 0x00, 0, 16, "Address")
	bits(c, &a.Page, 0x00, 16, 8, "Page")
	bits(c, &a.I2C, 0x00, 24, 8, "I2CAddress")
	bits(c, &a.Size, 0x04, 0, 16, "Size")
	mad.Array(c, a.Data[:], 16*8, 8, "Data", mad.Bytes)
}

// CableStatus returns the meaning of a MAD status in the reply to a [CableInfo], nil for a
// status with its usual meaning.
func CableStatus(s mad.Status) error {
	if text, ok := cableStatuses[s>>8]; ok {
		return fmt.Errorf("read CableInfo: %s", text)
	}
	return nil
}

var cableStatuses = map[mad.Status]string{
	1: "no such port", 2: "not supported", 3: "no cable", 4: "no EEPROM", 5: "no such page", 6: "no such address",
	7: "no such I2C address", 8: "the module violates QSFP", 9: "busy",
}
