// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Work requests and doorbells of bnxt_re. A request has a header of 2 slots of 16 bytes, and
 * segments or inline data behind it. The layout follows rdma-core's library
 * (providers/bnxt_re/bnxt_re-abi.h, bnxt_re_bsqe; verbs.c, bnxt_re_post_send; db.c).
 */
#include "bnxt.h"

/* The first word of a header. */
#define TYPE(h)		((h) & 0xff)
#define SIGNALED	BIT(8)
#define UC_FENCE	BIT(10)
#define SOLICITED	BIT(11)
#define INLINE		BIT(12)
#define SLOTS(h)	((h) >> 16 & 0xff)
#define TAKEN		0xff000000U	/* reserved byte: the module has taken the request */
#define RESERVED	(TAKEN | BIT(9) | BIT(13) | BIT(14) | BIT(15))

#define OP_SEND		0x00
#define OP_SEND_IMM	0x01
#define OP_WRITE	0x04
#define OP_WRITE_IMM	0x05
#define OP_READ		0x06
#define OP_COMPARE_SWAP	0x08
#define OP_FETCH_ADD	0x0b
#define OP_RECEIVE	0x80

/* Types of doorbells (enum bnxt_re_db_que_type). */
#define BELL_SQ		0
#define BELL_RQ		1
#define BELL_SRQ	2
#define BELL_SRQ_ARM	3
#define BELL_CQ		4
#define BELL_CQ_ARM_SE	5
#define BELL_CQ_ARM	6
#define BELL_CUT_OFF	9

/* The words of a doorbell. */
#define VALID		BIT_ULL(58)
#define EPOCH		BIT_ULL(24)
#define TOGGLE(v)	((v) >> 25 & 3)
#define BELL_RESERVED	(0x0bf00000ULL << 32 | 0xf8000000)

#define PSN_MASK	0xffffff

static bool merge;
module_param_named(bnxt_merge, merge, bool, 0644);
MODULE_PARM_DESC(bnxt_merge, "bnxt: completions of every other send request are in that of the next one");

/* A ring of slots. */
struct ring {
	void *p;
	u32 slots;
};

static void *slot(const struct ring *r, u32 n)
{
	return r->p + (size_t)(n % r->slots) * BX_SLOT;
}

static struct ring sends(struct ts_qp *qp)
{
	return (struct ring){ qp->sq, qp->sq_size * qp->sq_stride };
}

static struct ring receives(struct ts_qp *qp)
{
	return (struct ring){ qp->rq, qp->rq_size * qp->rq_shift };
}

static struct ring shared(struct ts_srq *srq)
{
	return (struct ring){ srq->buf.p, srq->size * BX_STATIC };
}

static u32 distance(u32 from, u32 to, u32 size)
{
	return (to + size - from) % size;
}

/*
 * Doorbells.
 */

/* Moves an index to a doorbell's. The epoch changes with each round. */
static void advance(u32 *index, bool *epoch, u64 value, u32 size)
{
	u32 to = value & 0xffffff;
	bool round = *epoch ^ (to < *index);

	if (!ts_expect(to < size, "doorbell %#llx of a queue of %u", value, size))
		return;
	ts_expect(!(value & VALID) || !!(value & EPOCH) == round, "doorbell %#llx after index %u: epoch", value, *index);
	*index = to;
	*epoch = round;
}

/* Follows sq_ci, because sizes are no powers of 2. */
static void follow(struct ts_qp *qp)
{
	struct ring r = sends(qp);

	if (qp->bx.seen == qp->sq_ci)
		return;
	if (qp->sq_stride > 1)
		*(u32 *)slot(&r, qp->bx.sq_at * qp->sq_stride) |= TAKEN;
	qp->bx.sq_at = (qp->bx.sq_at + (u16)(qp->sq_ci - qp->bx.seen)) % qp->sq_size;
	qp->bx.done = (qp->bx.done + 1) % qp->sq_size;
	qp->bx.seen = qp->sq_ci;
	qp->bx.psn = qp->bx.next_psn;
	if (qp->bx.messages)
		qp->bx.message = (qp->bx.message + 1) % qp->bx.messages;
}

