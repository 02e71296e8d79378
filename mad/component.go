package mad

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A ComponentMask says which fields of a record count in a request to subnet
// administration (InfiniBand Architecture, Volume 1, 15.2.5). Bit i stands for
// the record's i-th component. Components are the fields in the order in which
// they are on the wire and, between them, what is reserved.
type ComponentMask uint64

// Has reports whether all of bits are set.
func (m ComponentMask) Has(bits ComponentMask) bool { return m&bits == bits }

// component is one component of a record.
type component struct {
	field         unsafe.Pointer // nil: reserved
	offset, width int            // in bits
}

// Components returns the mask of some of a record's fields, which are named by
// pointers into that record:
//
//	r := mad.LinkRecord{FromLID: 5}
//	mask := mad.Components(&r, &r.FromLID)
//
// It panics if one is none of its fields.
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

// Bits returns the bits that the mask selects of a record of some kind: as many
// bytes as the record has on the wire.
func (m ComponentMask) Bits(record Attribute) []byte {
	b := make([]byte, AttributeSize(record))
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
	c := codec{mode: locating}
	record.fields(&c)
	return c.parts
}

// locate takes a field in, in the mode that locates them. What lies between it
// and the one before is reserved, which counts as a component. Fields that were
// made of reserved bits later on, and are declared behind those that follow on
// the wire, are none.
func (c *codec) locate(field unsafe.Pointer, offset, width int) {
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
	c.parts = append(c.parts, component{field, offset, width})
}

// reserved declares reserved bits, which is only needed where the specification
// counts two runs of them that are next to each other.
func reserved(c *codec, offset, width int) {
	if c.mode == locating {
		c.locate(nil, offset, width)
	}
}

// serviceID declares a service ID, the first byte of which is a component of its
// own in records of paths.
func serviceID(c *codec, v *uint64, offset int, name string) {
	if c.mode != locating {
		bits(c, v, offset, 64, name, key)
		return
	}
	c.locate(unsafe.Pointer(v), offset, 8)
	c.locate(unsafe.Pointer(v), offset+8, 56)
}
