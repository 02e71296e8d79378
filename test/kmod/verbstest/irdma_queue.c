// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Work requests of irdma: 1 to 8 quanta of 32 bytes, with the opcode and the valid bit in
 * the last 8 bytes of the first quantum. The valid bit changes with each round of the ring.
 * The layout follows rdma-core's library (providers/irdma/defs.h, IRDMAQPSQ_*; uk.c).
 */
#include "irdma.h"

#define VALID		BIT_ULL(63)
#define SIGNALED	BIT_ULL(62)
#define LOCAL_FENCE	BIT_ULL(61)
#define WAIT_FOR_DATA	BIT_ULL(59)
#define STREAM		BIT_ULL(58)
#define INLINE		BIT_ULL(57)
#define IMM		BIT_ULL(47)
#define EXTRA(h)	((h) >> 38 & 0xf)	/* fragments after the first */
#define OPCODE(h)	((h) >> 32 & 0x3f)
#define INLINE_LEN(h)	((h) >> 48 & 0xff)

#define OP_WRITE	0x00
#define OP_READ		0x01
#define OP_SEND		0x03
#define OP_SEND_INV	0x04
#define OP_SEND_SOL	0x05
#define OP_SEND_SOL_INV	0x06
#define OP_BIND_MW	0x08
#define OP_LOCAL_INV	0x0a
#define OP_NOP		0x0c
#define OP_WRITE_SOL	0x0d
#define OP_FETCH_ADD	0x0f
#define OP_COMPARE_SWAP	0x11
#define OP_RTS_EVENT	0x30	/* of the driver */

/* The shadow area of a CQ, word 4. */
#define ARM_NEXT	BIT(14)
#define ARM_SOLICITED	BIT(15)
#define ARM_KNOWN	(ARM_NEXT | ARM_SOLICITED | BIT(16) | BIT(17))

static u64 *quantum(struct ts_qp *qp, u16 count)
{
	return qp->sq + (size_t)(count & (qp->sq_size - 1)) * IR_QUANTUM;
}

/* The valid bit of a round. */
static u64 valid_bit(u16 count, u32 size)
{
	return count & size ? 0 : VALID;
}

/* The quanta of inline data (irdma_inline_data_size_to_quanta). */
static unsigned int inline_quanta(u32 len)
{
	if (ir_gen == 1)
		return len <= 16 ? 1 : 2;
	return len <= 8 ? 1 : 1 + DIV_ROUND_UP(len - 8, 31);
}

static unsigned int quanta(u64 h)
{
	switch (OPCODE(h)) {
	case OP_NOP:
	case OP_BIND_MW:
	case OP_LOCAL_INV:
		return 1;
	case OP_FETCH_ADD:
	case OP_COMPARE_SWAP:
		return 2;
	}
	return h & INLINE ? inline_quanta(INLINE_LEN(h)) : 1 + (EXTRA(h) + 1) / 2;
}

static bool is_valid(struct ts_qp *qp, u16 count)
{
	u64 h = smp_load_acquire(&quantum(qp, count)[3]);

	return (h & VALID) == valid_bit(count, qp->sq_size);
}

/* The doorbell has no index: the adapter takes the valid requests. */
static void take_requests(struct ts_qp *qp)
{
	while ((u16)(qp->sq_limit - qp->sq_ci) < qp->sq_size && is_valid(qp, qp->sq_limit))
		qp->sq_limit += quanta(quantum(qp, qp->sq_limit)[3]);
	ts_expect((u16)(qp->sq_limit - qp->sq_ci) < qp->sq_size, "QP %#x: %u quanta of %u are posted",
		  qp->ib.qp_num, (u16)(qp->sq_limit - qp->sq_ci), qp->sq_size);
}

static void ring_qp(struct ts_qp *qp)
{
	qp->bells++;
	take_requests(qp);
}

static void ring_cq(struct ts_cq *cq)
{
	u64 word = READ_ONCE(((u64 *)cq->shadow)[4]);

	if (ts_expect(!(word & ~ARM_KNOWN) && word & ARM_SOLICITED, "CQ %#x: arm word %#llx", cq->cqn, word))
		ts_arm(cq, !(word & ARM_NEXT));
}

void ir_bell(u64 offset, u64 value, unsigned int size)
{
	struct ts_qp *qp;
	struct ts_cq *cq;

	offset &= ~PAGE_MASK;
	if (!ts_expect(size == 4 && (offset == 0 || offset == 64), "doorbell %#llx of %u bytes at offset %#llx",
		       value, size, offset))
		return;
	if (offset) {
		cq = xa_load(&ts_cqs, value);
		if (ts_expect(cq && cq->shadow, "doorbell %#llx of no CQ", value))
			ring_cq(cq);
		return;
	}
	qp = xa_load(&ts_qps, value);
	if (ts_expect(qp && qp->sq, "doorbell %#llx of no QP", value))
		ring_qp(qp);
}

