package provider

// Store32 is a store that the compiler neither splits nor omits, nor moves across other
// memory accesses.
//
//go:noinline
func Store32(p *uint32, v uint32) { *p = v }

// Store64 is Store32 for 8 bytes.
//
//go:noinline
func Store64(p *uint64, v uint64) { *p = v }
