// Package ib declares the base types of InfiniBand: addresses (GUID, GID, LID),
// link codes (MTU, width, speed, rate, virtual lanes) and port states.
//
// Values are the wire codes (InfiniBand Architecture Specification, Volume 1),
// and any value of the underlying integer is kept, defined or not. Each type
// has a text form: String and MarshalText write it, UnmarshalText parses it
// back to the same value. Enumeration text is parsed without regard to case. An
// undefined value 9 is written as "?(9)".
//
// Package mad uses these types in management datagrams, package verbs in device
// and port attributes. Package ib imports neither.
package ib
