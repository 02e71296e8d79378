// Package rxe implements the queues for Soft-RoCE, the kernel's driver rdma_rxe:
// rings in memory that the kernel allocates and the process maps.
//
// The layouts follow <rdma/rdma_user_rxe.h>, their use follows the kernel's
// drivers/infiniband/sw/rxe and rdma-core's providers/rxe. A mapping can be made only once
// (rxe_mmap.c). The kernel keeps its own index for each queue outside the ring and reads
// only the other index from it. This package does the same.
package rxe
