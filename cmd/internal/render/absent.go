package render

// NonZero returns nil for a zero value: what is absent is null.
func NonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// OrZero is what a part of the attributes is where the kernel does not tell it: the
// C tool has zeros there.
func OrZero[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// Text returns the Text of a value, "" for no value.
func Text[T interface {
	comparable
	String() string
}](v T) string {
	if s := UnlessZero(v); s != nil {
		return *s
	}
	return ""
}

// Ptr returns a pointer to a copy of v.
func Ptr[T any](v T) *T { return &v }

// UnlessZero returns the text of a value, nil where there is no value.
func UnlessZero[T interface {
	comparable
	String() string
}](v T) *string {
	var zero T
	if v == zero {
		return nil
	}
	return Ptr(v.String())
}

// Absent stands in a table for what is not known or does not exist.
const Absent = "-"
