package mad

import (
	"bytes"
	"encoding/hex"
	"strconv"
)

// A NodeDescription is a node's description: up to 64 bytes, padded with NUL
// (InfiniBand Architecture, Volume 1, 14.2.5.2). It comes from the network and may
// contain any bytes; print [NodeDescription.Clean].
type NodeDescription [DataSize]byte

// NewNodeDescription returns the description with the first 64 bytes of s.
func NewNodeDescription(s string) NodeDescription {
	var d NodeDescription
	copy(d[:], s)
	return d
}

// String returns the bytes up to the first NUL, unchanged.
func (a NodeDescription) String() string {
	s, _, _ := bytes.Cut(a[:], []byte{0})
	return string(s)
}

// Hex returns String's bytes in hexadecimal digits if Clean loses some
// bytes, otherwise "".
func (a NodeDescription) Hex() string {
	text := a.String()
	if text == a.Clean() {
		return ""
	}
	return hex.EncodeToString([]byte(text))
}

// Clean returns the description with a blank in place of each byte that is not
// printable ASCII, like infiniband-diags' clean_nodedesc in the C locale. It is safe to
// print on a terminal.
func (a NodeDescription) Clean() string {
	var b [DataSize]byte
	return string(a.AppendClean(b[:0]))
}

// AppendClean appends the [NodeDescription.Clean] text to b.
func (a *NodeDescription) AppendClean(b []byte) []byte {
	for _, c := range a {
		switch {
		case c == 0:
			return b
		case c < ' ' || c > '~':
			c = ' '
		}
		b = append(b, c)
	}
	return b
}

// Spec returns the AttrNodeDescription spec.
func (*NodeDescription) Spec() Spec { return smpSpec(AttrNodeDescription) }

// MarshalJSON writes the clean description as a string.
func (a NodeDescription) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *NodeDescription) marshal(c *Codec) { c.text = strconv.AppendQuote(c.text, a.Clean()) }

// Layout declares the fields.
func (a *NodeDescription) Layout(c *Codec) { Array(c, a[:], 0, 8, "NodeDesc", Bytes) }

// dump writes smpquery's line. Its dot count depends on the description's length.
func (a *NodeDescription) dump(c *Codec) {
	const name = "NodeDesc"
	switch {
	case c.mode == dumping:
		c.text = append(c.text, "Node Description:"...)
		c.dots(max(nameColumn-len(a.Clean()), 1))
	case !c.begin(name):
		return
	}
	c.text = a.AppendClean(c.text)
	c.end(name)
}
