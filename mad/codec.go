package mad

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// An Attribute is a subnet management attribute: one of this package's structs,
// by pointer.
type Attribute interface {
	// ID returns the attribute's number in a MAD header.
	ID() AttrID

	// fields shows each field to c, in the order of the classic dump.
	fields(c *codec)
}

// Decode reads a from b, which must hold at least the [DataSize] bytes of an
// attribute; more are not looked at. Reserved bits are skipped. Any bit pattern
// decodes: a value that the specification does not define is kept as it is.
func Decode(a Attribute, b []byte) error {
	if len(b) < DataSize {
		return sizeError("decode", a, len(b))
	}
	c := codecs.Get().(*codec)
	c.mode, c.data = decoding, (*[DataSize]byte)(b)
	a.fields(c)
	c.release()
	return nil
}

// Encode writes a to the first [DataSize] bytes of b, reserved bits as zero. A
// value that is too large for its field is an error, after which b holds
// nothing of use.
func Encode(a Attribute, b []byte) error {
	if len(b) < DataSize {
		return sizeError("encode", a, len(b))
	}
	c := codecs.Get().(*codec)
	c.mode, c.data = encoding, (*[DataSize]byte)(b)
	clear(c.data[:])
	a.fields(c)
	err := c.err
	c.release()
	if err != nil {
		return fmt.Errorf("encode %v: %w", a.ID(), err)
	}
	return nil
}

func sizeError(verb string, a Attribute, got int) error {
	return fmt.Errorf("%s %v: %d bytes wanted, got %d", verb, a.ID(), DataSize, got)
}

type mode uint8

const (
	decoding mode = iota // bytes to struct
	encoding             // struct to bytes
	dumping              // struct to the classic text
	marshal              // struct to JSON
)

// A codec walks the fields of one attribute and does with each what mode says.
type codec struct {
	mode mode
	data *[DataSize]byte // decoding, encoding
	text []byte          // dumping, marshal
	err  error           // of the first value that did not fit its field
}

// Codecs are pooled because a call by way of the Attribute interface would have
// each one allocated.
var codecs = sync.Pool{New: func() any { return new(codec) }}

func (c *codec) release() {
	*c = codec{}
	codecs.Put(c)
}

// A word is what a field of an attribute can be held in.
type word interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

// bits declares a field of up to 64 bits. A field narrower than 64 bits lies
// within one 32-bit word of the attribute, as all those of the specification
// do; a 64-bit one starts with a byte.
func bits[T word](c *codec, v *T, offset, width int, name string, s *style) {
	switch c.mode {
	case decoding:
		*v = T(c.load(offset, width))
	case encoding:
		c.store(offset, width, uint64(*v), name)
	default:
		c.show(name, uint64(*v), width, s)
	}
}

// array declares a sequence of equal elements that fills the attribute from its
// start.
func array[T word](c *codec, v []T, width int, name string, s *arrayStyle) {
	switch c.mode {
	case decoding:
		for i := range v {
			v[i] = T(c.load(i*width, width))
		}
	case encoding:
		for i := range v {
			c.store(i*width, width, uint64(v[i]), name)
		}
	default:
		elements := make([]uint64, len(v))
		for i := range v {
			elements[i] = uint64(v[i])
		}
		c.showArray(name, elements, width, s)
	}
}

func (c *codec) load(offset, width int) uint64 {
	if width == 64 {
		return binary.BigEndian.Uint64(c.data[offset/8:])
	}
	w := binary.BigEndian.Uint32(c.data[offset/32*4:])
	return uint64(w << (offset % 32) >> (32 - width))
}

func (c *codec) store(offset, width int, v uint64, name string) {
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
	binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)|uint32(v)<<(32-width-offset%32))
}
