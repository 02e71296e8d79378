package register

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ibkit/ibkit/mad"
)

// An ID is a register's number.
type ID uint16

// The registers.
const (
	IDPMLP  ID = 0x5002
	IDPTYS  ID = 0x5004
	IDPAOS  ID = 0x5006
	IDPPCNT ID = 0x5008
	IDPLIB  ID = 0x500a
	IDPMAOS ID = 0x5012
	IDPPLM  ID = 0x5023
	IDSLRG  ID = 0x5028
	IDPDDR  ID = 0x5031
	IDPPBMC ID = 0x5052
	IDPCAM  ID = 0x507f
	IDMFCR  ID = 0x9001
	IDMFSM  ID = 0x9003
	IDMFSL  ID = 0x9004
	IDMTCAP ID = 0x9009
	IDMTMP  ID = 0x900a
	IDMSPS  ID = 0x900d
	IDMTBR  ID = 0x900f
	IDMCIA  ID = 0x9014
	IDMGIR  ID = 0x9020
	IDMSGI  ID = 0x9021
	IDMPEIN ID = 0x9050
	IDMPCNT ID = 0x9051
	IDMCAM  ID = 0x907f
	IDMGPIR ID = 0x9100
)

var idNames = map[ID]string{
	IDPMLP: "PMLP", IDPTYS: "PTYS", IDPAOS: "PAOS", IDPPCNT: "PPCNT", IDPLIB: "PLIB", IDPMAOS: "PMAOS",
	IDPPLM: "PPLM", IDPDDR: "PDDR", IDMFCR: "MFCR", IDMFSM: "MFSM", IDMTCAP: "MTCAP", IDMTMP: "MTMP",
	IDMSPS: "MSPS", IDMGIR: "MGIR", IDMSGI: "MSGI", IDPCAM: "PCAM", IDMCAM: "MCAM",
	IDSLRG: "SLRG", IDPPBMC: "PPBMC", IDMFSL: "MFSL", IDMTBR: "MTBR", IDMCIA: "MCIA", IDMPEIN: "MPEIN", IDMPCNT: "MPCNT", IDMGPIR: "MGPIR",
}

// String returns NVIDIA's name, "Register(0x1234)" for a register that this package does
// not have.
func (i ID) String() string {
	if name := idNames[i]; name != "" {
		return name
	}
	return fmt.Sprintf("Register(0x%04x)", uint16(i))
}

// A Register is a register, or a page of a register with pages. The fields that select
// its part, such as port and page, have the same values in request and reply.
type Register interface {
	mad.Attribute

	// Part returns the register's number and the selected part.
	Part() Part
}

// A Part is a register, or a part of it.
type Part struct {
	ID    ID
	Index any // fields that select the part, comparable; nil for a register without parts
}

// String returns NVIDIA's name with the page, for example "PDDR page 3".
func (p Part) String() string {
	switch i := p.Index.(type) {
	case PageIndex:
		return fmt.Sprintf("%v page %d", p.ID, i.Page)
	case CounterIndex:
		return fmt.Sprintf("%v group 0x%02x", p.ID, i.Group)
	}
	return p.ID.String()
}

// spec returns the spec for a register with a size in bytes.
func spec(size int) mad.Spec {
	return mad.Spec{Class: mad.ClassMlnx, ID: mad.AttrMlnxRegister, Size: size}
}

// ErrUnset is wrapped by the error for a reply without any value: all bits after the
// index are 1.
var ErrUnset = errors.New("all bits of the reply are set")

// Check decodes data, from a reply, into r. It returns an error, and leaves r as it was,
// if the reply selects another part than r, or if all its bits are set.
func Check(r Register, data []byte) error {
	pooled := requests.Get().(*[]byte)
	defer requests.Put(pooled)
	want, old := r.Part(), slices.Grow((*pooled)[:0], r.Spec().Size)[:r.Spec().Size]
	*pooled = old
	if err := mad.Encode(r, old); err != nil {
		return err
	}
	if err := mad.Decode(r, data); err != nil {
		return err
	}
	var err error
	switch got := r.Part(); {
	case isUnset(data[:r.Spec().Size]):
		err = fmt.Errorf("decode %v: %w", got, ErrUnset)
	case got != want:
		err = fmt.Errorf("decode %v: got index %+v, want %+v", want, got.Index, want.Index)
	}
	if err != nil {
		return errors.Join(err, mad.Decode(r, old))
	}
	return nil
}

// requests has the memory for registers before Check.
var requests = sync.Pool{New: func() any { return new([]byte) }}

// indexSize is the maximum size in bytes of the fields that select a register's part. In a
// register of 8 bytes they have 4.
const indexSize = 8

// isUnset reports whether all bits after the index are set.
func isUnset(data []byte) bool {
	for _, b := range data[min(indexSize, len(data)/2):] {
		if b != 0xff {
			return false
		}
	}
	return true
}

// bits declares a field as the register tables do: the 32-bit word's offset in bytes, the
// field's lowest bit in the word, and its width.
func bits[T ~uint8 | ~uint16 | ~uint32](c *mad.Codec, v *T, word, low, width int, name string) {
	mad.Bits(c, v, word*8+32-low-width, width, name, mad.Decimal)
}

// count declares a 64-bit counter at an offset in bytes.
func count(c *mad.Codec, v *uint64, offset int, name string) {
	mad.Bits(c, v, offset*8, 64, name, mad.Decimal)
}

// text declares a text at an offset in bytes.
func text(c *mad.Codec, v []uint8, offset int, name string) {
	mad.Array(c, v, offset*8, 8, name, mad.Text)
}

// A LocalPort is a port number in the registers. On an adapter it is the InfiniBand port
// number; a switch translates it by [PortNumber].
type LocalPort uint16

// layout declares the number's two fields in the first word.
func (p *LocalPort) layout(c *mad.Codec) {
	low, high := uint8(*p), uint8(*p>>8)
	bits(c, &low, 0, 16, 8, "LocalPort")
	bits(c, &high, 0, 12, 2, "LpMsb")
	*p = LocalPort(high)<<8 | LocalPort(low)
}
