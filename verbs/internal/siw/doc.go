// Package siw implements the queues of software iWARP, the kernel's driver siw: rings in
// memory that the kernel allocates and the process maps.
//
// The layouts are those of <rdma/siw-abi.h>, their use is that of the kernel's
// drivers/infiniband/sw/siw and of rdma-core's providers/siw. A ring has no shared
// indices: an element is the property of the kernel, or of the process, as long as its
// flag VALID is set. Both sides count elements and take the remainder, so the element
// count is a power of two.
//
// iWARP has connected queue pairs only. It has no immediate data and no atomics, and a read's
// destination has one SGE. The connection manager connects queue pairs: it
// changes their state in the kernel.
package siw
