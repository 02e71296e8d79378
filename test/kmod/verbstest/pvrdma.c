// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The commands and the queues of vmw_pvrdma, <rdma/vmw_pvrdma-abi.h>. Work requests and
 * completions are in the memory of the process, with the counts of both sides in front.
 * Counts are modulo twice the size of a ring.
 */
#include <linux/etherdevice.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/vmw_pvrdma-abi.h>
#include "engine.h"

#define QP_TAB_SIZE	0xffff	/* the library takes the low 16 bits */
#define MAX_WR		16384	/* its counts have 16 bits here */
#define MAX_SGE		16
#define FLAGS_KNOWN	0x0f	/* enum ib_send_flags: fence, signaled, solicited, inline */

struct ring {
	u32 tail;	/* of the producer */
	u32 head;	/* of the consumer */
};

struct ring_state {
	struct ring tx;
	struct ring rx;
};

static struct ring_state *state_of(struct ts_mem *m)
{
	return m->p;
}

static u32 sq_stride(unsigned int sges)
{
	return roundup_pow_of_two(sizeof(struct pvrdma_sq_wqe_hdr) + sges * sizeof(struct pvrdma_sge));
}

static u32 rq_stride(unsigned int sges)
{
	return roundup_pow_of_two(sizeof(struct pvrdma_rq_wqe_hdr) + sges * sizeof(struct pvrdma_sge));
}

/* The number of entries between two counts. */
static u32 distance(u32 tail, u32 head, u32 size, const char *what, u32 number)
{
	u32 n = (tail - head) & (2 * size - 1);

	if (!ts_expect(tail < 2 * size && head < 2 * size && n <= size,
		       "%s %#x: counts %#x and %#x of %u", what, number, tail, head, size))
		return 0;
	return n;
}

/*
 * Commands.
 */

static int map_pages(struct ib_device *dev, struct ts_mem *m, u64 addr, u32 len, u64 need)
{
	if (!ts_expect(PAGE_ALIGNED(addr) && PAGE_ALIGNED(len) && len >= need,
		       "%u bytes at %#llx for a queue of %llu", len, addr, need))
		return -EINVAL;
	return ts_map(dev, m, addr, len, IB_ACCESS_LOCAL_WRITE);
}

