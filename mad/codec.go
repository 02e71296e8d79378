package mad

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"unsafe"
)

// An Attribute is a management class attribute, or a subnet administration record: a
// pointer to a struct in this package, or in a program that declares its own attribute.
type Attribute interface {
	// Spec returns how packets carry the attribute, which does not depend on its fields.
	Spec() Spec

	// Layout declares each field by [Bits] or [Array], in classic dump order.
	Layout(c *Codec)
}

// A Spec is an attribute's class, number and size.
type Spec struct {
	Class Class // [ClassSMPLIDRouted] for subnet management
	ID    AttrID
	Size  int    // in bytes; [DataSize] for subnet management
	OUI   uint32 // 24 bits, for a class with an OUI; see [Class.HasOUI]
}

func smpSpec(id AttrID) Spec { return Spec{ClassSMPLIDRouted, id, DataSize, 0} }

// Decode decodes a from the first bytes of b, as many as its [Spec] has. It ignores reserved
// bits and keeps undefined values. The only error is that b is too short.
func Decode(a Attribute, b []byte) error {
	spec := a.Spec()
	if len(b) < spec.Size {
		return sizeError("decode", a, len(b))
	}
	c := codecs.Get().(*Codec)
	c.mode, c.data = decoding, b[:spec.Size]
	a.Layout(c)
	c.release()
	return nil
}

// Encode encodes a to the first bytes of b, as many as its [Spec] has, with reserved
// bits 0. It returns an error if b is too short or a value does not fit its field; b's
// content is then undefined.
func Encode(a Attribute, b []byte) error { return encode(a, b, "encode", true) }

// Update is [Encode] without a change in b's reserved bits, which a newer specification
// version, or a vendor, may use.
func Update(a Attribute, b []byte) error { return encode(a, b, "update", false) }

func encode(a Attribute, b []byte, verb string, empty bool) error {
	spec := a.Spec()
	if len(b) < spec.Size {
		return sizeError(verb, a, len(b))
	}
	c := codecs.Get().(*Codec)
	c.mode, c.data = encoding, b[:spec.Size]
	if empty {
		clear(c.data)
	}
	a.Layout(c)
	err := c.err
	c.release()
	if err != nil {
		return fmt.Errorf("%s %s: %w", verb, AttributeName(a), err)
	}
	return nil
}

// AttributeName returns the specification's name for a.
func AttributeName(a Attribute) string {
	spec := a.Spec()
	return spec.Class.AttrName(spec.ID)
}

func sizeError(verb string, a Attribute, got int) error {
	return fmt.Errorf("%s %s: %d bytes wanted, got %d", verb, AttributeName(a), a.Spec().Size, got)
}

type mode uint8

const (
	decoding  mode = iota // bytes to struct
	encoding              // struct to bytes
	dumping               // struct to the classic text
	listing               // struct to field names and texts
	marshal               // struct to JSON
	unmarshal             // JSON to struct
	visiting              // struct to a function and back
	locating              // field offsets
	styling               // field styles
)

// A Codec decodes, encodes or prints the fields that an [Attribute] declares.
type Codec struct {
	mode mode
	data []byte // decoding, encoding
	text []byte // dumping, listing, marshal
	err  error  // error for the first value that did not fit its field

	reveal bool // show keys: the attribute comes from [WithKeys]

	list     func(name string, text []byte) // listing
	only     []string                       // listing: wanted field names; nil: all
	elements []uint64                       // dumping, listing, marshal: array elements
	keys     map[string]string              // marshal: keys by field name so far

	members map[string]json.RawMessage                    // unmarshal
	visit   func(name string, width int, v uint64) uint64 // visiting

	style func(name string, width int, s *Style) // styling

	base  int         // locating: attribute offset in a record, in bits
	parts []component // locating
}

// Codecs are pooled because calls through the Attribute interface make them escape
// to the heap.
var codecs = sync.Pool{New: func() any { return new(Codec) }}

func (c *Codec) release() {
	*c = Codec{text: c.text[:0], elements: c.elements, keys: c.keys} // without allocations for the next call
	codecs.Put(c)
}

