package render

import (
	"cmp"
	"fmt"
)

// Text returns a value's text, or "" for the zero value.
func Text[T interface {
	comparable
	String() string
}](v T) string {
	var zero T
	if v == zero {
		return ""
	}
	return v.String()
}

// Absent is the text for unknown or missing values in tables.
const Absent = "-"

// OrAbsent returns a text, or [Absent] in place of an empty text.
func OrAbsent(s string) string { return cmp.Or(s, Absent) }

// Show formats a pointer's value. It returns [Absent] for nil and for empty text.
func Show[T any](p *T) string {
	if p == nil {
		return Absent
	}
	return OrAbsent(fmt.Sprint(*p))
}
