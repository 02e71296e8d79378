// Package enum parses the texts of enumerations.
package enum

import "fmt"

// Parse sets v to the value from first to last with a text. The error contains kind, the
// enumeration's name.
func Parse[T interface {
	~int | ~uint8 | ~uint32
	String() string
}](v *T, first, last T, kind string, text []byte) error {
	for known := first; known <= last; known++ {
		if known.String() == string(text) {
			*v = known
			return nil
		}
	}
	return fmt.Errorf("parse %s %q: unknown", kind, text)
}
