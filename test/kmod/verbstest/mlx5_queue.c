// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The queues of mlx5: send and receive requests, completions, doorbell records. */
#include <linux/slab.h>
#include "engine.h"

#define MAX_SQ_DESC	1024
#define BB		64
#define UD_AV		48
#define INVALID_LKEY	0x100
#define INLINE_SEG	BIT(31)
#define EXTENDED_AV	BIT(31)

/* Opcodes of requests. */
enum {
	OP_NOP = 0x00, OP_SEND_INV = 0x01, OP_WRITE = 0x08, OP_WRITE_IMM = 0x09, OP_SEND = 0x0a,
	OP_SEND_IMM = 0x0b, OP_READ = 0x10, OP_ATOMIC_CS = 0x11, OP_ATOMIC_FA = 0x12,
	OP_UMR = 0x25,
};

/* Opcodes of completions. */
enum {
	CQE_REQ = 0, CQE_RESP_WRITE_IMM = 1, CQE_RESP_SEND = 2, CQE_RESP_SEND_IMM = 3,
	CQE_RESP_SEND_INV = 4, CQE_RESIZE = 5, CQE_REQ_ERR = 13, CQE_RESP_ERR = 14,
};

struct wqe_ctrl { __be32 op; __be32 qpn_ds; u8 sig; u8 stream[2]; u8 flags; __be32 imm; };
struct wqe_xrc { __be32 srqn; u8 zero[12]; };
struct wqe_raddr { __be64 addr; __be32 rkey; __be32 zero; };
struct wqe_atomic { __be64 swap_add; __be64 compare; };
struct wqe_data { __be32 len; __be32 lkey; __be64 addr; };
struct wqe_umr { u8 flags; u8 zero[3]; __be16 octowords; __be16 offset; __be64 mask; u8 zero2[32]; };
struct wqe_mkey {
	u8 free; u8 zero; u8 access; u8 zero2; __be32 qpn_key; u8 zero3[8]; __be64 addr; __be64 len;
	u8 zero4[32];
};
struct wqe_av {
	__be32 qkey; __be32 zero; __be32 dqpn; u8 rate_sl; u8 path; __be16 lid; u8 zero2[4];
	u8 mac[6]; u8 tclass; u8 hop; __be32 grh_flow; u8 gid[16];
};
struct cqe {
	u8 zero[17]; u8 path; u8 zero2[4]; __be16 slid; __be32 flags_qpn; u8 zero3[4];
	__be32 uidx; __be32 imm; u8 zero4[4]; __be32 len; __be64 time; __be32 op_qpn;
	__be16 counter; u8 sig; u8 op_own;
};
struct cqe_err {
	u8 zero[32]; __be32 uidx; u8 zero2[18]; u8 vendor; u8 syndrome; __be32 op_qpn;
	__be16 counter; u8 sig; u8 op_own;
};
#define CTRL_CQE	0x08
#define CTRL_SOLICITED	0x02
#define CTRL_FENCES	0xe0

static const struct { enum ib_wr_opcode op; bool known; } operations[0x26] = {
	[OP_NOP] = { TS_NOP, true },
	[OP_SEND_INV] = { IB_WR_SEND_WITH_INV, true },
	[OP_WRITE] = { IB_WR_RDMA_WRITE, true },
	[OP_WRITE_IMM] = { IB_WR_RDMA_WRITE_WITH_IMM, true },
	[OP_SEND] = { IB_WR_SEND, true },
	[OP_SEND_IMM] = { IB_WR_SEND_WITH_IMM, true },
	[OP_READ] = { IB_WR_RDMA_READ, true },
	[OP_ATOMIC_CS] = { IB_WR_ATOMIC_CMP_AND_SWP, true },
	[OP_ATOMIC_FA] = { IB_WR_ATOMIC_FETCH_AND_ADD, true },
	[OP_UMR] = { IB_WR_BIND_MW, true },	/* or to invalidate */
};

