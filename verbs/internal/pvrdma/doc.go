// Package pvrdma is the provider for VMware's paravirtual adapter (driver vmw_pvrdma).
//
// Each queue is process memory: a page with the producer and consumer counts, and
// behind it work requests or completions in the host's byte order. The process counts what
// it has posted and writes the queue number to a doorbell page; the hypervisor counts
// what it has taken. The adapter has RC and UD on RoCE, no inline data and no invalidation.
//
// The layouts follow <rdma/vmw_pvrdma-abi.h>. The rules for the counts and the sizes follow
// rdma-core's library (providers/vmw_pvrdma: pvrdma_ring.h, qp.c, cq.c).
package pvrdma
