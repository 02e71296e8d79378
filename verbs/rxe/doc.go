// Package rxe knows the queues of Soft-RoCE, the kernel's driver rdma_rxe: rings
// in memory that the kernel makes and both sides map.
//
// Layouts are those of <rdma/rdma_user_rxe.h>; what the sides do with them is as
// the kernel's drivers/infiniband/sw/rxe and rdma-core's providers/rxe have it.
// Each mapping can be made once (rxe_mmap.c). The kernel keeps an index of its own
// for each queue and takes nothing but the other one from the ring; so does this
// package.
package rxe
