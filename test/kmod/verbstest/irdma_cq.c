// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Completions of irdma. The layout follows rdma-core's library (providers/irdma/defs.h,
 * IRDMA_CQ_*; uk.c, irdma_uk_cq_poll_cmpl). The third generation has entries of 64 bytes;
 * before, the data that 32 bytes have no room for is in a second entry.
 */
#include "irdma.h"

#define VALID		BIT_ULL(63)
#define SQ		BIT_ULL(62)
#define ERROR		BIT_ULL(55)
#define SOLICITED	BIT_ULL(54)
#define INVALIDATED	BIT_ULL(53)
#define OF_SRQ		BIT_ULL(52)
#define EXTENDED	BIT_ULL(50)
#define IMM_VALID	BIT_ULL(62)	/* in the extension */
#define SMAC_VALID	BIT_ULL(61)
#define MAJOR_FLUSH	1

/* enum irdma_flush_opcode. */
static u64 flush_code(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_WR_FLUSH_ERR:
		return 1;
	case IB_WC_LOC_PROT_ERR:
		return 2;
	case IB_WC_REM_ACCESS_ERR:
		return 3;
	case IB_WC_LOC_QP_OP_ERR:
		return 4;
	case IB_WC_REM_OP_ERR:
		return 5;
	case IB_WC_LOC_LEN_ERR:
		return 6;
	case IB_WC_RETRY_EXC_ERR:
		return 8;
	case IB_WC_MW_BIND_ERR:
		return 9;
	case IB_WC_REM_INV_REQ_ERR:
		return 10;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return 11;
	default:
		return 7;	/* fatal */
	}
}

/*
 * The operation of a receive: before the third generation, the opcode of the last packet
 * (<infiniband/opcode.h>).
 */
static u64 receive_op(const struct ts_completion *c)
{
	if (c->op == IB_WR_RDMA_WRITE_WITH_IMM)
		return ir_gen >= 3 ? c->solicited ? 0x0d : 0x00 : 0x0b;
	if (c->op == IB_WR_SEND_WITH_IMM)
		return ir_gen >= 3 ? 0x03 : 0x05;
	if (c->op == IB_WR_SEND_WITH_INV)
		return ir_gen >= 3 ? 0x04 : 0x17;
	return ir_gen >= 3 ? 0x03 : 0x04;
}

static u64 *entry(struct ts_cq *cq, u32 at)
{
	return cq->buf.p + (size_t)at * cq->cqe_size;
}

/* Gives the words of an entry to the process, the one with the valid bit last. */
static void publish(u64 *to, const u64 *words, bool odd)
{
	to[0] = words[0];
	to[1] = words[1];
	to[2] = words[2];
	smp_store_release(&to[3], (words[3] & ~VALID) | (odd ? 0 : VALID));
}

static void step(struct ts_cq *cq)
{
	if (++cq->at == cq->size) {
		cq->at = 0;
		cq->odd = !cq->odd;
	}
}

/* Reports whether there is room for a number of entries; one always stays free. */
static bool has_room(struct ts_cq *cq, u32 entries)
{
	u64 head = READ_ONCE(*(u64 *)cq->shadow);

	if (!ts_expect(head < cq->size, "CQ %#x: index %#llx of %u", cq->cqn, head, cq->size))
		return false;
	return (cq->at + cq->size - (u32)head) % cq->size + entries < cq->size;
}

static void put(struct ts_cq *cq, u64 *words, u64 *more)
{
	bool wide = cq->cqe_size == 64;
	u64 *to = entry(cq, cq->at);
	bool odd = cq->odd;

	if (wide && !more)
		to[7] = 0;
	step(cq);
	if (more && wide) {
		publish(to + 4, more, odd);
	} else if (more) {
		publish(entry(cq, cq->at), more, cq->odd);
		step(cq);
	}
	if (more)
		words[3] |= EXTENDED;
	publish(to, words, odd);
}

/*
 * Before the third generation, each queue of a queue pair in error gets a single
 * completion: the library completes the other requests.
 */
static bool is_swallowed(const struct ts_completion *c)
{
	u8 bit = c->recv ? 2 : 1;

	if (c->status == IB_WC_SUCCESS || ir_gen >= 3)
		return false;
	if (c->qp->flushed & bit)
		return true;
	c->qp->flushed |= bit;
	return false;
}

/* Reports whether a completion has an extension; the first generation has it on iWARP only. */
static bool is_extended(const struct ts_completion *c)
{
	if (c->recv && c->qp->ib.srq)
		return true;
	return (ir_gen > 1 || ts_iwarp) && c->recv && c->status == IB_WC_SUCCESS &&
	       (c->qp->ib.qp_type == IB_QPT_UD || c->op == IB_WR_SEND_WITH_IMM ||
		c->op == IB_WR_RDMA_WRITE_WITH_IMM);
}

bool ir_complete(struct ts_cq *cq, const struct ts_completion *c)
{
	bool ud = c->qp->ib.qp_type == IB_QPT_UD, srq = c->recv && c->qp->ib.srq;
	u64 words[4] = {
		c->len, c->qp->context, (u64)c->qp->ib.qp_num << 32, (c->counter & 0x7fff) << 32,
	};
	u64 more[4] = {};
	bool extended = is_extended(c);

	if (is_swallowed(c))
		return true;
	if (cq->overrun || !has_room(cq, extended && cq->cqe_size == 32 ? 2 : 1)) {
		if (!cq->overrun)
			ts_event_cq(cq, IB_EVENT_CQ_ERR);
		cq->overrun = true;
		return false;
	}
	if (!c->recv)
		words[3] |= SQ | (u64)c->raw_op << 56;
	else
		words[3] |= receive_op(c) << 56;
	if (c->status != IB_WC_SUCCESS) {
		u64 minor = c->forced_syndrome ?: flush_code(c->status);

		words[3] |= ERROR | (c->forced_vendor ?: MAJOR_FLUSH) << 16 | minor;
	} else if (c->recv) {
		if (ud)
			words[2] |= c->src_qp;
		if (c->op == IB_WR_SEND_WITH_INV) {
			words[2] |= be32_to_cpu(c->imm);
			words[3] |= INVALIDATED;
		}
		if (c->solicited)
			words[3] |= SOLICITED;
		if (c->op == IB_WR_SEND_WITH_IMM || c->op == IB_WR_RDMA_WRITE_WITH_IMM) {
			more[0] = be32_to_cpu(c->imm);
			more[3] |= IMM_VALID;
		}
		if (ud) {
			more[2] = 0x020000000001;
			more[3] |= SMAC_VALID;
		}
	}
	if (srq) {
		words[1] = c->counter;
		words[3] = (words[3] & ~(0x7fffULL << 32)) | OF_SRQ;
		more[1] = c->qp->context;
	}
	put(cq, words, extended ? more : NULL);
	cq->pi++;
	if ((c->recv && c->solicited) || c->status != IB_WC_SUCCESS)
		cq->solicited = cq->pi;
	return true;
}
