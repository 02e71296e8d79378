// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Completions of bnxt_re: 32 bytes, with the type, the status and the phase in the last 8
 * bytes. The layout follows rdma-core's library (providers/bnxt_re/bnxt_re-abi.h, bnxt_re_*cqe;
 * verbs.c, bnxt_re_poll_one).
 */
#include "bnxt.h"

#define TYPE(t)		((t) << 1)
#define TYPE_SEND	TYPE(0x0)
#define TYPE_RC		TYPE(0x1)
#define TYPE_UD		TYPE(0x2)
#define TYPE_TERMINATE	TYPE(0xe)
#define TYPE_CUT_OFF	TYPE(0xf)
#define STATUS(s)	((u32)(s) << 8)
#define FLAG_SRQ	BIT(16)
#define FLAG_IMM	BIT(17)
#define FLAG_RDMA	BIT(19)
#define FLAG_IPV4	(2 << 20)	/* of a datagram */

/* enum bnxt_re_req_wc_status. */
static u32 send_status(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_BAD_RESP_ERR:
		return 1;
	case IB_WC_LOC_LEN_ERR:
		return 2;
	case IB_WC_LOC_QP_OP_ERR:
		return 3;
	case IB_WC_LOC_PROT_ERR:
		return 4;
	case IB_WC_REM_INV_REQ_ERR:
		return 6;
	case IB_WC_REM_ACCESS_ERR:
		return 7;
	case IB_WC_REM_OP_ERR:
		return 8;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return 9;
	case IB_WC_RETRY_EXC_ERR:
		return 10;
	default:
		return 5;
	}
}

/* enum bnxt_re_rsp_wc_status. */
static u32 receive_status(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_LOC_ACCESS_ERR:
		return 1;
	case IB_WC_LOC_LEN_ERR:
		return 2;
	case IB_WC_LOC_PROT_ERR:
		return 3;
	case IB_WC_LOC_QP_OP_ERR:
		return 4;
	default:
		return 5;
	}
}

static bool has_room(struct ts_cq *cq)
{
	u32 ci = cq->cut ? 0 : cq->ci;	/* the process has freed no entry of a new ring */

	if (!ts_strict)	/* no doorbell reports the entries that are free again */
		return true;
	if (cq->overrun || (cq->at + 1) % cq->size == ci) {
		if (!cq->overrun)
			ts_event_cq(cq, IB_EVENT_CQ_ERR);
		cq->overrun = true;
	}
	return !cq->overrun;
}

/* Writes an entry; the last word, with the phase, comes last. */
static void put(struct ts_cq *cq, const u64 *words, u32 info, u32 id)
{
	u64 *to = cq->buf.p + (size_t)cq->at * BX_CQE;

	to[0] = words[0];
	to[1] = words[1];
	to[2] = words[2];
	smp_store_release(&to[3], (u64)id << 32 | info | !cq->odd);
	if (++cq->at == cq->size) {
		cq->at = 0;
		cq->odd = !cq->odd;
	}
	cq->pi++;
}

static void put_receive(struct ts_cq *cq, const struct ts_completion *c)
{
	u64 words[3] = { c->len, c->qp->context };
	u32 info = STATUS(receive_status(c->status)), id = c->counter;

	if (c->op == IB_WR_SEND_WITH_IMM || c->op == IB_WR_RDMA_WRITE_WITH_IMM) {
		words[0] |= (u64)be32_to_cpu(c->imm) << 32;
		info |= FLAG_IMM;
	}
	if (c->op == IB_WR_RDMA_WRITE_WITH_IMM)
		info |= FLAG_RDMA;
	if (c->qp->ib.srq)
		info |= FLAG_SRQ;
	if (c->qp->ib.qp_type == IB_QPT_UD) {
		words[2] = (u64)c->src_qp << 48 | 0x020000000001;
		id |= c->src_qp >> 16 << 24;
		put(cq, words, info | TYPE_UD | FLAG_IPV4, id);
		return;
	}
	put(cq, words, info | TYPE_RC, id);
}

bool bx_complete(struct ts_cq *cq, const struct ts_completion *c)
{
	if (!has_room(cq))
		return false;
	if (c->recv) {
		put_receive(cq, c);
	} else {
		u64 words[3] = { c->qp->context, c->counter };

		put(cq, words, TYPE_SEND | STATUS(c->forced_syndrome ?: send_status(c->status)), 0);
	}
	if ((c->recv && c->solicited) || c->status != IB_WC_SUCCESS)
		cq->solicited = cq->pi;
	return true;
}

/* Reports the error state, once for each CQ: the library completes the other requests. */
void bx_terminate(struct ts_qp *qp)
{
	struct ts_cq *all[2] = { to_ts_cq(qp->ib.send_cq), to_ts_cq(qp->ib.recv_cq) };
	u64 words[3] = { qp->context, qp->bx.rq_at << 16 | qp->bx.done };
	unsigned int i;

	if (qp->flushed)
		return;
	qp->flushed = 1;
	for (i = 0; i < 2 && (!i || all[1] != all[0]); i++) {
		if (!has_room(all[i]))
			continue;
		put(all[i], words, TYPE_TERMINATE, 0);
		all[i]->solicited = all[i]->pi;
	}
}

/*
 * Replaces the ring. The last entry of the former one is the cut-off, which the process
 * acknowledges with a doorbell that repeats its toggle. Indices start again.
 */
void bx_cut_off(struct ts_cq *cq, struct ts_mem *ring, u32 size)
{
	const u64 words[3] = {};

	cq->cuts++;
	put(cq, words, TYPE_CUT_OFF | (cq->cuts & 3) << 5, 0);
	cq->cut = cq->size;
	cq->cut_end = cq->at;
	swap(cq->buf, *ring);
	cq->size = size;
	cq->at = 0;
	cq->odd = false;
}
