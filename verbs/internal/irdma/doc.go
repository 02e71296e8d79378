// Package irdma is the provider for Intel's Ethernet adapters X722 (generation 1), E810
// (generation 2) and later (generation 3), driver irdma.
//
// Queues are process memory that is registered with the driver, with a type of its own. A
// work request has 1 to 8 quanta of 32 bytes; its header has a valid bit that changes with
// each round of the ring. Completion entries have such a bit, too. A shadow area behind the
// ring has the consumer index and the arm word of a completion queue, and the producer index
// of a shared receive queue. A doorbell is a store of the queue number.
//
// The layouts follow <rdma/irdma-abi.h> and rdma-core's library (providers/irdma: defs.h,
// user.h, uk.c, uverbs.c). Push pages, which copy work requests to the adapter, are not used.
package irdma
