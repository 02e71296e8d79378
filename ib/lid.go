package ib

import (
	"fmt"
	"strconv"
)

// A LID is a local identifier, the address of a port or a multicast group
// within its subnet (InfiniBand Architecture, Volume 1, 4.1.3), in host byte
// order. The zero LID is reserved: a port has it until the subnet manager
// assigns a LID.
//
// In JSON a LID is a number.
type LID uint16

// LID range bounds.
const (
	MinUnicastLID   LID = 0x0001
	MaxUnicastLID   LID = 0xbfff
	MinMulticastLID LID = 0xc000
	MaxMulticastLID LID = 0xfffe

	// PermissiveLID addresses any port that receives a packet. Directed routes
	// use it for the parts that are not LID-routed.
	PermissiveLID LID = 0xffff
)

// ParseLID parses a LID in decimal, or in hexadecimal with a leading "0x".
func ParseLID(s string) (LID, error) {
	digits, base := s, 10
	if len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") {
		digits, base = s[2:], 16
	}
	v, err := strconv.ParseUint(digits, base, 16)
	if err != nil {
		return 0, fmt.Errorf("parse LID %q: not a number from 0 to 65535", s)
	}
	return LID(v), nil
}

// IsUnicast reports whether the LID can be a port address.
func (l LID) IsUnicast() bool { return l >= MinUnicastLID && l <= MaxUnicastLID }

// IsMulticast reports whether the LID can be a multicast group address.
func (l LID) IsMulticast() bool { return l >= MinMulticastLID && l <= MaxMulticastLID }

// String returns the LID in decimal.
func (l LID) String() string { return strconv.Itoa(int(l)) }

// AppendText appends the [LID.String] text to b. The error is always nil.
func (l LID) AppendText(b []byte) ([]byte, error) { return strconv.AppendUint(b, uint64(l), 10), nil }

// MarshalText returns the [LID.String] text. The error is always nil.
func (l LID) MarshalText() ([]byte, error) { return l.AppendText(nil) }

// UnmarshalText parses the forms that [ParseLID] accepts.
func (l *LID) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLID(string(text))
	return err
}

// MarshalJSON returns the LID as a JSON number. The error is always nil.
func (l LID) MarshalJSON() ([]byte, error) { return l.AppendText(nil) }

// UnmarshalJSON parses a JSON number, or a string in a form that [ParseLID]
// accepts (encoding/json calls it for map keys). null leaves the LID as it is.
func (l *LID) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	return l.UnmarshalText(text)
}

// Format implements [fmt.Formatter]: the verbs for integers format the number.
func (l LID) Format(f fmt.State, verb rune) { format(f, verb, l.String, uint64(l)) }