/*
 * Writes the driver's requests for a connection to the first quanta of the ring, which the
 * library leaves free: a server's reply or a client's empty write, and with an event, a fence
 * and the request for it (ctrl.c: irdma_sc_send_lsmm, irdma_sc_send_rtt, irdma_sc_gen_rts_ae).
 */
bool ir_start_stream(struct ts_qp *qp, bool server)
{
	const u64 headers[] = {
		server ? (u64)OP_SEND << 32 | STREAM | WAIT_FOR_DATA : (u64)OP_WRITE << 32,
		(u64)OP_NOP << 32 | LOCAL_FENCE, (u64)OP_RTS_EVENT << 32,
	};
	unsigned int i, n = ir_connection_quanta();

	ts_expect(!memchr_inv(qp->sq, 0, n * IR_QUANTUM), "QP %#x: requests in quanta of the driver", qp->ib.qp_num);
	for (i = 0; i < n; i++) {
		u64 *w = quantum(qp, i);

		w[1] = i || ir_gen == 1 ? 0 : VALID;
		smp_store_release(&w[3], headers[i] | VALID);
	}
	take_requests(qp);
	return n > 1;
}

/*
 * Fragments.
 */

/* Adds a fragment to a list, or returns an error. */
static enum ib_wc_status add_fragment(const u64 *f, struct ib_pd *pd, int access, struct ts_list *to)
{
	u32 len = ir_gen == 1 ? (u32)f[1] : f[1] >> 32 & 0x7fffffff;
	u32 stag = ir_gen == 1 ? f[1] >> 32 : (u32)f[1];
	void *p;

	if (!len)
		return IB_WC_SUCCESS;
	p = ts_region(stag, f[0], len, pd, access);
	if (!p)
		return IB_WC_LOC_PROT_ERR;
	ts_add_seg(to, p, len);
	return IB_WC_SUCCESS;
}

/*
 * Adds the fragments of a request: the first is in front of the header, unless that is
 * immediate data; the others are behind it. From the second generation on, each has a valid
 * bit, also one that fills its quantum.
 */
static enum ib_wc_status add_fragments(const u64 *w, u64 valid, bool first, unsigned int more,
				       struct ib_pd *pd, int access, struct ts_list *to)
{
	enum ib_wc_status status = IB_WC_SUCCESS, s;
	unsigned int i;

	for (i = !first; i < 1 + more; i++) {
		const u64 *f = i ? w + 2 + 2 * i : w;

		if (!ts_expect(ir_gen == 1 || (f[1] & VALID) == valid, "fragment %u of %u is not valid", i, more))
			return IB_WC_LOC_QP_OP_ERR;
		s = add_fragment(f, pd, access, to);
		if (s != IB_WC_SUCCESS)
			status = s;
	}
	if (ir_gen >= 3 && more & 1)
		ts_expect((w[3 + 4 * ((more + 1) / 2)] & VALID) == valid, "the last quantum is not valid");
	if (ir_gen == 2)
		ts_expect(!(more & 1), "%u more fragments", more);
	return status;
}

/* Adds inline data: in front of the header, and in quanta behind it. */
static enum ib_wc_status add_inline(u64 *w, u64 valid, u32 len, struct ts_list *to)
{
	u8 *p = (u8 *)w + (ir_gen == 1 ? 0 : 8);
	u32 room = ir_gen == 1 ? 16 : 8, n = min(len, room), q;

	ts_add_seg(to, p, n);
	for (q = 1, len -= n; len; q++, len -= n) {
		p = (u8 *)w + q * IR_QUANTUM;
		n = min(len, ir_gen == 1 ? 32U : 31U);
		if (!ts_expect(ir_gen == 1 || (w[3 + 4 * q] & VALID) == valid, "inline quantum %u is not valid", q))
			return IB_WC_LOC_QP_OP_ERR;
		ts_add_seg(to, p, n);
	}
	return IB_WC_SUCCESS;
}

/*
 * Send requests.
 */

/* The driver's requests in ir_start_stream. */
static enum ib_wr_opcode own_op(u64 op)
{
	switch (op) {
	case OP_SEND:
		return TS_REPLY;
	case OP_WRITE:
		return IB_WR_RDMA_WRITE;
	case OP_RTS_EVENT:
		return TS_RTS;
	}
	return TS_NOP;
}

static bool takes_payload(u64 op)
{
	return op == OP_WRITE || op == OP_WRITE_SOL || (op >= OP_SEND && op <= OP_SEND_SOL_INV);
}

