// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The queues of efa, as in efa_io_defs.h of libefa. All fields have the order of bytes of the
 * processor, which is little-endian here.
 */
#include <linux/module.h>
#include "efa.h"

static bool reorder;
module_param_named(efa_reorder, reorder, bool, 0644);
MODULE_PARM_DESC(efa_reorder, "efa: completions of SRD change places with their neighbours");

/* A send request (struct efa_io_tx_wqe). */
struct wqe {
	u16 req_id;
	u8 ctrl1, ctrl2;
	u16 dqpn, length;
	u32 imm;
	u16 ah, reserved;
	u32 qkey;
	u8 reserved2[12];
	struct sge {
		u32 length, key, lo, hi;
	} sge[2];		/* or inline data; rdma: remote and local memory */
};

#define OP(ctrl1)	((ctrl1) & 0xf)	/* 0 send, 1 read, 2 write */
#define HAS_IMM		BIT(4)		/* of ctrl1 */
#define INLINE		BIT(5)
#define EXTENSION	BIT(6)
#define META		BIT(7)
#define PHASE		BIT(0)		/* of ctrl2 */
#define FIRST		BIT(2)
#define LAST		BIT(3)
#define COMP_REQ	BIT(4)
#define RESERVED	0xe2

/* A segment of a receive (struct efa_io_rx_desc). */
struct rqe {
	u32 lo, hi;
	u16 req_id, length;
	u32 key;		/* 24 bits; bit 30: first, 31: last */
};

/* A completion (struct efa_io_rx_cdesc_ex), of which entries of 16 bytes have the begin. */
struct cqe {
	u16 req_id;
	u8 status, flags;	/* phase, part + 1 << 1, immediate data 8, operation << 4 */
	u16 qpn, length;
	u16 ah, src_qpn;
	u32 imm;
	u16 length_hi;
	u8 reserved[14];
};

static_assert(sizeof(struct wqe) == EFA_WQE && sizeof(struct rqe) == EFA_RQE && sizeof(struct cqe) == 32);

static u64 address(u32 lo, u32 hi)
{
	return (u64)hi << 32 | lo;
}

/*
 * Doorbells: the counts of posted requests, or of segments of receives, with 16 bits.
 */

void efa_ring_cq(struct ts_cq *cq, u32 value)
{
	if (value & BIT(31))	/* arm; bits 29 and 30 are the number of the last event */
		ts_arm(cq, false);
}

void efa_ring_sq(struct ts_qp *qp, u32 value)
{
	u16 n = value - qp->sq_limit, i;

	if (!ts_expect(value <= U16_MAX && n && n <= EFA_MAX_BATCH && (u16)(value - qp->sq_ci) <= qp->sq_size,
		       "QP %#x: doorbell %#x after %#x, %#x complete", qp->ib.qp_num, value, qp->sq_limit, qp->sq_ci))
		return;
	qp->bells++;
	for (i = qp->sq_limit; i != (u16)value; i++) {
		struct wqe *w = (struct wqe *)qp->sq + (i & (qp->sq_size - 1));
		bool odd = i / qp->sq_size & 1;

		if (!i)	/* the first one, also after a reset, where libefa goes on with the phase */
			qp->phase = w->ctrl2 & PHASE;
		ts_expect(w->ctrl1 & META && !(w->ctrl1 & EXTENSION) && !(w->ctrl2 & RESERVED) &&
			  w->ctrl2 & FIRST && w->ctrl2 & LAST && (w->ctrl2 & PHASE) == (qp->phase ^ odd),
			  "QP %#x: request %#x of control bytes %#x and %#x", qp->ib.qp_num, i, w->ctrl1, w->ctrl2);
	}
	qp->sq_limit = value;
}

void efa_ring_rq(struct ts_qp *qp, u32 value)
{
	if (!ts_expect(value <= U16_MAX && (u16)(value - qp->rq_ci) <= qp->rq_size,
		       "QP %#x: doorbell %#x of receives, %#x taken", qp->ib.qp_num, value, qp->rq_ci))
		return;
	qp->bells++;
	qp->rq_limit = value;
}

/*
 * Completions. Statuses are those of enum efa_io_comp_status.
 */

