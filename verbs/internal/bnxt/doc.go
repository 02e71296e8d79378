// Package bnxt is the provider for Broadcom's Ethernet adapters, driver bnxt_re: NetXtreme-E,
// Thor (generation p5) and Thor2 (p7).
//
// Queues are process memory that is named when the queue is created. Work queues have slots of
// 16 bytes. A work request has a header of two slots and a slot for each SGE or 16 bytes of
// inline data; it uses 8 slots of the ring (static), or only its own (variable). Behind the send
// ring of a connected queue pair is a table with the packet numbers of each work request, or of
// each message (Thor2). Completions have a phase bit. All doorbells of a device are stores of
// 8 bytes to a single register: queue, type, index, and the round's lowest bit (epoch).
//
// The layouts follow <rdma/bnxt_re-abi.h>, rdma-core's library (providers/bnxt_re: bnxt_re-abi.h,
// memory.h, verbs.c, db.c) and the kernel's driver (roce_hsi.h, qplib_fp.c). Push buffers, which
// copy work requests to the adapter, are not used.
package bnxt
