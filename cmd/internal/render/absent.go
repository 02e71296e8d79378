package render

import (
	"cmp"
	"fmt"

	"github.com/ibkit/ibkit/internal/optional"
)

// NonZero returns a pointer to a value, or nil for the zero value, which JSON shows as
// null.
func NonZero[T comparable](v T) *T { return optional.NonZero(v) }

// OrZero returns a pointer's value, or the zero value for nil, as C tools print
// attributes that the kernel does not report.
func OrZero[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

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

// Ptr returns a pointer to a copy of v.
func Ptr[T any](v T) *T { return &v }

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