/*
 * Syndromes of completions with an error (mlx5dv.h), and vendor syndromes. No document lists
 * those, except for 0x93. docs/providers.md names the sources; the ones marked with "own" are
 * values of this module only.
 */
static const struct { u8 syndrome, vendor; } errors[] = {
	[IB_WC_LOC_LEN_ERR] = { 0x01, 0x6a },		/* own */
	[IB_WC_LOC_QP_OP_ERR] = { 0x02, 0x68 },
	[IB_WC_LOC_PROT_ERR] = { 0x04, 0x51 },
	[IB_WC_WR_FLUSH_ERR] = { 0x05, 0xf9 },
	[IB_WC_MW_BIND_ERR] = { 0x06, 0x70 },		/* own */
	[IB_WC_BAD_RESP_ERR] = { 0x10, 0x8c },		/* own */
	[IB_WC_LOC_ACCESS_ERR] = { 0x11, 0x35 },		/* own */
	[IB_WC_REM_INV_REQ_ERR] = { 0x12, 0x8a },
	[IB_WC_REM_ACCESS_ERR] = { 0x13, 0x88 },
	[IB_WC_REM_OP_ERR] = { 0x14, 0x89 },
	[IB_WC_RETRY_EXC_ERR] = { 0x15, 0x81 },
	[IB_WC_RNR_RETRY_EXC_ERR] = { 0x16, 0x87 },	/* own */
	[IB_WC_REM_ABORT_ERR] = { 0x22, 0x93 },
};

static bool all_zero(const void *p, size_t n)
{
	return !memchr_inv(p, 0, n);
}

/*
 * Completion queues.
 */

/* The number of entries that user space has not consumed. */
u32 mlx5_filled(struct ts_cq *cq)
{
	u32 ci = be32_to_cpu(READ_ONCE(cq->db[0]));
	u32 n = (cq->pi - ci) & 0xffffff;

	if (ts_strict)
		ts_expect(!(ci >> 24) && n <= cq->size,
			  "CQ %#x: consumer index %#x, the producer's is %#x of %u", cq->cqn, ci,
			  cq->pi & 0xffffff, cq->size);
	return n;
}

static bool put_cqe(struct ts_cq *cq, struct cqe *cqe, bool solicited)
{
	struct cqe *to;
	u8 own;

	if (cq->overrun || mlx5_filled(cq) >= cq->size) {
		if (!cq->overrun)
			ts_event_cq(cq, IB_EVENT_CQ_ERR);
		cq->overrun = true;
		return false;
	}
	to = cq->buf.p + (size_t)(cq->pi & (cq->size - 1)) * cq->cqe_size +
	     (cq->cqe_size - sizeof(*cqe));
	own = cqe->op_own | !!(cq->pi & cq->size);
	memcpy(to, cqe, sizeof(*cqe) - 1);
	smp_store_release(&to->op_own, own);
	cq->pi++;
	if (solicited)
		cq->solicited = cq->pi;
	return true;
}

/* Writes the mark that is last in a buffer before the queue goes on in another one. */
void mlx5_put_mark(struct ts_cq *cq)
{
	struct cqe mark = { .op_own = CQE_RESIZE << 4 };

	put_cqe(cq, &mark, false);
}

static bool complete_error(struct ts_cq *cq, const struct ts_completion *c)
{
	struct cqe_err err = {};

	BUILD_BUG_ON(sizeof(struct cqe) != 64);
	BUILD_BUG_ON(sizeof(struct cqe_err) != 64);
	err.uidx = cpu_to_be32(c->uidx);
	if (c->forced_syndrome) {
		err.syndrome = c->forced_syndrome;
		err.vendor = c->forced_vendor;
	} else {
		err.syndrome = errors[c->status].syndrome;
		err.vendor = errors[c->status].vendor;
	}
	err.op_qpn = cpu_to_be32(c->raw_op << 24 | c->qp->ib.qp_num);
	err.counter = cpu_to_be16(c->counter);
	err.op_own = (c->recv ? CQE_RESP_ERR : CQE_REQ_ERR) << 4;
	return put_cqe(cq, (struct cqe *)&err, true);
}