// start returns a codec, and the attribute without its wrapper.
func start(m mode, a Attribute) (*Codec, Attribute) {
	c := codecs.Get().(*Codec)
	c.mode = m
	if w, ok := a.(withKeys); ok {
		c.reveal, a = true, w.Attribute
	}
	return c, a
}

// Bits declares a field with up to 64 bits, at a bit offset and with a classic dump
// name, such as "NumPorts", which is num_ports in JSON. A field narrower than 64 bits
// must lie within a 32-bit word in the attribute, like all fields in the specification;
// a 64-bit field must start at a byte.
func Bits[T ~uint8 | ~uint16 | ~uint32 | ~uint64](c *Codec, v *T, offset, width int, name string, s *Style) {
	switch c.mode {
	case decoding:
		*v = T(c.load(offset, width))
	case encoding:
		c.store(offset, width, uint64(*v), name)
	case unmarshal:
		*v = T(c.member(name, width, s))
	case visiting:
		*v = T(c.visited(name, uint64(*v), width, s.secret))
	case locating:
		c.locate(unsafe.Pointer(v), name, offset, width)
	case styling:
		c.style(name, width, s)
	default:
		c.show(name, uint64(*v), width, s)
	}
}

// Array declares a sequence of equal elements. They follow the [Bits] rules.
func Array[T ~uint8 | ~uint16 | ~uint32 | ~uint64](c *Codec, v []T, offset, width int, name string, s *ArrayStyle) {
	switch c.mode {
	case decoding:
		if b, ok := any(v).([]uint8); ok && width == 8 {
			copy(b, c.data[offset/8:][:len(v)])
			return
		}
		for i := range v {
			v[i] = T(c.load(offset+i*width, width))
		}
	case encoding:
		if b, ok := any(v).([]uint8); ok && width == 8 {
			copy(c.data[offset/8:][:len(v)], b)
			return
		}
		for i, e := range v {
			c.store(offset+i*width, width, uint64(e), name)
		}
	case visiting:
		for i := range v {
			v[i] = T(c.visited(name+strconv.Itoa(i), uint64(v[i]), width, s.secret))
		}
	case locating:
		if !s.components {
			c.locate(unsafe.Pointer(&v[0]), name, offset, width*len(v))
			return
		}
		for i := range v {
			c.locate(unsafe.Pointer(&v[i]), name+strconv.Itoa(i), offset+i*width, width)
		}
	case styling:
	default:
		c.elements = c.elements[:0]
		for _, e := range v {
			c.elements = append(c.elements, uint64(e))
		}
		if s.secret && !c.reveal {
			clear(c.elements)
		}
		c.showArray(name, c.elements, width, s)
	}
}

// nested declares an attribute within a subnet administration record. It must start at
// a 32-bit word. It may be longer than the rest of the record if the excess is
// reserved. name is the JSON member name.
func nested(c *Codec, a Attribute, offset int, name string) {
	switch c.mode {
	case decoding, encoding:
		whole := c.data
		c.data = whole[offset/8:]
		a.Layout(c)
		c.data = whole
	case visiting, styling:
		a.Layout(c)
	case locating:
		c.base += offset
		a.Layout(c)
		c.base -= offset
	case dumping, listing:
		c.dump(a)
	case marshal:
		c.key(name)
		c.marshal(a)
	}
}

func (c *Codec) load(offset, width int) uint64 {
	if width == 64 {
		return binary.BigEndian.Uint64(c.data[offset/8:])
	}
	w := binary.BigEndian.Uint32(c.data[offset/32*4:])
	return uint64(w << (offset % 32) >> (32 - width))
}

func (c *Codec) store(offset, width int, v uint64, name string) {
	if width == 64 {
		binary.BigEndian.PutUint64(c.data[offset/8:], v)
		return
	}
	if v>>width != 0 {
		if c.err == nil {
			c.err = fmt.Errorf("%s: value %d does not fit in %d bits", name, v, width)
		}
		return
	}
	b := c.data[offset/32*4:]
	shift := 32 - width - offset%32
	mask := uint32(1<<width-1) << shift
	binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)&^mask|uint32(v)<<shift)
}