static void ring_qp(struct ts_qp *qp, u64 value, bool send)
{
	u32 left = BX_RESERVED * (qp->sq_stride == 1 ? BX_HEADER : 1);

	qp->bells++;
	if (!send) {
		if (!ts_expect(qp->rq, "doorbell %#llx of no receive queue", value))
			return;
		advance(&qp->bx.rq_end, &qp->bx.rq_epoch, value, qp->rq_size);
		return;
	}
	follow(qp);	/* the process may have seen the completion of the last request */
	advance(&qp->bx.sq_end, &qp->bx.sq_epoch, value, qp->sq_size);
	ts_expect(distance(qp->bx.sq_at, qp->bx.sq_end, qp->sq_size) < qp->sq_size - left,
		  "QP %#x: doorbell %#llx, at %u of %u", qp->ib.qp_num, value, qp->bx.sq_at, qp->sq_size);
}

/*
 * A doorbell repeats the toggle. One with the toggle before the last event has no effect: the
 * event came while it was on its way.
 */
static bool has_toggle(const u32 *toggle, u64 value)
{
	u32 want = toggle ? *toggle : 0;

	if (TOGGLE(value) == want)
		return true;
	ts_expect(toggle && TOGGLE(value) == ((want - 1) & 3), "doorbell %#llx, toggle %u", value, want);
	return false;
}

static void ring_srq(struct ts_srq *srq, u64 value, bool arm)
{
	if (!arm) {
		ts_expect(!TOGGLE(value), "SRQ %#x: doorbell %#llx", srq->srqn, value);
		advance(&srq->tail, &srq->epoch, value, srq->size);
		return;
	}
	if (has_toggle(srq->toggle, value) && ts_expect((value & 0xffffff) == srq->unarmed, "SRQ %#x: limit %u, doorbell %#llx", srq->srqn,
		      srq->unarmed, value))
		srq->limit = srq->unarmed;
}

/*
 * Moves a CQ's index to that of a doorbell, which may not pass the last entry. Returns the
 * number of entries behind it. Until the cut-off is acknowledged, indices are the former
 * ring's.
 */
static u32 consume(struct ts_cq *cq, u32 *index, bool *epoch, u64 value)
{
	u32 size = cq->cut ?: cq->size, end = cq->cut ? cq->cut_end : cq->at;
	u32 most = distance(*index, end, size), left;

	advance(index, epoch, value, size);
	left = distance(*index, end, size);
	ts_expect(left <= most, "CQ %#x: doorbell %#llx, next entry %u", cq->cqn, value, end);
	return cq->cut ? left + cq->at : left;
}

/* The event is for completions from the index of the doorbell on. */
static void arm_cq(struct ts_cq *cq, u64 value, bool solicited)
{
	u32 index = cq->ci, left;
	bool epoch = cq->epoch;

	left = consume(cq, &index, &epoch, value);
	if (!has_toggle(cq->toggle, value))
		return;
	ts_arm(cq, solicited);
	cq->arm_ci = cq->pi - left;
}

static void ring_cq(struct ts_cq *cq, u64 value)
{
	cq->bells++;
	ts_expect(!TOGGLE(value), "CQ %#x: doorbell %#llx", cq->cqn, value);
	consume(cq, &cq->ci, &cq->epoch, value);
}

/* The epoch continues with that of this doorbell. */
static void end_cut_off(struct ts_cq *cq, u64 value)
{
	ts_expect(cq->cut && !(value & 0xffffff) && TOGGLE(value) == (cq->cuts & 3), "CQ %#x: cut-off %u, doorbell %#llx", cq->cqn,
		  cq->cuts, value);
	cq->cut = 0;
	cq->ci = 0;
	cq->epoch = value & EPOCH;
}