static int alloc_ucontext(struct ib_ucontext *uc, struct ib_udata *udata)
{
	struct pvrdma_alloc_ucontext_resp resp = { .qp_tab_size = QP_TAB_SIZE };

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void dealloc_ucontext(struct ib_ucontext *uc)
{
}

static int reply_pd(struct ts_pd *pd, struct ib_udata *udata)
{
	struct pvrdma_alloc_pd_resp resp = { .pdn = pd->pdn };

	return udata ? ib_copy_to_udata(udata, &resp, sizeof(resp)) : 0;
}

static int init_cq(struct ts_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	struct pvrdma_create_cq req;
	int err;

	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	cq->size = roundup_pow_of_two(attr->cqe);
	cq->cqe_size = sizeof(struct pvrdma_cqe);
	cq->ib.cqe = cq->size;
	return map_pages(cq->ib.device, &cq->buf, req.buf_addr, req.buf_size,
			 PAGE_SIZE + (u64)cq->size * cq->cqe_size);
}

static int reply_cq(struct ts_cq *cq, struct ib_udata *udata)
{
	struct pvrdma_create_cq_resp resp = { .cqn = cq->cqn };

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int init_srq(struct ts_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct pvrdma_create_srq req;
	int err;

	if (attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	if (!ts_expect(is_power_of_2(attr->attr.max_wr) && attr->attr.max_wr <= MAX_WR &&
		       attr->attr.max_sge && attr->attr.max_sge <= MAX_SGE,
		       "SRQ of %u requests of %u segments", attr->attr.max_wr, attr->attr.max_sge))
		return -EINVAL;
	srq->max_wr = srq->size = attr->attr.max_wr;
	srq->max_sge = attr->attr.max_sge;
	srq->shift = ilog2(rq_stride(srq->max_sge));
	return map_pages(srq->ib.device, &srq->buf, req.buf_addr, req.buf_size,
			 PAGE_SIZE + ((u64)srq->size << srq->shift));
}

static int reply_srq(struct ts_srq *srq, struct ib_udata *udata)
{
	struct pvrdma_create_srq_resp resp = { .srqn = srq->srqn };

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int init_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct ib_device *dev = qp->ib.device;
	struct ib_qp_cap *cap = &attr->cap;
	struct pvrdma_create_qp req;
	int err;

	if (attr->qp_type != IB_QPT_RC && attr->qp_type != IB_QPT_UD)
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	if (!ts_expect(is_power_of_2(cap->max_send_wr) && cap->max_send_wr <= MAX_WR &&
		       cap->max_send_sge && cap->max_send_sge <= MAX_SGE,
		       "send queue of %u requests of %u segments", cap->max_send_wr, cap->max_send_sge))
		return -EINVAL;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->sq_size = cap->max_send_wr;
	err = map_pages(dev, &qp->buf, req.sbuf_addr, req.sbuf_size,
			PAGE_SIZE + (u64)qp->sq_size * sq_stride(cap->max_send_sge));
	if (err)
		return err;
	qp->sq = qp->buf.p + PAGE_SIZE;
	qp->sq_stride = sq_stride(cap->max_send_sge);
	if (attr->srq)
		return 0;
	if (!ts_expect(is_power_of_2(cap->max_recv_wr) && cap->max_recv_wr <= MAX_WR &&
		       cap->max_recv_sge && cap->max_recv_sge <= MAX_SGE,
		       "receive queue of %u requests of %u segments", cap->max_recv_wr, cap->max_recv_sge)) {
		ts_unmap(&qp->buf);
		return -EINVAL;
	}
	qp->rq_size = cap->max_recv_wr;
	qp->rq_shift = ilog2(rq_stride(cap->max_recv_sge));
	err = map_pages(dev, &qp->rq_mem, req.rbuf_addr, req.rbuf_size, (u64)qp->rq_size << qp->rq_shift);
	if (err)
		ts_unmap(&qp->buf);
	qp->rq = qp->rq_mem.p;
	return err;
}

static int reply_qp(struct ts_qp *qp, struct ib_udata *udata)
{
	struct pvrdma_create_qp_resp resp = { .qpn = qp->ib.qp_num, .qp_handle = qp->ib.qp_num };

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static int create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	return rdma_ah_get_ah_flags(init->ah_attr) & IB_AH_GRH ? 0 : -EINVAL;
}

static int destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

static void query_device(struct ib_device_attr *a)
{
	a->fw_ver = 1ULL << 32;
	a->vendor_id = 0x15ad;		/* VMware */
	a->vendor_part_id = 0x0820;
	a->max_qp = QP_TAB_SIZE;
	a->max_qp_wr = MAX_WR;
	a->max_send_sge = MAX_SGE;
	a->max_recv_sge = MAX_SGE;
	a->max_sge_rd = MAX_SGE;
	a->max_srq_wr = MAX_WR;
	a->max_srq_sge = MAX_SGE;
}

/*
 * Doorbells.
 */

static int map_bells(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff)
		return -EINVAL;
	return ts_trap(vma);
}

static void ring_bell(u64 offset, u64 word, unsigned int size)
{
	u32 value = word;
	u32 handle = value & PVRDMA_UAR_HANDLE_MASK;

	if (!ts_expect(size == 4, "doorbell of %u bytes", size))
		return;
	if (offset == PVRDMA_UAR_QP_OFFSET) {
		struct ts_qp *qp = xa_load(&ts_qps, handle);
		u32 flags = value & ~PVRDMA_UAR_HANDLE_MASK;

		if (ts_expect(qp, "doorbell %#x of no QP", value)) {
			struct ring_state *state = state_of(&qp->buf);

			qp->bells++;
			if (flags & PVRDMA_UAR_QP_SEND)
				qp->sq_limit = READ_ONCE(state->tx.tail);
			if (flags & PVRDMA_UAR_QP_RECV)
				qp->rq_limit = READ_ONCE(state->rx.tail);
			ts_expect(flags == PVRDMA_UAR_QP_SEND || flags == PVRDMA_UAR_QP_RECV, "doorbell %#x of QP",
				  value);
		}
	} else if (offset == PVRDMA_UAR_CQ_OFFSET) {
		struct ts_cq *cq = xa_load(&ts_cqs, handle);

		if (ts_expect(cq, "doorbell %#x of no CQ", value) &&
		    value & (PVRDMA_UAR_CQ_ARM | PVRDMA_UAR_CQ_ARM_SOL))
			ts_arm(cq, value & PVRDMA_UAR_CQ_ARM_SOL);
	} else if (offset == PVRDMA_UAR_SRQ_OFFSET) {
		struct ts_srq *srq = xa_load(&ts_srqs, handle);

		if (ts_expect(srq && value & PVRDMA_UAR_SRQ_RECV, "doorbell %#x of no SRQ", value))
			srq->tail = READ_ONCE(state_of(&srq->buf)->rx.tail);
	} else {
		ts_violation("doorbell %#x at offset %#llx", value, offset);
	}
}

/*
 * Completions.
 */

static bool put_completion(struct ts_cq *cq, const struct ts_completion *c)
{
	struct ring *ring = &state_of(&cq->buf)->rx;
	struct pvrdma_cqe *cqe;
	u32 mask = 2 * cq->size - 1;

	if (!c->recv)	/* the entry is free before its completion is visible */
		smp_store_release(&state_of(&c->qp->buf)->tx.head, c->qp->sq_ci & (2 * c->qp->sq_size - 1));
	if (cq->overrun ||
	    distance(cq->pi & mask, READ_ONCE(ring->head), cq->size, "CQ", cq->cqn) == cq->size) {
		if (!cq->overrun)
			ts_event_cq(cq, IB_EVENT_CQ_ERR);
		cq->overrun = true;
		return false;
	}
	cqe = cq->buf.p + PAGE_SIZE + (size_t)(cq->pi & (cq->size - 1)) * sizeof(*cqe);
	memset(cqe, 0, sizeof(*cqe));
	cqe->wr_id = c->counter;
	cqe->qp = c->qp->ib.qp_num;
	cqe->status = c->status;	/* enum pvrdma_wc_status has the values of enum ib_wc_status */
	cqe->byte_len = c->len;
	cqe->network_hdr_type = PVRDMA_NETWORK_IPV4;
	if (c->forced_syndrome)
		cqe->status = c->forced_syndrome;
	switch (c->op) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		cqe->opcode = c->recv ? PVRDMA_WC_RECV_RDMA_WITH_IMM : PVRDMA_WC_RDMA_WRITE;
		break;
	case IB_WR_RDMA_READ:
		cqe->opcode = PVRDMA_WC_RDMA_READ;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		cqe->opcode = PVRDMA_WC_COMP_SWAP;
		break;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		cqe->opcode = PVRDMA_WC_FETCH_ADD;
		break;
	default:
		cqe->opcode = c->recv ? PVRDMA_WC_RECV : PVRDMA_WC_SEND;
	}
	if (c->recv) {
		cqe->src_qp = c->src_qp;
		if (c->grh)
			cqe->wc_flags |= PVRDMA_WC_GRH;
		if (c->op == IB_WR_SEND_WITH_IMM || c->op == IB_WR_RDMA_WRITE_WITH_IMM) {
			cqe->wc_flags |= PVRDMA_WC_WITH_IMM;
			cqe->imm_data = c->imm;
		}
	}
	cq->pi++;
	smp_store_release(&ring->tail, cq->pi & mask);
	if ((c->recv && c->solicited) || c->status != IB_WC_SUCCESS)
		cq->solicited = cq->pi;
	return true;
}

/*
 * Receive requests.
 */

static bool receive_waits(struct ts_qp *qp)
{
	u32 tail, head = qp->rq_ci & (2 * qp->rq_size - 1);

	if (!qp->rq_size)
		return false;
	tail = ts_strict ? qp->rq_limit : READ_ONCE(state_of(&qp->buf)->rx.tail);
	return distance(tail, head, qp->rq_size, "QP", qp->ib.qp_num);
}

static unsigned int srq_left(struct ts_srq *srq)
{
	u32 tail = ts_strict ? srq->tail : READ_ONCE(state_of(&srq->buf)->rx.tail);

	return distance(tail, srq->head, srq->size, "SRQ", srq->srqn);
}

static bool srq_waits(struct ts_srq *srq)
{
	return srq_left(srq);
}

static enum ib_wc_status scatter(struct pvrdma_rq_wqe_hdr *h, u32 stride, struct ib_pd *pd, struct ts_list *to)
{
	struct pvrdma_sge *sge = (struct pvrdma_sge *)(h + 1);
	enum ib_wc_status status = IB_WC_SUCCESS;
	u32 i;

	ts_clear(to);
	if (!ts_expect(h->num_sge <= (stride - sizeof(*h)) / sizeof(*sge), "receive of %u segments", h->num_sge))
		return IB_WC_LOC_QP_OP_ERR;
	for (i = 0; i < h->num_sge; i++) {
		void *p = ts_region(sge[i].lkey, sge[i].addr, sge[i].length, pd, IB_ACCESS_LOCAL_WRITE);

		if (!p)
			status = IB_WC_LOC_PROT_ERR;
		else
			ts_add_seg(to, p, sge[i].length);
	}
	return status;
}

static enum ib_wc_status take_receive(struct ts_qp *qp, struct ts_list *to, u64 *index)
{
	struct pvrdma_rq_wqe_hdr *h = qp->rq + ((size_t)(qp->rq_ci & (qp->rq_size - 1)) << qp->rq_shift);
	enum ib_wc_status status = scatter(h, 1U << qp->rq_shift, qp->ib.pd, to);

	*index = h->wr_id;
	qp->rq_ci++;
	smp_store_release(&state_of(&qp->buf)->rx.head, qp->rq_ci & (2 * qp->rq_size - 1));
	return status;
}

static enum ib_wc_status take_srq(struct ts_srq *srq, struct ts_list *to, u64 *index)
{
	struct pvrdma_rq_wqe_hdr *h = srq->buf.p + PAGE_SIZE + ((size_t)(srq->head & (srq->size - 1)) << srq->shift);
	enum ib_wc_status status = scatter(h, 1U << srq->shift, srq->ib.pd, to);

	*index = h->wr_id;
	srq->head = (srq->head + 1) & (2 * srq->size - 1);
	smp_store_release(&state_of(&srq->buf)->rx.head, srq->head);
	return status;
}

/*
 * Send requests.
 */

static enum ib_wc_status parse(struct ts_qp *qp, struct pvrdma_sq_wqe_hdr *h, struct ts_send *s,
			       struct ts_list *local)
{
	struct pvrdma_sge *sge = (struct pvrdma_sge *)(h + 1);
	int access = 0;
	u32 i;

	if (!ts_expect(h->num_sge <= (qp->sq_stride - sizeof(*h)) / sizeof(*sge) && !(h->send_flags & ~FLAGS_KNOWN),
		       "QP %#x: request of %u segments, flags %#x", qp->ib.qp_num, h->num_sge, h->send_flags))
		return IB_WC_LOC_QP_OP_ERR;
	s->raw_op = h->opcode;
	s->signaled = qp->sig_all || h->send_flags & IB_SEND_SIGNALED;
	s->solicited = h->send_flags & IB_SEND_SOLICITED;
	s->imm = h->ex.imm_data;
	switch (h->opcode) {
	case PVRDMA_WR_SEND:
	case PVRDMA_WR_SEND_WITH_IMM:
		if (qp->ib.qp_type != IB_QPT_UD)
			break;
		s->dqpn = h->wr.ud.remote_qpn;
		s->qkey = h->wr.ud.remote_qkey;
		s->grh = true;
		s->sgid_index = h->wr.ud.av.gid_index;
		s->tclass = h->wr.ud.av.sl_tclass_flowlabel >> 20;
		s->flow = h->wr.ud.av.sl_tclass_flowlabel & 0xfffff;
		s->hop = h->wr.ud.av.hop_limit;
		s->dgid = h->wr.ud.av.dgid;
		if (!ts_expect((h->wr.ud.av.port_pd & 0xffffff) == to_ts_pd(qp->ib.pd)->pdn &&
			       h->wr.ud.av.port_pd >> 24 == 1 && !is_zero_ether_addr(h->wr.ud.av.dmac),
			       "QP %#x: address vector of port and PD %#x, MAC %pM", qp->ib.qp_num,
			       h->wr.ud.av.port_pd, h->wr.ud.av.dmac))
			return IB_WC_LOC_QP_OP_ERR;
		break;
	case PVRDMA_WR_RDMA_READ:
		access = IB_ACCESS_LOCAL_WRITE;
		fallthrough;
	case PVRDMA_WR_RDMA_WRITE:
	case PVRDMA_WR_RDMA_WRITE_WITH_IMM:
		s->addr = h->wr.rdma.remote_addr;
		s->rkey = h->wr.rdma.rkey;
		break;
	case PVRDMA_WR_ATOMIC_CMP_AND_SWP:
	case PVRDMA_WR_ATOMIC_FETCH_AND_ADD:
		access = IB_ACCESS_LOCAL_WRITE;
		s->addr = h->wr.atomic.remote_addr;
		s->rkey = h->wr.atomic.rkey;
		s->swap_add = h->opcode == PVRDMA_WR_ATOMIC_CMP_AND_SWP ? h->wr.atomic.swap : h->wr.atomic.compare_add;
		s->compare = h->wr.atomic.compare_add;
		break;
	default:
		ts_violation("QP %#x: opcode %u", qp->ib.qp_num, h->opcode);
		return IB_WC_LOC_QP_OP_ERR;
	}
	if (qp->ib.qp_type == IB_QPT_UD && h->opcode != PVRDMA_WR_SEND && h->opcode != PVRDMA_WR_SEND_WITH_IMM)
		return IB_WC_LOC_QP_OP_ERR;
	s->op = h->opcode;	/* enum pvrdma_wr_opcode has the values of enum ib_wr_opcode up to here */
	for (i = 0; i < h->num_sge; i++) {
		void *p = ts_region(sge[i].lkey, sge[i].addr, sge[i].length, qp->ib.pd, access);

		if (!p)
			return IB_WC_LOC_PROT_ERR;
		ts_add_seg(local, p, sge[i].length);
	}
	return IB_WC_SUCCESS;
}

static bool next_send(struct ts_qp *qp, struct ts_send *s, struct ts_list *local, enum ib_wc_status *status)
{
	struct ring *ring = &state_of(&qp->buf)->tx;
	u32 head = qp->sq_ci & (2 * qp->sq_size - 1);
	struct pvrdma_sq_wqe_hdr *h;

	smp_store_release(&ring->head, head);
	if (!distance(ts_strict ? qp->sq_limit : READ_ONCE(ring->tail), head, qp->sq_size, "QP", qp->ib.qp_num)) {
		if (READ_ONCE(ring->tail) != head)
			qp->stalls++;
		return false;
	}
	ts_clear(local);
	h = qp->sq + (size_t)(head & (qp->sq_size - 1)) * qp->sq_stride;
	s->blocks = 1;
	s->counter = h->wr_id;
	*status = parse(qp, h, s, local);
	return true;
}

static const struct ib_device_ops ops = {
	.driver_id = RDMA_DRIVER_VMW_PVRDMA,
	.uverbs_abi_ver = PVRDMA_UVERBS_ABI_VERSION,
	.alloc_ucontext = alloc_ucontext,
	.create_ah = create_ah,
	.create_user_ah = create_ah,
	.dealloc_ucontext = dealloc_ucontext,
	.destroy_ah = destroy_ah,
	.mmap = map_bells,

	INIT_RDMA_OBJ_SIZE(ib_ah, ts_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ts_ucontext, ib),
};

const struct ts_abi ts_pvrdma = {
	.name = "vmw_pvrdma%d",
	.ops = &ops,
	.query_device = query_device,
	.reply_pd = reply_pd,
	.init_cq = init_cq,
	.reply_cq = reply_cq,
	.init_srq = init_srq,
	.reply_srq = reply_srq,
	.init_qp = init_qp,
	.reply_qp = reply_qp,
	.next_send = next_send,
	.receive_waits = receive_waits,
	.srq_waits = srq_waits,
	.take_receive = take_receive,
	.take_srq = take_srq,
	.srq_left = srq_left,
	.complete = put_completion,
	.check_arm = ts_check_arm,
	.bell = ring_bell,
};