static bool put_completion(struct ts_cq *cq, const struct ts_completion *c)
{
	struct cqe cqe = {};
	u8 opcode = CQE_REQ;

	if (c->status != IB_WC_SUCCESS)
		return complete_error(cq, c);
	if (c->recv) {
		opcode = c->op == IB_WR_RDMA_WRITE_WITH_IMM ? CQE_RESP_WRITE_IMM :
			 c->op == IB_WR_SEND_WITH_IMM ? CQE_RESP_SEND_IMM :
			 c->op == IB_WR_SEND_WITH_INV ? CQE_RESP_SEND_INV : CQE_RESP_SEND;
		if (opcode != CQE_RESP_SEND)
			cqe.imm = c->imm;
		cqe.flags_qpn = cpu_to_be32((c->grh ? BIT(28) : 0) | c->src_qp);
		cqe.slid = cpu_to_be16(c->slid);
		if (c->solicited)
			cqe.op_own = CTRL_SOLICITED;
	}
	cqe.uidx = cpu_to_be32(c->uidx);
	cqe.len = cpu_to_be32(c->len);
	cqe.time = cpu_to_be64(ktime_get_ns());
	cqe.op_qpn = cpu_to_be32(c->raw_op << 24 | c->qp->ib.qp_num);
	cqe.counter = cpu_to_be16(c->counter);
	cqe.op_own |= opcode << 4;
	return put_cqe(cq, &cqe, c->recv && c->solicited);
}

/* Reports whether moderation still delays an event for entries after the arm. */
static bool moderated(struct ts_cq *cq, u32 entries)
{
	if (!cq->moderate_count || entries >= cq->moderate_count)
		return false;
	if (!cq->since || cq->since_ci != cq->arm_ci) {
		cq->since = ktime_get();
		cq->since_ci = cq->arm_ci;
	}
	return ktime_us_delta(ktime_get(), cq->since) < cq->moderate_us;
}

static void check_arm(struct ts_cq *cq)
{
	u32 word = be32_to_cpu(READ_ONCE(cq->db[1]));
	u32 newest;

	if (word != cq->seen) {
		cq->seen = word;
		cq->arms++;
		cq->armed = true;
		cq->armed_solicited = word & BIT(24);
		cq->arm_ci = word & 0xffffff;
		cq->since = 0;
		if (ts_strict)
			ts_expect(!(word & 0xce000000), "CQ %#x: arm word %#x", cq->cqn, word);
	}
	if (!cq->armed)
		return;
	newest = cq->armed_solicited ? cq->solicited : cq->pi;
	newest = (newest - cq->arm_ci) & 0xffffff;
	if (newest && newest < 0x800000 && !moderated(cq, newest)) {
		cq->armed = false;
		cq->events++;
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	}
}

/*
 * Receive requests.
 */

static u16 posted(struct ts_qp *qp, int which)
{
	return be32_to_cpu(smp_load_acquire(&qp->db[which]));
}

static bool receive_waits(struct ts_qp *qp)
{
	u16 n;

	if (!qp->rq_size)
		return false;
	n = posted(qp, 0) - qp->rq_ci;
	if (ts_strict)
		ts_expect(n <= qp->rq_size, "QP %#x: %u receives posted, the queue has %u",
			  qp->ib.qp_num, n, qp->rq_size);
	return n;
}

static unsigned int srq_left(struct ts_srq *srq)
{
	u16 n = (u16)be32_to_cpu(smp_load_acquire(srq->db)) - srq->taken;

	if (ts_strict)
		ts_expect(n < srq->size, "SRQ %#x: %u receives posted, the queue has %u",
			  srq->srqn, n, srq->size - 1);
	return n;
}

static bool srq_waits(struct ts_srq *srq)
{
	return srq_left(srq);
}

static enum ib_wc_status scatter(struct wqe_data *seg, unsigned int n, struct ib_pd *pd,
				 struct ts_list *to, u32 number)
{
	enum ib_wc_status status = IB_WC_SUCCESS;
	unsigned int i;