void bx_bell(u64 offset, u64 value, unsigned int size)
{
	u32 id = value >> 32 & 0xfffff, type = value >> 60;
	void *object;

	if (!ts_expect(size == 8 && !(offset & ~PAGE_MASK) && !(value & BELL_RESERVED), "doorbell %#llx of %u bytes at %#llx", value,
		       size, offset))
		return;
	ts_expect(bx_gen < 7 || value & VALID, "doorbell %#llx is not valid", value);
	switch (type) {
	case BELL_SQ:
	case BELL_RQ:
		object = xa_load(&ts_qps, id);
		if (ts_expect(object && ((struct ts_qp *)object)->sq && !TOGGLE(value), "doorbell %#llx of no QP", value))
			ring_qp(object, value, type == BELL_SQ);
		return;
	case BELL_SRQ:
	case BELL_SRQ_ARM:
		object = xa_load(&ts_srqs, id);
		if (ts_expect(object, "doorbell %#llx of no SRQ", value))
			ring_srq(object, value, type == BELL_SRQ_ARM);
		return;
	case BELL_CQ:
	case BELL_CQ_ARM_SE:
	case BELL_CQ_ARM:
	case BELL_CUT_OFF:
		object = xa_load(&ts_cqs, id);
		if (!ts_expect(object, "doorbell %#llx of no CQ", value))
			return;
		if (type == BELL_CQ)
			ring_cq(object, value);
		else if (type == BELL_CUT_OFF)
			end_cut_off(object, value);
		else
			arm_cq(object, value, type == BELL_CQ_ARM_SE);
		return;
	}
	ts_violation("doorbell %#llx of type %u", value, type);
}

/*
 * Segments.
 */

struct segment {
	u64 addr;
	u32 lkey, len;
};

/* Adds the segments of a request. */
static enum ib_wc_status add_segments(const struct ring *r, u32 first, u32 n, struct ib_pd *pd, int access, struct ts_list *to)
{
	enum ib_wc_status status = IB_WC_SUCCESS;
	u32 i;

	for (i = 0; i < n; i++) {
		struct segment *s = slot(r, first + i);
		void *p = s->len ? ts_region(s->lkey, s->addr, s->len, pd, access) : NULL;

		if (s->len && !p)
			status = IB_WC_LOC_PROT_ERR;
		else
			ts_add_seg(to, p, s->len);
	}
	return status;
}

static void add_inline(const struct ring *r, u32 first, u32 len, struct ts_list *to)
{
	u32 n;

	for (; len; first++, len -= n) {
		n = min_t(u32, len, BX_SLOT);
		ts_add_seg(to, slot(r, first), n);
	}
}

/*
 * Send requests.
 */

/*
 * Checks the entry of a request in the table of packet numbers, from which the adapter sends
 * again. Entries of an earlier round have other numbers, so that a doorbell ahead of its
 * request is noticed. The index of libbnxt_re is that of the first slot, or of the request.
 */
static void check_table(struct ts_qp *qp, u64 len)
{
	u32 mtu = 128 << qp->attr.path_mtu, at = qp->bx.sq_at, psn = qp->bx.psn;
	u32 next = (psn + max_t(u64, 1, DIV_ROUND_UP_ULL(len, mtu))) & PSN_MASK;
	u64 *e;

	if (!qp->bx.table)
		return;
	qp->bx.next_psn = next;
	if (qp->bx.messages) {
		e = qp->bx.table + qp->bx.message;
		ts_expect(*e == ((u64)at << 48 | (u64)next << 24 | psn), "QP %#x: message %u has %#llx, want index %u and packets %#x to %#x",
			  qp->ib.qp_num, qp->bx.message, *e, at, psn, next);
		return;
	}
	e = qp->bx.table + (size_t)at * (bx_gen >= 5 ? 2 : 1);
	ts_expect((e[0] & PSN_MASK) == psn && e[0] >> 32 == next, "QP %#x: request %u has packets %#llx, want %#x to %#x",
		  qp->ib.qp_num, at, e[0], psn, next);
	if (bx_gen >= 5)
		ts_expect((u16)e[1] == (u16)(at * qp->sq_stride) || (u16)e[1] == at, "QP %#x: request %u has slot %u", qp->ib.qp_num,
			  at, (u16)e[1]);
}