static u8 status_of(const struct ts_completion *c)
{
	if (c->forced_syndrome)
		return c->forced_syndrome;
	switch (c->status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_WR_FLUSH_ERR:
		return 1;
	case IB_WC_LOC_QP_OP_ERR:
		return 3;
	case IB_WC_LOC_EEC_OP_ERR:
		return 4;	/* address handle */
	case IB_WC_LOC_PROT_ERR:
		return 5;
	case IB_WC_LOC_LEN_ERR:
		return 6;
	case IB_WC_REM_ACCESS_ERR:
		return 7;
	case IB_WC_REM_ABORT_ERR:
		return 8;
	case IB_WC_REM_INV_RD_REQ_ERR:
		return 9;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return 10;
	case IB_WC_REM_INV_REQ_ERR:
		return 11;
	case IB_WC_RESP_TIMEOUT_ERR:
		return 15;	/* never received a response */
	default:
		return 12;
	}
}

static u8 operation_of(const struct ts_completion *c)
{
	switch (c->op) {
	case IB_WR_RDMA_READ:
		return 1;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return 2;
	default:
		return 0;
	}
}

/* Writes an entry; its phase makes it visible. */
static void put(struct ts_cq *cq, struct cqe *e)
{
	unsigned int part = (e->flags >> 1 & 3) - 1;
	u32 n = cq->parts[part]++;
	struct cqe *at = cq->buf.p + (size_t)(part * cq->size + (n & (cq->size - 1))) * cq->cqe_size;
	u8 flags = e->flags | (n / cq->size & 1 ? 0 : 1);

	e->flags = at->flags;
	memcpy(at, e, cq->cqe_size);
	smp_wmb();
	WRITE_ONCE(at->flags, flags);
	cq->pi++;
}

static struct cqe *held(struct ts_cq *cq)
{
	return (struct cqe *)cq->held;
}

bool efa_complete(struct ts_cq *cq, const struct ts_completion *c)
{
	struct cqe e = {
		.req_id = c->counter, .status = status_of(c), .flags = (c->recv ? EFA_RECV + 1 : EFA_SEND + 1) << 1,
		.qpn = c->qp->ib.qp_num, .length = c->len, .ah = 0xffff,
	};

	e.flags |= operation_of(c) << 4;
	if (c->recv) {
		e.src_qpn = c->src_qp;
		if (c->op == IB_WR_RDMA_WRITE_WITH_IMM)
			e.length_hi = c->len >> 16;
		if (c->op == IB_WR_SEND_WITH_IMM || c->op == IB_WR_RDMA_WRITE_WITH_IMM) {
			e.flags |= BIT(3);
			e.imm = be32_to_cpu(c->imm);
		}
	}
	if (reorder && ts_is_srd(c->qp) && !cq->holds) {
		*held(cq) = e;
		cq->holds = true;
		return true;
	}
	put(cq, &e);
	if (cq->holds)
		put(cq, held(cq));
	cq->holds = false;
	return true;
}

void efa_check_arm(struct ts_cq *cq)
{
	if (cq->holds)
		put(cq, held(cq));
	cq->holds = false;
	ts_check_arm(cq);
}

/*
 * Receive requests: segments, of which the last one is marked.
 */

bool efa_receive_waits(struct ts_qp *qp)
{
	return qp->rq_size && (u16)(efa_rq_posted(qp) - qp->rq_ci);
}

enum ib_wc_status efa_take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index)
{
	u16 end = efa_rq_posted(qp), begin = qp->rq_ci;
	enum ib_wc_status status = IB_WC_SUCCESS;
	struct rqe *r;

	ts_clear(to);
	do {
		void *p;

		r = (struct rqe *)qp->rq + (qp->rq_ci & (qp->rq_size - 1));
		if (!ts_expect(!(r->key >> 24 & 0x3f) && !!(r->key & BIT(30)) == (qp->rq_ci == begin),
			       "QP %#x: receive %#x of key %#x", qp->ib.qp_num, qp->rq_ci, r->key))
			status = IB_WC_LOC_QP_OP_ERR;
		if (qp->rq_ci == begin)
			*index = r->req_id;
		qp->rq_ci++;
		p = ts_region(r->key & 0xffffff, address(r->lo, r->hi), r->length, qp->ib.pd, IB_ACCESS_LOCAL_WRITE);
		if (p)
			ts_add_seg(to, p, r->length);
		else if (r->length)
			status = IB_WC_LOC_PROT_ERR;
	} while (!(r->key & BIT(31)) && qp->rq_ci != end);
	ts_expect(r->key & BIT(31), "QP %#x: receive %#x without a last segment", qp->ib.qp_num, begin);
	return status;
}

/*
 * Send requests.
 */