static void parse_datagram(const u64 *w, struct ts_send *s)
{
	struct ts_ah *ah = ts_find_ah(w[3] & 0x1ffff);

	if (!ts_expect(ah, "address handle %#llx", w[3] & 0x1ffff))
		return;
	s->dqpn = w[2] >> 32 & 0xffffff;
	s->qkey = (u32)w[2];
	ts_send_to(s, ah);
}

static enum ib_wc_status parse_bind(const u64 *w, struct ts_send *s)
{
	u32 window = ir_gen == 1 ? w[1] >> 32 : (u32)w[1];
	u64 h = w[3];
	struct ts_mr *mr = xa_load(&ts_mrs, window >> 8);

	s->op = IB_WR_BIND_MW;
	s->addr = w[0];
	s->len = w[2];
	s->lkey = ir_gen == 1 ? (u32)w[1] : w[1] >> 32;
	s->rkey = mr ? mr->ib.lkey : window;	/* the request has the new key only */
	s->new_key = window & 0xff;
	if (h & BIT_ULL(50))
		s->access |= IB_ACCESS_REMOTE_READ;
	if (h & BIT_ULL(51))
		s->access |= IB_ACCESS_REMOTE_WRITE;
	if (h & BIT_ULL(55))
		s->access |= IB_ACCESS_REMOTE_ATOMIC;
	ts_expect(h & BIT_ULL(53) && !(h & BIT_ULL(54)), "bind of type 1 or with relative addresses: %#llx", h);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status parse_atomic(struct ts_qp *qp, const u64 *w, u64 valid, struct ts_send *s,
				      struct ts_list *local)
{
	void *p = ts_region((u32)w[1], w[0], 8, qp->ib.pd, IB_ACCESS_LOCAL_WRITE);
	bool swap = OPCODE(w[3]) == OP_COMPARE_SWAP;

	s->op = swap ? IB_WR_ATOMIC_CMP_AND_SWP : IB_WR_ATOMIC_FETCH_AND_ADD;
	s->addr = w[2];
	s->rkey = (u32)w[3];
	s->swap_add = w[4];
	s->compare = w[5];
	if (!ts_expect(ir_has(IR_ATOMICS) && EXTRA(w[3]) == 1 && (w[7] & VALID) == valid && !w[6] &&
		       (swap || !w[5]), "QP %#x: atomic %#llx", qp->ib.qp_num, w[3]))
		return IB_WC_LOC_QP_OP_ERR;
	if (!p)
		return IB_WC_LOC_PROT_ERR;
	ts_add_seg(local, p, 8);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status parse(struct ts_qp *qp, u64 *w, u64 valid, struct ts_send *s, struct ts_list *local)
{
	u64 h = w[3], op = OPCODE(h);
	bool ud = qp->ib.qp_type == IB_QPT_UD;
	int access = 0;

	s->raw_op = op;
	s->signaled = h & SIGNALED;
	s->solicited = op == OP_SEND_SOL || op == OP_SEND_SOL_INV || op == OP_WRITE_SOL;
	if (ud && !ts_expect(op == OP_SEND || op == OP_SEND_SOL || op == OP_NOP, "UD QP %#x: opcode %#llx",
			     qp->ib.qp_num, op))
		return IB_WC_LOC_QP_OP_ERR;
	switch (op) {
	case OP_NOP:
		s->op = TS_NOP;
		return IB_WC_SUCCESS;
	case OP_LOCAL_INV:
		s->op = IB_WR_LOCAL_INV;
		s->rkey = ir_gen == 1 ? w[1] >> 32 : (u32)w[1];
		return IB_WC_SUCCESS;
	case OP_BIND_MW:
		return parse_bind(w, s);
	case OP_FETCH_ADD:
	case OP_COMPARE_SWAP:
		return parse_atomic(qp, w, valid, s, local);
	case OP_SEND:
	case OP_SEND_SOL:
		ts_expect(!ts_iwarp || !(h & IMM), "QP %#x: send with immediate data", qp->ib.qp_num);
		s->op = h & IMM ? IB_WR_SEND_WITH_IMM : IB_WR_SEND;
		if (ud)
			parse_datagram(w, s);
		break;
	case OP_SEND_INV:
	case OP_SEND_SOL_INV:
		s->op = IB_WR_SEND_WITH_INV;
		s->imm = cpu_to_be32((u32)h);
		break;
	case OP_READ:
		s->op = IB_WR_RDMA_READ;
		access = IB_ACCESS_LOCAL_WRITE;
		if (ts_iwarp && ir_gen == 1)	/* the answer is a write (RFC 5040, 5.2) */
			access |= IB_ACCESS_REMOTE_WRITE;
		break;
	case OP_WRITE:
	case OP_WRITE_SOL:
		s->op = h & IMM ? IB_WR_RDMA_WRITE_WITH_IMM : IB_WR_RDMA_WRITE;
		break;
	default:
		ts_violation("QP %#x: opcode %#llx", qp->ib.qp_num, op);
		return IB_WC_LOC_QP_OP_ERR;
	}
	if (op == OP_READ || op == OP_WRITE || op == OP_WRITE_SOL) {
		s->addr = w[2];
		s->rkey = (u32)h;
	}
	if (h & IMM)
		s->imm = cpu_to_be32((u32)w[0]);
	if (!ts_expect(takes_payload(op) || !(h & (IMM | INLINE)), "QP %#x: header %#llx", qp->ib.qp_num, h))
		return IB_WC_LOC_QP_OP_ERR;
	if (h & INLINE)
		return add_inline(w, valid, INLINE_LEN(h), local);
	return add_fragments(w, valid, !(h & IMM), EXTRA(h), qp->ib.pd, access, local);
}

/* Bits of the header that a process never sets, or that have other meanings by opcode. */
#define RESERVED	(BIT_ULL(46) | BIT_ULL(56) | BIT_ULL(58) | BIT_ULL(59) | BIT_ULL(61))

bool ir_next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local, enum ib_wc_status *status)
{
	u64 *w = quantum(qp, qp->sq_ci);
	u64 valid = valid_bit(qp->sq_ci, qp->sq_size);
	unsigned int chunk = ir_gen == 1 ? 2 : 8;

	if (ts_strict ? qp->sq_ci == qp->sq_limit : !is_valid(qp, qp->sq_ci)) {
		if (is_valid(qp, qp->sq_ci))
			qp->stalls++;
		return false;
	}
	ts_clear(local);
	s->blocks = quanta(w[3]);
	s->counter = qp->sq_ci & (qp->sq_size - 1);
	*status = IB_WC_LOC_QP_OP_ERR;
	if (qp->wqes < ir_connection_quanta()) {
		s->own = true;
		s->op = own_op(OPCODE(w[3]));
		*status = IB_WC_SUCCESS;
	} else if (ts_expect(!(w[3] & RESERVED) && qp->sq_ci % chunk + s->blocks <= chunk,
			     "QP %#x: header %#llx at %u", qp->ib.qp_num, w[3], qp->sq_ci)) {
		*status = parse(qp, w, valid, s, local);
	}
	return true;
}

/*
 * Receive requests.
 */

static u64 *receive(struct ts_qp *qp)
{
	return qp->rq + ((size_t)(qp->rq_ci & (qp->rq_size - 1)) << qp->rq_shift) * IR_QUANTUM;
}

bool ir_receive_waits(struct ts_qp *qp)
{
	u64 h;

	if (!qp->rq || qp->ib.srq)
		return false;
	h = smp_load_acquire(&receive(qp)[3]);
	return (h & VALID) == valid_bit(qp->rq_ci, qp->rq_size);
}

static enum ib_wc_status scatter(const u64 *w, u64 valid, u32 shift, struct ib_pd *pd, struct ts_list *to)
{
	u32 more = EXTRA(w[3]);

