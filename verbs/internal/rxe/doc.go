// Package rxe implements the queues of Soft-RoCE, the kernel's driver rdma_rxe:
// rings in memory that the kernel allocates and the process maps.
//
// The layouts are those of <rdma/rdma_user_rxe.h>, their use is that of the kernel's
// drivers/infiniband/sw/rxe and of rdma-core's providers/rxe. A mapping can be made
// only once (rxe_mmap.c). The kernel keeps its own index of each queue outside of
// the ring and reads only the other index from it. This package does the same.
package rxe
