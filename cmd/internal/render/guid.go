package render

import "github.com/ibkit/ibkit/ib"

// AppendGUID writes a GUID as 0x and 16 digits.
func AppendGUID(b []byte, guid ib.GUID) []byte {
	const digits = "0123456789abcdef"
	b = append(b, "0x"...)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[guid>>shift&0xf])
	}
	return b
}

func GUIDText(g ib.GUID) string { return string(AppendGUID(nil, g)) }

// GUID is a GUID that JSON readers take as a string: 64 bits do not fit their
// numbers.
type GUID ib.GUID

func (g GUID) MarshalText() ([]byte, error) { return AppendGUID(nil, ib.GUID(g)), nil }