	ts_clear(to);
	if (!ts_expect(!(w[3] & ~(VALID | 0xfULL << 38)) && (more + 1) / 2 < 1 << shift,
		       "receive with the header %#llx of %u quanta", w[3], 1 << shift))
		return IB_WC_LOC_QP_OP_ERR;
	return add_fragments(w, valid, true, more, pd, IB_ACCESS_LOCAL_WRITE, to);
}

enum ib_wc_status ir_take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index)
{
	enum ib_wc_status status = scatter(receive(qp), valid_bit(qp->rq_ci, qp->rq_size), qp->rq_shift,
					   qp->ib.pd, to);

	*index = (qp->rq_ci & (qp->rq_size - 1)) << qp->rq_shift;
	qp->rq_ci++;
	return status;
}

unsigned int ir_srq_left(struct ts_srq *srq)
{
	u64 tail = READ_ONCE(*(u64 *)srq->shadow);

	if (!ts_expect(tail < srq->size, "SRQ %#x: index %#llx of %u", srq->srqn, tail, srq->size))
		return 0;
	return ((u32)tail - srq->head) & (srq->size - 1);
}

bool ir_srq_waits(struct ts_srq *srq)
{
	return ir_srq_left(srq);
}

enum ib_wc_status ir_take_srq(struct ts_srq *srq, struct ts_list *to, u64 *index)
{
	const u64 *w = srq->buf.p + ((size_t)(srq->head & (srq->size - 1)) << srq->shift) * IR_QUANTUM;
	u64 valid = srq->head & srq->size ? 0 : VALID;

	ts_expect((smp_load_acquire(&w[3]) & VALID) == valid, "SRQ %#x: request %u is not valid", srq->srqn, srq->head);
	*index = w[2];
	srq->head++;
	return scatter(w, valid, srq->shift, srq->ib.pd, to);
}
