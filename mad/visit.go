package mad

// Visit calls visit for each number of a, in the order of the classic dump, and
// stores the result. The arguments are the name in the classic dump, the width in
// bits and the value. The name of an array element includes its index.
func Visit(a Attribute, visit func(name string, width int, v uint64) uint64) {
	a.fields(&codec{mode: visiting, visit: visit})
}
