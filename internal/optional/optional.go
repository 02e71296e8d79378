// Package optional makes and reads pointers for JSON document members that may be absent.
package optional

// NonZero returns a pointer to a value, or nil for the zero value, which JSON shows as
// null.
func NonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// OrZero returns the value of a pointer, or the zero value for nil.
func OrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