	ts_clear(to);
	for (i = 0; i < n; i++) {
		u32 len = be32_to_cpu(seg[i].len), key = be32_to_cpu(seg[i].lkey);
		void *p;

		if (key == INVALID_LKEY)	/* end of list */
			break;
		if (ts_strict)
			ts_expect(len && !(len & BIT(31)), "receive of %#x: segment of %#x bytes",
				  number, len);
		p = ts_region(key, be64_to_cpu(seg[i].addr), len, pd, IB_ACCESS_LOCAL_WRITE);
		if (!p)
			status = IB_WC_LOC_PROT_ERR;
		else
			ts_add_seg(to, p, len);
	}
	return status;
}

static enum ib_wc_status take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index)
{
	struct wqe_data *seg;

	*index = qp->rq_ci;
	seg = qp->rq + ((size_t)(qp->rq_ci & (qp->rq_size - 1)) << qp->rq_shift);
	qp->rq_ci++;
	return scatter(seg, (1U << qp->rq_shift) / 16, qp->ib.pd, to, qp->ib.qp_num);
}

static enum ib_wc_status take_srq(struct ts_srq *srq, struct ts_list *to, u64 *index)
{
	u8 *wqe = srq->buf.p + ((size_t)srq->head << srq->shift);
	u16 next = be16_to_cpup((__be16 *)(wqe + 2));

	if (ts_strict)
		ts_expect(next < srq->size && all_zero(wqe, 2) && all_zero(wqe + 4, 12),
			  "SRQ %#x: entry %u: %16ph", srq->srqn, srq->head, wqe);
	*index = srq->head;
	srq->head = next & (srq->size - 1);
	srq->taken++;
	return scatter((struct wqe_data *)(wqe + 16), (1U << srq->shift) / 16 - 1, srq->ib.pd, to,
		       srq->srqn);
}

/*
 * Send requests.
 */

static bool carries_imm(u8 op)
{
	return op == OP_WRITE_IMM || op == OP_SEND_IMM || op == OP_SEND_INV || op == OP_UMR;
}

/* Reads the segment of the control of a request. False: it is invalid. */
static bool read_ctrl(struct ts_qp *qp, const struct wqe_ctrl *ctrl, struct ts_send *s)
{
	u32 op = be32_to_cpu(ctrl->op), qpn_ds = be32_to_cpu(ctrl->qpn_ds);
	bool ok = true;

	s->raw_op = op;
	s->signaled = (ctrl->flags & 0x0c) == CTRL_CQE;
	s->solicited = ctrl->flags & CTRL_SOLICITED;
	s->imm = ctrl->imm;
	ok &= ts_expect(qpn_ds >> 8 == qp->ib.qp_num, "QP %#x: request of QP %#x", qp->ib.qp_num,
			qpn_ds >> 8);
	ok &= ts_expect((op >> 8 & 0xffff) == qp->sq_ci,
			"QP %#x: request %#x where %#x is next: the doorbell is ahead of it",
			qp->ib.qp_num, op >> 8 & 0xffff, qp->sq_ci);
	ok &= ts_expect((qpn_ds & 0xff) >= 1 && (qpn_ds & 0xff) <= 0x3f, "QP %#x: %u segments",
			qp->ib.qp_num, qpn_ds & 0xff);
	if (!ts_strict)
		return ok;
	/* libmlx5 leaves in an unused immediate what was there (ibv_wr_send). */
	ts_expect(!(op >> 24) && !ctrl->sig && all_zero(ctrl->stream, 2) &&
		  !(ctrl->flags & ~(CTRL_CQE | CTRL_SOLICITED | CTRL_FENCES)) &&
		  (ts_strict < 2 || carries_imm(op) || !ctrl->imm),
		  "QP %#x: control %16ph", qp->ib.qp_num, ctrl);
	return ok;
}

