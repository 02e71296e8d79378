package mad

// Visit shows each number of a to visit, by its name in the classic dump and
// with its width in bits, and keeps what visit returns. The elements of an array
// are named by its name and their index. It goes by the order of the classic
// dump.
func Visit(a Attribute, visit func(name string, width int, v uint64) uint64) {
	a.fields(&codec{mode: visiting, visit: visit})
}
