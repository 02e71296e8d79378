/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The bnxt_re ABI: parts that its commands and its queues share. */
#ifndef VERBSTEST_BNXT_H
#define VERBSTEST_BNXT_H

#include "engine.h"

#define BX_SLOT		16	/* unit of work queues, in bytes */
#define BX_HEADER	2	/* slots in front of segments */
#define BX_STATIC	8	/* slots of a request, unless sizes are variable */
#define BX_RESERVED	128	/* send requests that are never posted */
#define BX_CQE		32	/* size of a completion, in bytes */

extern int bx_gen;

/* bnxt_queue.c */
void bx_bell(u64 offset, u64 value, unsigned int size);
bool bx_next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local,
		  enum ib_wc_status *status);
bool bx_receive_waits(struct ts_qp *qp);
bool bx_srq_waits(struct ts_srq *srq);
enum ib_wc_status bx_take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index);
enum ib_wc_status bx_take_srq(struct ts_srq *srq, struct ts_list *to, u64 *index);
unsigned int bx_srq_left(struct ts_srq *srq);

/* bnxt_cq.c */
bool bx_complete(struct ts_cq *cq, const struct ts_completion *c);
void bx_terminate(struct ts_qp *qp);
void bx_cut_off(struct ts_cq *cq, struct ts_mem *ring, u32 size);

/* bnxt_toggle.c */
int bx_map_toggle(struct vm_area_struct *vma);
extern const struct uapi_definition bx_definitions[];

#endif