static void read_vector(struct ts_qp *qp, struct wqe_av *av, struct ts_send *s)
{
	u32 word = be32_to_cpu(av->grh_flow);
	bool roce = to_ts_dev(qp->ib.device)->ndev;

	s->dqpn = be32_to_cpu(av->dqpn) & 0xffffff;
	s->qkey = be32_to_cpu(av->qkey);
	s->grh = roce || word & BIT(30);
	s->sgid_index = word >> 20;
	s->flow = word & 0xfffff;
	s->tclass = av->tclass;
	s->hop = av->hop;
	s->dgid = av->gid;
	s->dlid = be16_to_cpu(av->lid);
	if (ts_strict)
		ts_expect(!av->zero && all_zero(av->zero2, sizeof(av->zero2)) &&
			  be32_to_cpu(av->dqpn) >> 24 == EXTENDED_AV >> 24 &&
			  (roce || all_zero(av->mac, sizeof(av->mac))),
			  "QP %#x: address vector %48ph", qp->ib.qp_num, av);
}

/* Reads the segments of data up to the end of a request. */
static enum ib_wc_status read_data(struct ts_qp *qp, u8 *at, u8 *end, int access,
				   struct ts_list *local)
{
	while (at + 4 <= end) {
		struct wqe_data *d = (struct wqe_data *)at;
		u32 len = be32_to_cpu(d->len);
		void *p;

		if (len & INLINE_SEG) {
			len &= 0x3ff;
			if (!len || at + 4 + len > end) {
				ts_violation("QP %#x: %u inline bytes", qp->ib.qp_num, len);
				return IB_WC_LOC_QP_OP_ERR;
			}
			ts_add_seg(local, at + 4, len);
			at += ALIGN(4 + len, 16);
			continue;
		}
		if (at + sizeof(*d) > end)
			break;
		if (ts_strict)
			ts_expect(len, "QP %#x: empty segment", qp->ib.qp_num);
		p = ts_region(be32_to_cpu(d->lkey), be64_to_cpu(d->addr), len, qp->ib.pd, access);
		if (!p)
			return IB_WC_LOC_PROT_ERR;
		ts_add_seg(local, p, len);
		at += sizeof(*d);
	}
	ts_expect(at == end, "QP %#x: %ld bytes after the last segment", qp->ib.qp_num,
		  (long)(end - at));
	return IB_WC_SUCCESS;
}

/* The flags, and the changed fields of the key, of requests for windows of type 2. */
#define UMR_INLINE	0x90
#define UMR_CHECK_FREE	0x20
#define UMR_CHECK_QPN	0x08
#define MASK_UNBIND	(BIT_ULL(13) | BIT_ULL(14) | BIT_ULL(29))
#define MASK_BIND	(MASK_UNBIND | BIT_ULL(0) | BIT_ULL(6) | GENMASK_ULL(21, 18))
#define MKEY_FREE	BIT(6)

/* Reads a request that changes the key of a window. */
static enum ib_wc_status read_umr(struct ts_qp *qp, u8 *at, u8 *end, struct ts_send *s)
{
	struct wqe_umr *umr = (struct wqe_umr *)at;
	struct wqe_mkey *mkey = (struct wqe_mkey *)(umr + 1);
	struct wqe_data *data = (struct wqe_data *)(mkey + 1);
	bool unbind = umr->flags & UMR_CHECK_QPN;
	u64 mask = be64_to_cpu(umr->mask);

