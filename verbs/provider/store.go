package provider

// Store32 is a store that the compiler neither splits nor omits, nor moves across other
// memory accesses.
//
//go:noinline
func Store32(p *uint32, v uint32) { *p = v }
