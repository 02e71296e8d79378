package ibccconfig

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/mad"
)

// number matches what C's strtoul with base 0 parses as a whole.
var number = lazyregexp.New(`^$|^[ \t\n\v\f\r]*[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$`)

// overflow matches numbers with more than 64 bits, without numbers near the limit.
var overflow = lazyregexp.New(`^[ \t\n\v\f\r]*[+-]?(0[xX]0*[1-9a-fA-F][0-9a-fA-F]{16,}|[1-9][0-9]{20,})$`)

// parse parses a number as the C tool does.
func parse(s string) (uint64, error) {
	switch {
	case !number.MatchString(s):
		return 0, errors.New("invalid integer input")
	case overflow.MatchString(s):
		return 0, errors.New("value out of range")
	}
	return getopt.Strtoull(s), nil
}

// parseAll parses numbers, of which it returns the lower 32 bits.
func parseAll(words []string) ([]uint32, error) {
	var values []uint32
	for _, word := range words {
		v, err := parse(word)
		if err != nil {
			return nil, err
		}
		values = append(values, uint32(v))
	}
	return values, nil
}

// parseMask parses a hexadecimal number with up to 256 bits, with or without 0x.
func parseMask(s string) (m mad.PortMask, err error) {
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") {
		s = s[2:]
	}
	if len(s)%2 != 0 {
		s = "0" + s
	}
	b, err := hex.DecodeString(s)
	switch {
	case err != nil:
		return m, errors.New("invalid hex digit read")
	case len(b) > len(m):
		return m, errors.New("hex code too long")
	}
	copy(m[len(m)-len(b):], b)
	return m, nil
}

// parseEntry parses an entry in the form shift:multiplier.
func parseEntry(s string) (shift, multiplier uint32, err error) {
	first, second, found := strings.Cut(s, ":")
	if !found {
		return 0, 0, errors.New("ccts are formatted shift:multiplier")
	}
	v, err := parseAll([]string{first, second})
	if err != nil {
		return 0, 0, err
	}
	return v[0], v[1], nil
}
