/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The irdma ABI: parts that its commands and its queues share. */
#ifndef VERBSTEST_IRDMA_H
#define VERBSTEST_IRDMA_H

#include "engine.h"

#define IR_PAGE		4096	/* of the adapter */
#define IR_QUANTUM	32	/* unit of work queues, in bytes */
#define IR_SHADOW	64	/* size of a shadow area, in bytes */
#define IR_SQ_RESERVED	258	/* quanta that are never posted */
#define IR_RQ_RESERVED	1

/* Features (defs.h of the driver, IRDMA_FEATURE_*). */
#define IR_RTS_AE	BIT_ULL(0)
#define IR_CQ_RESIZE	BIT_ULL(1)	/* the shadow area of a CQ is registered by itself */
#define IR_CQE_64	BIT_ULL(5)
#define IR_ATOMICS	BIT_ULL(6)
#define IR_SRQ		BIT_ULL(7)

extern int ir_gen;
bool ir_has(u64 feature);

/* The quanta of the driver's own requests for a connection of iWARP. */
static inline unsigned int ir_connection_quanta(void)
{
	return !ts_iwarp ? 0 : ir_has(IR_RTS_AE) ? 3 : 1;
}

/* irdma_queue.c */
void ir_bell(u64 offset, u64 value, unsigned int size);
bool ir_start_stream(struct ts_qp *qp, bool server);
bool ir_next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local,
		  enum ib_wc_status *status);
bool ir_receive_waits(struct ts_qp *qp);
bool ir_srq_waits(struct ts_srq *srq);
enum ib_wc_status ir_take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index);
enum ib_wc_status ir_take_srq(struct ts_srq *srq, struct ts_list *to, u64 *index);
unsigned int ir_srq_left(struct ts_srq *srq);

/* irdma_cq.c */
bool ir_complete(struct ts_cq *cq, const struct ts_completion *c);

#endif
