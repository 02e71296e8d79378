// Package mmio has the accesses to memory that a process shares with an adapter: stores to
// registers in mapped pages, which the compiler neither splits nor omits, and the order between
// them, work requests and completions, with barriers for each processor.
package mmio
