package mad

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A ComponentMask selects the record fields that a request to subnet administration
// specifies (InfiniBand Architecture, Volume 1, 15.2.5). Bit i stands for the record's
// i-th component. Components are the fields in wire order and the reserved ranges
// between them.
type ComponentMask uint64

// Has reports whether all of bits are set.
func (m ComponentMask) Has(bits ComponentMask) bool { return m&bits == bits }

// component is a record component.
type component struct {
	field         unsafe.Pointer // nil: reserved
	name          string         // in the classic dump
	offset, width int            // in bits
}

// Components returns the component mask for fields in a record, given by pointers into
// that record:
//
//	r := mad.LinkRecord{FromLID: 5}
//	mask := mad.Components(&r, &r.FromLID)
//
// It panics if a pointer does not refer to a field in the record.
func Components(record Attribute, fields ...any) ComponentMask {
	parts := components(record)
	var mask ComponentMask
	for _, f := range fields {
		at := reflect.ValueOf(f).UnsafePointer()
		found := false
		for i, p := range parts {
			if p.field == at {
				mask |= 1 << i
				found = true
			}
		}
		if !found {
			panic(fmt.Sprintf("mad: %T is no component of %s", f, AttributeName(record)))
		}
	}
	return mask
}

// A Component is a record field that a request can specify.
type Component struct {
	Name  string // in the classic dump
	Width int    // in bits; more than 64 for GIDs, texts and tables
	Mask  ComponentMask
}

// RecordComponents returns the record fields that have a bit in the component
// mask, in wire order.
func RecordComponents(record Attribute) []Component {
	var list []Component
	for i, p := range components(record) {
		switch n := len(list); {
		case p.field == nil || i >= 64:
		case n > 0 && list[n-1].Name == p.name: // a service ID has two components
			list[n-1].Width += p.width
			list[n-1].Mask |= 1 << i
		default:
			list = append(list, Component{p.name, p.width, 1 << i})
		}
	}
	return list
}

// Bits returns a bit mask for the selected fields in the record's wire format, with the
// record's size.
func (m ComponentMask) Bits(record Attribute) []byte {
	b := make([]byte, record.Spec().Size)
	for i, p := range components(record) {
		if m&(1<<i) == 0 {
			continue
		}
		for bit := p.offset; bit < p.offset+p.width; bit++ {
			b[bit/8] |= 0x80 >> (bit % 8)
		}
	}
	return b
}

func components(record Attribute) []component {
	c := Codec{mode: locating}
	record.Layout(&c)
	return c.parts
}

// locate adds a field as a component, after the reserved range before it. A field
// that is declared after the fields that follow it on the wire, because the
// specification added it to a reserved range later, is not a component.
func (c *Codec) locate(field unsafe.Pointer, name string, offset, width int) {
	offset += c.base
	end := 0
	if n := len(c.parts); n > 0 {
		end = c.parts[n-1].offset + c.parts[n-1].width
	}
	if offset < end {
		return
	}
	if offset > end {
		c.parts = append(c.parts, component{offset: end, width: offset - end})
	}
	c.parts = append(c.parts, component{field, name, offset, width})
}

// reserved declares reserved bits. This is only necessary if the specification
// counts two adjacent ranges.
func reserved(c *Codec, offset, width int) {
	if c.mode == locating {
		c.locate(nil, "", offset, width)
	}
}

// serviceID declares a service ID. Its first byte is a separate
// component in path records.
func serviceID(c *Codec, v *uint64, offset int, name string) {
	if c.mode != locating {
		Bits(c, v, offset, 64, name, HexString)
		return
	}
	c.locate(unsafe.Pointer(v), name, offset, 8)
	c.locate(unsafe.Pointer(v), name, offset+8, 56)
}