	BUILD_BUG_ON(sizeof(*umr) != 48 || sizeof(*mkey) != 64);
	s->rkey = be32_to_cpu(s->imm);
	if (end - at != sizeof(*umr) + sizeof(*mkey) + (unbind ? 0 : 64)) {
		ts_violation("QP %#x: %ld bytes of UMR", qp->ib.qp_num, (long)(end - at));
		return IB_WC_LOC_QP_OP_ERR;
	}
	s->op = unbind ? IB_WR_LOCAL_INV : IB_WR_BIND_MW;
	ts_expect(umr->flags == (UMR_INLINE | (unbind ? UMR_CHECK_QPN : UMR_CHECK_FREE)) &&
		  mask == (unbind ? MASK_UNBIND : MASK_BIND) &&
		  be16_to_cpu(umr->octowords) == (unbind ? 0 : 4) && !umr->offset &&
		  all_zero(umr->zero, 3) && all_zero(umr->zero2, 32),
		  "QP %#x: control of UMR %48ph", qp->ib.qp_num, umr);
	ts_expect(be32_to_cpu(mkey->qpn_key) >> 8 == (unbind ? 0xffffff : qp->ib.qp_num) &&
		  mkey->free == (unbind ? MKEY_FREE : 0),
		  "QP %#x: memory key %64ph", qp->ib.qp_num, mkey);
	/* libmlx5 leaves in the reserved bytes what was there. */
	if (ts_strict > 1)
		ts_expect(!mkey->zero && !mkey->zero2 && all_zero(mkey->zero3, 8) &&
			  all_zero(mkey->zero4, 32) &&
			  (!unbind || (!mkey->access && !mkey->addr && !mkey->len)),
			  "QP %#x: memory key %64ph", qp->ib.qp_num, mkey);
	if (unbind)
		return IB_WC_SUCCESS;
	s->new_key = be32_to_cpu(mkey->qpn_key) & 0xff;
	s->addr = be64_to_cpu(mkey->addr);
	s->len = be64_to_cpu(mkey->len);
	s->access = (mkey->access & BIT(3) ? IB_ACCESS_LOCAL_WRITE : 0) |
		    (mkey->access & BIT(4) ? IB_ACCESS_REMOTE_READ : 0) |
		    (mkey->access & BIT(5) ? IB_ACCESS_REMOTE_WRITE : 0) |
		    (mkey->access & BIT(6) ? IB_ACCESS_REMOTE_ATOMIC : 0);
	s->lkey = be32_to_cpu(data->lkey);
	ts_expect(!(mkey->access & ~0x78) && s->len && be32_to_cpu(data->len) == s->len &&
		  data->addr == mkey->addr && all_zero(data + 1, 48),
		  "QP %#x: memory of a window %64ph", qp->ib.qp_num, data);
	return IB_WC_SUCCESS;
}

/* Reports whether a segment of a size does not fit into a request. */
static bool is_short(struct ts_qp *qp, u8 *at, u8 *end, size_t size)
{
	if (at + size <= end)
		return false;
	ts_violation("QP %#x: too few segments: %zu bytes are missing", qp->ib.qp_num,
		     size - (end - at));
	return true;
}

/* Parses a request that was copied out of the queue. */
static enum ib_wc_status parse(struct ts_qp *qp, u8 *wqe, unsigned int size, struct ts_send *s,
			       struct ts_list *local)
{
	u8 *at = wqe + sizeof(struct wqe_ctrl), *end = wqe + size;
	bool send, ud = qp->ib.qp_type == IB_QPT_UD;
	int access = 0;

