// Package siw implements the queues for software iWARP, the kernel's driver siw: rings in
// memory that the kernel allocates and the process maps.
//
// The layouts follow <rdma/siw-abi.h>, their use follows the kernel's
// drivers/infiniband/sw/siw and rdma-core's providers/siw. A ring has no shared indices: an
// element is the kernel's property, or the process's, as long as its flag VALID is set.
// Both sides count elements and take the remainder, so the element count is a power of 2.
//
// iWARP has connected queue pairs only. It has no immediate data and no atomics, and a read's
// destination has a single SGE. The connection manager connects queue pairs: it
// changes their state in the kernel.
package siw
