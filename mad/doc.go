// Package mad encodes and decodes InfiniBand management datagrams (MADs): the
// common header, the subnet management, subnet administration and RMPP headers,
// directed routes, and the attributes and records that discovery and the diagnostic
// tools use in these classes, performance management, congestion control and NVIDIA's
// vendor class. Package umad sends and receives datagrams.
//
// A [Packet] has the wire bytes, in network byte order. All struct fields are in host
// byte order. Unless a field's comment states otherwise, it has the specification's
// unit and code. All functions may be called by several goroutines at the same time.
//
// # Attributes
//
// An [Attribute] is a Go struct with a field per specification field. Its Layout method
// declares each field once, for [Decode], [Encode], [Dump] and [AppendJSON]. Programs
// declare vendors' attributes in the same way, with a Spec that has their class.
// Reserved bits are not kept: Encode writes them as zero.
//
// Bit offsets are the specification's (InfiniBand Architecture, Volume 1, chapters 14
// to 16): bit 0 is the most significant bit in the first byte.
//
// # JSON
//
// Keys are the classic dump names in snake case. Numbers are integers; an enumeration
// is {"value": 4, "name": "Active"}, with a null name for an undefined value; a bit
// mask is {"value": 3, "names": ["1X", "4X"]}; GUIDs, GID prefixes and keys are
// hexadecimal strings, because 64 bits do not fit a JavaScript number.
//
// # Keys
//
// All encoders show M_Keys, SM_Keys, CC_Keys and service keys as 0, unless the
// attribute comes from [WithKeys]. A [Key] has the text "hidden".
package mad