static enum ib_wc_status add_local(struct ts_qp *qp, struct ts_list *local, const struct sge *e, int access)
{
	void *p;

	if (!ts_expect(!(e->key >> 24), "QP %#x: LKey %#x", qp->ib.qp_num, e->key))
		return IB_WC_LOC_PROT_ERR;
	p = ts_region(e->key, address(e->lo, e->hi), e->length, qp->ib.pd, access);
	if (!p && e->length)
		return IB_WC_LOC_PROT_ERR;
	if (p)
		ts_add_seg(local, p, e->length);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status parse_send(struct ts_qp *qp, struct wqe *w, struct ts_send *s, struct ts_list *local)
{
	unsigned int i;

	s->op = w->ctrl1 & HAS_IMM ? IB_WR_SEND_WITH_IMM : IB_WR_SEND;
	if (w->ctrl1 & INLINE) {
		if (!ts_expect(w->length <= sizeof(w->sge), "QP %#x: %u bytes of inline data", qp->ib.qp_num, w->length))
			return IB_WC_LOC_LEN_ERR;
		ts_add_seg(local, w->sge, w->length);
		return IB_WC_SUCCESS;
	}
	if (!ts_expect(w->length <= 2, "QP %#x: send of %u segments", qp->ib.qp_num, w->length))
		return IB_WC_LOC_QP_OP_ERR;
	for (i = 0; i < w->length; i++) {
		enum ib_wc_status status = add_local(qp, local, &w->sge[i], 0);

		if (status != IB_WC_SUCCESS)
			return status;
	}
	return local->len <= 8192 ? IB_WC_SUCCESS : IB_WC_LOC_LEN_ERR;
}

static enum ib_wc_status parse_rdma(struct ts_qp *qp, struct wqe *w, struct ts_send *s, struct ts_list *local)
{
	bool read = OP(w->ctrl1) == 1;

	if (!ts_expect(qp->ib.qp_type == IB_QPT_DRIVER && w->length <= 1 && !(w->ctrl1 & INLINE) &&
		       !(read && w->ctrl1 & HAS_IMM) && w->sge[0].length == (w->length ? w->sge[1].length : 0),
		       "QP %#x: rdma with control byte %#x, %u segments, %u bytes", qp->ib.qp_num, w->ctrl1,
		       w->length, w->sge[0].length))
		return IB_WC_LOC_QP_OP_ERR;
	s->op = read ? IB_WR_RDMA_READ : w->ctrl1 & HAS_IMM ? IB_WR_RDMA_WRITE_WITH_IMM : IB_WR_RDMA_WRITE;
	s->rkey = w->sge[0].key;
	s->addr = address(w->sge[0].lo, w->sge[0].hi);
	return w->length ? add_local(qp, local, &w->sge[1], read ? IB_ACCESS_LOCAL_WRITE : 0) : IB_WC_SUCCESS;
}

static enum ib_wc_status parse(struct ts_qp *qp, struct wqe *w, struct ts_send *s, struct ts_list *local)
{
	struct ts_ah *ah = ts_find_ah(w->ah);

	ts_expect(!w->reserved && !memchr_inv(w->reserved2, 0, sizeof(w->reserved2)),
		  "QP %#x: reserved bytes %*ph", qp->ib.qp_num, 12, w->reserved2);
	s->raw_op = OP(w->ctrl1);
	s->signaled = w->ctrl2 & COMP_REQ;
	s->imm = cpu_to_be32(w->imm);
	s->dqpn = w->dqpn;
	s->qkey = w->qkey;
	if (!ah)
		return IB_WC_LOC_EEC_OP_ERR;
	ts_send_to(s, ah);
	switch (OP(w->ctrl1)) {
	case 0:
		return parse_send(qp, w, s, local);
	case 1:
	case 2:
		return parse_rdma(qp, w, s, local);
	default:
		ts_violation("QP %#x: operation %u", qp->ib.qp_num, OP(w->ctrl1));
		return IB_WC_LOC_QP_OP_ERR;
	}
}

bool efa_next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local, enum ib_wc_status *status)
{
	struct wqe *w = (struct wqe *)qp->sq + (qp->sq_ci & (qp->sq_size - 1));

	if (!(u16)(efa_sq_posted(qp) - qp->sq_ci))
		return false;
	ts_clear(local);
	s->blocks = 1;
	s->counter = w->req_id;
	*status = parse(qp, w, s, local);
	return true;
}
