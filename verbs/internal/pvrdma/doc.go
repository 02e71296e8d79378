// Package pvrdma is the provider of VMware's paravirtual adapter (driver vmw_pvrdma).
//
// Each queue is memory of the process: a page with the counts of producer and consumer, and
// behind it work requests or completions in the host's byte order. The process counts what
// it has posted and writes the number of the queue to a doorbell page; the hypervisor counts
// what it has taken. The adapter has RC and UD on RoCE, no inline data and no invalidation.
//
// The layouts are those of <rdma/vmw_pvrdma-abi.h>. The rules for the counts and the sizes
// are those of rdma-core's library (providers/vmw_pvrdma: pvrdma_ring.h, qp.c, cq.c).
package pvrdma
