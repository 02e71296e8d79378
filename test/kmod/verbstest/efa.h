/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The efa ABI: commands in efa.c, queues in efa_queue.c. */
#ifndef VERBSTEST_EFA_H
#define VERBSTEST_EFA_H

#include "engine.h"

#define EFA_WQE		64	/* bytes of a send request (struct efa_io_tx_wqe of libefa) */
#define EFA_RQE		16	/* of a segment of a receive (struct efa_io_rx_desc) */
#define EFA_MAX_BATCH	16	/* send requests per doorbell */

enum { EFA_SEND, EFA_RECV };	/* parts of a completion queue */

/* efa.c */
u32 efa_sq_posted(const struct ts_qp *qp);
u32 efa_rq_posted(const struct ts_qp *qp);

/* efa_queue.c */
void efa_ring_cq(struct ts_cq *cq, u32 value);
void efa_ring_sq(struct ts_qp *qp, u32 value);
void efa_ring_rq(struct ts_qp *qp, u32 value);
bool efa_next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local, enum ib_wc_status *status);
bool efa_receive_waits(struct ts_qp *qp);
enum ib_wc_status efa_take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index);
bool efa_complete(struct ts_cq *cq, const struct ts_completion *c);
void efa_check_arm(struct ts_cq *cq);

#endif
