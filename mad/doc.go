// Package mad encodes and decodes InfiniBand management datagrams (MADs): the
// common header, the headers of subnet management, subnet administration and
// RMPP, directed routes, and the attributes and records of these classes, of
// performance management, of congestion control and of NVIDIA's vendor class that
// discovery and the diagnostic tools use. Package umad sends and receives datagrams.
//
// A [Packet] has the bytes of the wire, in network byte order. The fields of all
// structs are in host byte order. Unless a field's comment states otherwise, it
// has the unit and the code of the specification. All functions may be called by
// several goroutines at the same time.
//
// # Attributes
//
// An [Attribute] is a Go struct with one field per field of the specification. Its
// Layout method declares each field once, for [Decode], [Encode], [Dump] and
// [AppendJSON]. Programs declare vendors' attributes in the same way, with a Spec that
// has their class. Reserved bits are not kept: Encode writes them as zero.
//
// Bit offsets are those of the specification (InfiniBand Architecture,
// Volume 1, chapters 14 to 16): bit 0 is the most significant bit of the first byte.
//
// # JSON
//
// Keys are the names of the classic dump in snake case. Numbers are integers;
// an enumeration is {"value": 4, "name": "Active"}, with a null name for an
// undefined value; a bit mask is {"value": 3, "names": ["1X", "4X"]}; GUIDs, GID
// prefixes and keys are strings of hexadecimal digits, because 64 bits do not fit
// a JavaScript number.
//
// # Keys
//
// All encoders show M_Keys, SM_Keys, CC_Keys and service keys as 0, unless the
// attribute is that of [WithKeys]. The text of a [Key] is "hidden".
package mad
