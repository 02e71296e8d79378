package register

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// BlockSize is the register part in a [Block], in bytes.
const BlockSize = 220

// A Block carries a part of a register in a Get in [mad.ClassMlnx]. The modifier is the
// register's [ID]. A request has the register's index fields in each block. The reply's
// MAD status states why firmware rejects a register.
type Block struct {
	Number uint16
	Data   [BlockSize]uint8
}

// Spec returns the AttrMlnxRegister spec.
func (*Block) Spec() mad.Spec { return spec(mad.MlnxDataSize) }

// MarshalJSON writes the fields as an object; see package mad.
func (b Block) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &b) }

// Layout declares the fields.
func (b *Block) Layout(c *mad.Codec) {
	mad.Bits(c, &b.Number, 64, 16, "Block", mad.Decimal)
	mad.Array(c, b.Data[:], 96, 8, "Data", mad.Bytes)
}

// An Operation is the purpose of an [Access]. Its packet is a Set in both cases.
type Operation uint8

// The operations.
const (
	Query Operation = 1
	Write Operation = 2
)

// A Head describes the register in an [Access].
type Head struct {
	ID        ID
	Operation Operation
	IsReply   uint8
	Status    AccessStatus
	Length    uint16 // register size and its 4-byte head, in 32-bit words
	Class     uint8  // as the packet's: 0x0a for an Access, 1 for a SubnetAccess
}

// NewHead returns the head of a query for a register with a size in bytes.
func NewHead(id ID, size int, class mad.Class) Head {
	return Head{ID: id, Operation: Query, Length: uint16(size/4 + 1), Class: uint8(class)}
}

// Size returns the register's size in bytes.
func (h *Head) Size() int { return max(int(h.Length)-1, 0) * 4 }

const (
	operationType, operationWords = 1, 4
	registerType                  = 3

	headSize = 20
)

// layout declares the head at an offset in bits.
func (h *Head) layout(c *mad.Codec, at int) {
	kind, words, data := uint8(operationType), uint16(operationWords), uint8(registerType)
	mad.Bits(c, &kind, at, 5, "OperationType", mad.Decimal)
	mad.Bits(c, &words, at+5, 11, "OperationLength", mad.Decimal)
	mad.Bits(c, &h.Status, at+17, 7, "Status", mad.Decimal)
	mad.Bits(c, &h.ID, at+32, 16, "RegisterId", mad.Hex)
	mad.Bits(c, &h.IsReply, at+48, 1, "Reply", mad.Decimal)
	mad.Bits(c, &h.Operation, at+49, 7, "Operation", mad.Decimal)
	mad.Bits(c, &h.Class, at+56, 8, "Class", mad.Decimal)
	mad.Bits(c, &data, at+128, 5, "RegisterType", mad.Decimal)
	mad.Bits(c, &h.Length, at+133, 11, "RegisterLength", mad.Decimal)
}

// AccessSize is the maximum register size in an [Access], in bytes.
const AccessSize = mad.MlnxDataSize - 8 - headSize

// An Access carries a register in a Set in [mad.ClassMlnx], also to query the register.
type Access struct {
	Head
	Data [AccessSize]uint8
}

// Spec returns the AttrMlnxRegisterAccess spec in [mad.ClassMlnx].
func (*Access) Spec() mad.Spec {
	return mad.Spec{Class: mad.ClassMlnx, ID: mad.AttrMlnxRegisterAccess, Size: mad.MlnxDataSize}
}

// MarshalJSON writes the fields as an object; see package mad.
func (a Access) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &a) }

// Layout declares the fields.
func (a *Access) Layout(c *mad.Codec) {
	a.layout(c, 64)
	mad.Array(c, a.Data[:], 64+headSize*8, 8, "Data", mad.Bytes)
}

// SubnetAccessSize is the maximum register size in a [SubnetAccess], in bytes.
const SubnetAccessSize = mad.DataSize - headSize

// A SubnetAccess is an [Access] in a subnet management packet, which can have a directed
// route.
type SubnetAccess struct {
	Head
	Data [SubnetAccessSize]uint8
}

// Spec returns the AttrMlnxRegisterAccess spec in subnet management.
func (*SubnetAccess) Spec() mad.Spec {
	return mad.Spec{Class: mad.ClassSMPLIDRouted, ID: mad.AttrMlnxRegisterAccess, Size: mad.DataSize}
}

// MarshalJSON writes the fields as an object; see package mad.
func (a SubnetAccess) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, &a) }

// Layout declares the fields.
func (a *SubnetAccess) Layout(c *mad.Codec) {
	a.layout(c, 0)
	mad.Array(c, a.Data[:], headSize*8, 8, "Data", mad.Bytes)
}

// An AccessStatus is the result of an [Access].
type AccessStatus uint8

// The results, besides 0.
const (
	StatusBusy          AccessStatus = 1
	StatusBadVersion    AccessStatus = 2
	StatusUnknownTLV    AccessStatus = 3
	StatusNoRegister    AccessStatus = 4
	StatusBadClass      AccessStatus = 5
	StatusBadOperation  AccessStatus = 6
	StatusBadParameter  AccessStatus = 7
	StatusNoResource    AccessStatus = 8
	StatusBadLength     AccessStatus = 0x24
	StatusInternalError AccessStatus = 0x70
)

var statusNames = map[AccessStatus]string{
	StatusBusy: "busy", StatusBadVersion: "version not supported", StatusUnknownTLV: "unknown TLV",
	StatusNoRegister: "register not supported", StatusBadClass: "class not supported",
	StatusBadOperation: "method not supported", StatusBadParameter: "bad parameter",
	StatusNoResource: "resource not available", StatusBadLength: "wrong length", StatusInternalError: "internal error",
}

// Error returns the meaning.
func (s AccessStatus) Error() string {
	name, ok := statusNames[s]
	if !ok {
		name = "reserved"
	}
	return fmt.Sprintf("register status 0x%02x: %s", uint8(s), name)
}

// BlockStatus returns the meaning of a MAD status in the reply to a [Block], which has
// the code's meaning from the register and not from the specification.
func BlockStatus(s mad.Status) AccessStatus {
	const code = 7 << 2
	switch {
	case s&mad.StatusBusy != 0:
		return StatusBusy
	case s&code == mad.StatusBadVersion:
		return StatusBadClass
	case s&code == mad.StatusBadMethodAttr:
		return StatusBadOperation
	case s&code == 5<<2:
		return StatusNoRegister
	case s&code == mad.StatusBadValue:
		return StatusBadParameter
	}
	return StatusInternalError
}