/* The operation and the access to local memory, or false. */
static bool find_op(u32 type, enum ib_wr_opcode *op, int *access)
{
	static const struct { u8 type; enum ib_wr_opcode op; int access; } all[] = {
		{ OP_SEND, IB_WR_SEND }, { OP_SEND_IMM, IB_WR_SEND_WITH_IMM }, { OP_WRITE, IB_WR_RDMA_WRITE },
		{ OP_WRITE_IMM, IB_WR_RDMA_WRITE_WITH_IMM }, { OP_READ, IB_WR_RDMA_READ, IB_ACCESS_LOCAL_WRITE },
		{ OP_COMPARE_SWAP, IB_WR_ATOMIC_CMP_AND_SWP, IB_ACCESS_LOCAL_WRITE },
		{ OP_FETCH_ADD, IB_WR_ATOMIC_FETCH_AND_ADD, IB_ACCESS_LOCAL_WRITE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i].type == type) {
			*op = all[i].op;
			*access = all[i].access;
			return true;
		}
	}
	return false;
}

static bool is_atomic(const struct ts_send *s)
{
	return s->op == IB_WR_ATOMIC_CMP_AND_SWP || s->op == IB_WR_ATOMIC_FETCH_AND_ADD;
}

/* Takes the second slot, and the words of the first one with a meaning by operation. */
static enum ib_wc_status parse_header(struct ts_qp *qp, const u32 *h, const u64 *w, struct ts_send *s)
{
	bool ud = qp->ib.qp_type == IB_QPT_UD;
	struct ts_ah *ah;

	s->imm = cpu_to_be32(h[1]);
	if (ud) {
		ah = ts_find_ah(w[0] >> 32 & 0xfffff);
		if (!ts_expect(ah && (s->op == IB_WR_SEND || s->op == IB_WR_SEND_WITH_IMM) && !(w[0] & ~0x000fffff00ffffffULL),
			       "UD QP %#x: operation %u, destination %#llx", qp->ib.qp_num, s->op, w[0]))
			return IB_WC_LOC_QP_OP_ERR;
		ts_send_to(s, ah);
		s->dqpn = w[0];
		s->qkey = h[3];
		return IB_WC_SUCCESS;
	}
	if (is_atomic(s)) {
		s->addr = *(u64 *)(h + 2);
		s->rkey = h[1];
		s->swap_add = w[0];
		s->compare = w[1];
		return IB_WC_SUCCESS;
	}
	ts_expect(!h[3], "QP %#x: length %#x%08x", qp->ib.qp_num, h[3], h[2]);
	s->addr = w[0];
	s->rkey = w[1];
	if (ts_strict >= 2)
		ts_expect(!(w[1] >> 32) && (s->op != IB_WR_SEND || !(w[0] | w[1])), "QP %#x: second slot %#llx %#llx",
			  qp->ib.qp_num, w[0], w[1]);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status parse(struct ts_qp *qp, const struct ring *r, u32 first, struct ts_send *s, struct ts_list *local)
{
	const u32 *h = slot(r, first);
	enum ib_wc_status status;
	int access = 0;

	s->raw_op = TYPE(*h);
	s->signaled = *h & SIGNALED;
	s->solicited = *h & SOLICITED;
	if (!ts_expect(find_op(TYPE(*h), &s->op, &access), "QP %#x: header %#x", qp->ib.qp_num, *h))
		return IB_WC_LOC_QP_OP_ERR;
	status = parse_header(qp, h, slot(r, first + 1), s);
	if (status != IB_WC_SUCCESS)
		return status;
	if (*h & INLINE) {
		if (!ts_expect(SLOTS(*h) == BX_HEADER + DIV_ROUND_UP(h[2], BX_SLOT) && !access, "QP %#x: header %#x of %u inline bytes",
			       qp->ib.qp_num, *h, h[2]))
			return IB_WC_LOC_QP_OP_ERR;
		add_inline(r, first + BX_HEADER, h[2], local);
		return IB_WC_SUCCESS;
	}
	status = add_segments(r, first + BX_HEADER, SLOTS(*h) - BX_HEADER, qp->ib.pd, access, local);
	if (status == IB_WC_SUCCESS)
		ts_expect(is_atomic(s) ? local->len == 8 : local->len == h[2], "QP %#x: header %#x, %u bytes, segments of %llu",
			  qp->ib.qp_num, *h, h[2], local->len);
	return status;
}

/*
 * Without doorbells, a request is posted when its packet numbers are, which the library writes
 * last: connections only.
 */
static bool is_posted(struct ts_qp *qp)
{
	u64 e;

	if (ts_strict)
		return qp->bx.sq_at != qp->bx.sq_end;
	if (!qp->bx.table || qp->bx.messages)
		return false;
	e = smp_load_acquire(&qp->bx.table[(size_t)qp->bx.sq_at * (bx_gen >= 5 ? 2 : 1)]);
	return (e & PSN_MASK) == qp->bx.psn && e >> 32 > qp->bx.psn;
}

bool bx_next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local, enum ib_wc_status *status)
{
	struct ring r = sends(qp);
	u32 first, h;

	follow(qp);
	if (qp->attr.qp_state == IB_QPS_ERR) {
		bx_terminate(qp);
		return false;
	}
	if (!is_posted(qp))
		return false;
	first = qp->bx.sq_at * qp->sq_stride;
	h = *(u32 *)slot(&r, first);
	ts_clear(local);
	s->blocks = qp->sq_stride > 1 ? 1 : SLOTS(h);
	s->counter = (qp->bx.done + 1) % qp->sq_size;
	*status = IB_WC_LOC_QP_OP_ERR;
	if (!ts_expect(!(h & RESERVED) && SLOTS(h) >= BX_HEADER && (qp->sq_stride == 1 || SLOTS(h) <= BX_STATIC),
		       "QP %#x: header %#x at %u", qp->ib.qp_num, h, qp->bx.sq_at))
		return true;
	*status = parse(qp, &r, first, s, local);
	if (merge && qp->bx.done & 1 && (qp->bx.sq_at + s->blocks) % qp->sq_size != qp->bx.sq_end)
		s->signaled = false;
	check_table(qp, is_atomic(s) ? 8 : ((u32 *)slot(&r, first))[2]);
	return true;
}

