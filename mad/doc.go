// Package mad reads and writes InfiniBand management datagrams (MADs): the
// headers of all, of subnet management, of subnet administration and of RMPP,
// directed routes, and the attributes and records of these classes and of
// performance management that discovery and the diagnostic tools need. It is pure
// computation: package umad moves the bytes.
//
// # Attributes
//
// An attribute is a Go struct with one field per field of the specification.
// Its layout is declared once, in the struct's fields method; [Decode],
// [Encode], [Dump] and MarshalJSON all walk that declaration, so they cannot
// disagree. Reserved bits are not kept: Encode writes them as zero.
//
// Bit offsets are those of the specification (InfiniBand Architecture,
// Volume 1, chapters 14 to 16): bit 0 is the most significant bit of the first byte.
//
// # JSON
//
// Keys are the names of the classic dump in snake case. Numbers are integers;
// an enumeration is {"value": 4, "name": "Active"}, with a null name where the
// value has none; a bit mask is {"value": 3, "names": ["1X", "4X"]}; GUIDs, GID
// prefixes and keys are strings of hexadecimal digits, as 64 bits do not fit a
// JavaScript number. Keys that protect something (M_Key, SM_Key) are written
// as they are: whoever prints them decides whether to blank them first.
package mad
