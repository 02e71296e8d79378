// Package optional makes pointers for JSON document members that may be absent.
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