	if (s->raw_op >= ARRAY_SIZE(operations) || !operations[s->raw_op].known) {
		ts_violation("QP %#x: opcode %#x", qp->ib.qp_num, s->raw_op);
		return IB_WC_LOC_QP_OP_ERR;
	}
	s->op = operations[s->raw_op].op;
	if (s->op == TS_NOP)
		return IB_WC_SUCCESS;
	if (s->raw_op == OP_UMR)
		return ud || ts_is_xrc(qp) ? IB_WC_LOC_QP_OP_ERR : read_umr(qp, at, end, s);
	send = s->op == IB_WR_SEND || s->op == IB_WR_SEND_WITH_IMM ||
	       s->op == IB_WR_SEND_WITH_INV;
	if (ud) {
		if (!send || s->op == IB_WR_SEND_WITH_INV || is_short(qp, at, end, UD_AV))
			return IB_WC_LOC_QP_OP_ERR;
		read_vector(qp, (struct wqe_av *)at, s);
		at += UD_AV;
	}
	if (qp->ib.qp_type == IB_QPT_XRC_INI) {
		struct wqe_xrc *xrc = (struct wqe_xrc *)at;

		if (is_short(qp, at, end, sizeof(*xrc)))
			return IB_WC_LOC_QP_OP_ERR;
		s->srqn = be32_to_cpu(xrc->srqn);
		/* libmlx5 leaves in the reserved bytes what was there. */
		ts_expect(!(s->srqn >> 24) && (ts_strict < 2 || all_zero(xrc->zero, 12)),
			  "QP %#x: segment of XRC %16ph", qp->ib.qp_num, xrc);
		at += sizeof(*xrc);
	}
	if (!send) {
		struct wqe_raddr *raddr = (struct wqe_raddr *)at;

		if (is_short(qp, at, end, sizeof(*raddr)))
			return IB_WC_LOC_QP_OP_ERR;
		s->addr = be64_to_cpu(raddr->addr);
		s->rkey = be32_to_cpu(raddr->rkey);
		if (ts_strict)
			ts_expect(!raddr->zero, "QP %#x: remote address %16ph", qp->ib.qp_num,
				  raddr);
		at += sizeof(*raddr);
	}
	if (s->op == IB_WR_ATOMIC_CMP_AND_SWP || s->op == IB_WR_ATOMIC_FETCH_AND_ADD) {
		struct wqe_atomic *atomic = (struct wqe_atomic *)at;

		if (is_short(qp, at, end, sizeof(*atomic)))
			return IB_WC_LOC_QP_OP_ERR;
		s->swap_add = be64_to_cpu(atomic->swap_add);
		s->compare = be64_to_cpu(atomic->compare);
		at += sizeof(*atomic);
		access = IB_ACCESS_LOCAL_WRITE;
	} else if (s->op == IB_WR_RDMA_READ) {
		access = IB_ACCESS_LOCAL_WRITE;
	}
	return read_data(qp, at, end, access, local);
}

static bool next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local,
		      enum ib_wc_status *status)
{
	static u8 wqe[MAX_SQ_DESC] __aligned(8);
	struct wqe_ctrl *ctrl = (struct wqe_ctrl *)wqe;
	u32 mask = qp->sq_size - 1;
	unsigned int size, i;

	if (!qp->sq_size || posted(qp, 1) == qp->sq_ci)
		return false;
	if (ts_strict && qp->sq_limit == qp->sq_ci) {
		qp->stalls++;
		return false;
	}
	ts_clear(local);
	memcpy(wqe, qp->sq + (size_t)(qp->sq_ci & mask) * BB, BB);
	size = (be32_to_cpu(ctrl->qpn_ds) & 0x3f) * 16;
	s->counter = qp->sq_ci;
	s->blocks = max(DIV_ROUND_UP(size, BB), 1U);
	for (i = 1; i < s->blocks; i++)
		memcpy(wqe + i * BB, qp->sq + (size_t)((qp->sq_ci + i) & mask) * BB, BB);
	if (!read_ctrl(qp, ctrl, s))
		*status = IB_WC_LOC_QP_OP_ERR;
	else
		*status = parse(qp, wqe, size, s, local);
	return true;
}

const struct ts_abi ts_mlx5 = {
	.name = "mlx5_%d",
	.ops = &mlx5_ops,
	.definitions = mlx5_definitions,
	.reply_device = mlx5_reply_device,
	.reply_pd = mlx5_reply_pd,
	.init_cq = mlx5_init_cq,
	.reply_cq = mlx5_reply_cq,
	.resize_cq = mlx5_resize_cq,
	.init_srq = mlx5_init_srq,
	.reply_srq = mlx5_reply_srq,
	.init_qp = mlx5_init_qp,
	.reply_qp = mlx5_reply_qp,
	.next_send = next_send,
	.receive_waits = receive_waits,
	.srq_waits = srq_waits,
	.take_receive = take_receive,
	.take_srq = take_srq,
	.srq_left = srq_left,
	.complete = put_completion,
	.check_arm = check_arm,
	.hear_bells = mlx5_hear_bells,
};