/*
 * Receive requests.
 */

/* Takes a request of a number of slots. */
static enum ib_wc_status scatter(const struct ring *r, u32 first, u32 room, struct ib_pd *pd, struct ts_list *to)
{
	u32 *h = slot(r, first), head = *h;

	ts_clear(to);
	*h |= TAKEN;
	if (!ts_expect(TYPE(head) == OP_RECEIVE && !(head & (TAKEN | 0xff00)) && SLOTS(head) >= BX_HEADER && SLOTS(head) <= room,
		       "receive with the header %#x, %u slots", head, room))
		return IB_WC_LOC_QP_OP_ERR;
	return add_segments(r, first + BX_HEADER, SLOTS(head) - BX_HEADER, pd, IB_ACCESS_LOCAL_WRITE, to);
}

/* Without doorbells, a header that the module has not marked is posted. */
static bool is_fresh(const struct ring *r, u32 first)
{
	u32 h = smp_load_acquire((u32 *)slot(r, first));

	return TYPE(h) == OP_RECEIVE && !(h & TAKEN);
}

bool bx_receive_waits(struct ts_qp *qp)
{
	struct ring r = receives(qp);

	if (!qp->rq || qp->attr.qp_state == IB_QPS_ERR)
		return false;
	return ts_strict ? qp->bx.rq_at != qp->bx.rq_end : is_fresh(&r, qp->bx.rq_at * qp->rq_shift);
}

enum ib_wc_status bx_take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index)
{
	struct ring r = receives(qp);
	u32 at = qp->bx.rq_at, first = at * qp->rq_shift, *h = slot(&r, first);

	ts_expect(h[2] == at, "QP %#x: receive %u has the number %u", qp->ib.qp_num, at, h[2]);
	*index = at;
	qp->bx.rq_at = (at + 1) % qp->rq_size;
	return scatter(&r, first, max(qp->rq_shift, BX_HEADER + 1U), qp->ib.pd, to);
}

unsigned int bx_srq_left(struct ts_srq *srq)
{
	return distance(srq->head, srq->tail, srq->size);
}

bool bx_srq_waits(struct ts_srq *srq)
{
	return bx_srq_left(srq);
}

enum ib_wc_status bx_take_srq(struct ts_srq *srq, struct ts_list *to, u64 *index)
{
	struct ring r = shared(srq);
	u32 first = srq->head * BX_STATIC;

	*index = ((u32 *)slot(&r, first))[2] & 0xfffff;
	srq->head = (srq->head + 1) % srq->size;
	return scatter(&r, first, BX_STATIC, srq->ib.pd, to);
}
