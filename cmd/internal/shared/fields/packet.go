package fields

import (
	"encoding/hex"
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// OfPacket returns the fields of a packet that is not decoded: the common header,
// the fields of subnet management, and the data in hexadecimal digits, 16 bytes per
// field.
func OfPacket(p *mad.Packet) []Field {
	h := p.Header()
	fields := []Field{
		{"BaseVersion", fmt.Sprint(h.BaseVersion)},
		{"MgmtClass", fmt.Sprintf("0x%02x %v", uint8(h.Class), h.Class)},
		{"ClassVersion", fmt.Sprint(h.ClassVersion)},
		{"Method", fmt.Sprintf("0x%02x %v", uint8(h.Method), h.Method)},
		{"Status", statusText(p.Status())},
		{"TransactionID", fmt.Sprintf("0x%016x", h.TID)},
		{"AttributeID", fmt.Sprintf("0x%04x %s", uint16(h.Attr), h.Class.AttrName(h.Attr))},
		{"AttributeModifier", fmt.Sprintf("0x%08x", h.Modifier)},
	}
	if h.Class == mad.ClassSMPDirected {
		fields = append(fields,
			Field{"InitialPath", p.InitialPath().String()},
			Field{"ReturnPath", p.ReturnPath().String()},
			Field{"DrSLID", fmt.Sprint(p.DrSLID())},
			Field{"DrDLID", fmt.Sprint(p.DrDLID())})
	}
	data := p.Data()
	const row = 16
	for i := 0; i < len(data); i += row {
		fields = append(fields, Field{fmt.Sprintf("Data%d", i), hex.EncodeToString(data[i:min(i+row, len(data))])})
	}
	return fields
}

func statusText(s mad.Status) string {
	if err := s.Err(); err != nil {
		return err.Error()
	}
	return "0x0000"
}
