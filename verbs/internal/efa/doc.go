// Package efa is the provider for the Elastic Fabric Adapter of AWS, driver efa.
//
// Queue pairs are datagram queue pairs: UD, or SRD, which is reliable, has reads and writes,
// and does not keep the order. Each work request names its destination. The send queue is a
// ring in the adapter's memory, with a phase bit in each work request; the receive queue and
// the completion queue are kernel memory. All are mapped, as is a register for each queue,
// which takes the running number of posted entries. A request ID in the work request returns
// in its completion.
//
// The layouts follow <rdma/efa-abi.h> and rdma-core's library (providers/efa: efa_io_defs.h,
// efa_io_regs_defs.h, verbs.c).
package efa
