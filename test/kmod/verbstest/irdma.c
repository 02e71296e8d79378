// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The commands of irdma, <rdma/irdma-abi.h>, with the members of Linux 7.0. A queue is
 * memory of the process that is registered first, with a type of its own; the command that
 * creates the queue names its address. The sizes follow rdma-core's library
 * (providers/irdma/uk.c: irdma_get_sqdepth, irdma_get_wqe_shift).
 */
#include <rdma/irdma-abi.h>
#include <rdma/uverbs_ioctl.h>
#include "irdma.h"

#define DB_KEY		PAGE_SIZE	/* of the doorbell page, for mmap */
#define RAW_ATTR	BIT(0)		/* IRDMA_ALLOC_UCTX_USE_RAW_ATTR */
#define MIN_WQ_SIZE	BIT(1)		/* IRDMA_ALLOC_UCTX_MIN_HW_WQ_SIZE */
#define MAX_SRQ		BIT(2)		/* IRDMA_ALLOC_UCTX_MAX_HW_SRQ_QUANTA */
#define FORMAT_V2	BIT(3)		/* IRDMA_SUPPORT_WQE_FORMAT_V2 */
#define REG_SRQ		3		/* IRDMA_MEMREG_TYPE_SRQ */
#define SRQ_QUANTA	262144

int ir_gen = 2;
module_param_named(irdma_gen, ir_gen, int, 0444);
MODULE_PARM_DESC(irdma_gen, "irdma: generation of the adapter: 1 (X722), 2 (E810), 3");

/* Limits by generation (i40iw_hw.h, icrdma_hw.c and ig3rdma_hw.c of the driver). */
static const struct limits {
	u32 frags, read_sges, inline_data, wq_quanta, rq_quanta, chunk, min_wq;
	u64 features;
	u32 caps;		/* of a queue pair: 1 write, 2 send with immediate data, 4 RoCE */
} all_limits[] = {
	[1] = { 3, 1, 48, 2048, 16384, 2, 4, 0, 4 },
	[2] = { 13, 13, 101, 32768, 32768, 8, 8, IR_RTS_AE | IR_CQ_RESIZE, 7 },
	[3] = { 13, 13, 244, 32768, 32768, 8, 8,
		IR_RTS_AE | IR_CQ_RESIZE | IR_CQE_64 | IR_ATOMICS | IR_SRQ, 7 },
};

static const struct limits *limits(void)
{
	return &all_limits[clamp(ir_gen, 1, 3)];
}

bool ir_has(u64 feature)
{
	return limits()->features & feature;
}

/* struct irdma_alloc_ucontext_resp. */
struct context_resp {
	u32 max_pds, max_qps, wq_size;
	u8 kernel_ver, rsvd[3];
	u64 feature_flags, db_mmap_key;
	u32 frags, read_sges, inline_data, rq_quanta, wq_quanta, min_cq, max_cq;
	u16 sq_chunk;
	u8 hw_rev, rsvd2;
	u64 comp_mask;
	u16 min_wq_size;
	u8 rsvd3[2];
	u32 max_srq_quanta;
};

struct ir_ucontext {
	struct ts_ucontext base;
	bool raw;	/* capacities in commands are the program's */
};

static bool is_raw(struct ib_udata *udata)
{
	struct ts_ucontext *uc = rdma_udata_to_drv_context(udata, struct ts_ucontext, ib);

	return container_of(uc, struct ir_ucontext, base)->raw;
}

static int alloc_ucontext(struct ib_ucontext *uc, struct ib_udata *udata)
{
	struct ir_ucontext *c = container_of(uc, struct ir_ucontext, base.ib);
	const struct limits *l = limits();
	struct context_resp resp = {
		.max_pds = 1 << 18, .max_qps = 1 << 18, .kernel_ver = IRDMA_ABI_VER,
		.feature_flags = l->features, .db_mmap_key = DB_KEY, .frags = l->frags,
		.read_sges = l->read_sges, .inline_data = l->inline_data,
		.rq_quanta = l->rq_quanta, .wq_quanta = l->wq_quanta, .min_cq = 1,
		.max_cq = 1048575, .sq_chunk = l->chunk, .hw_rev = ir_gen,
		.comp_mask = MIN_WQ_SIZE, .min_wq_size = l->min_wq,
	};
	struct { u32 rsvd; u8 version, rsvd8[3]; u64 comp_mask; } req = {};
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (req.version < 4 || req.version > IRDMA_ABI_VER)
		return -EINVAL;
	if (ir_gen >= 3 && !(req.comp_mask & FORMAT_V2))
		return -EOPNOTSUPP;
	c->raw = req.comp_mask & RAW_ATTR;
	if (c->raw)
		resp.comp_mask |= RAW_ATTR;
	if (ir_has(IR_SRQ)) {
		resp.comp_mask |= MAX_SRQ;
		resp.max_srq_quanta = SRQ_QUANTA;
	}
	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static void dealloc_ucontext(struct ib_ucontext *uc)
{
}

static void disassociate_ucontext(struct ib_ucontext *uc)
{
}

static int map_bells(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff != DB_KEY >> PAGE_SHIFT)
		return -EINVAL;
	return ts_strict ? ts_trap(vma) : ts_ignore_bells(vma);
}

static int reply_pd(struct ts_pd *pd, struct ib_udata *udata)
{
	struct irdma_alloc_pd_resp resp = { .pd_id = pd->pdn };

	return udata ? ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen)) : 0;
}

/*
 * Memory of queues.
 */

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 len, u64 iova, int access,
				 struct ib_udata *udata)
{
	struct irdma_mem_reg_req req = {};
	u64 pages = (PAGE_ALIGN(start + len) - (start & PAGE_MASK)) / IR_PAGE;
	struct ib_mr *mr;
	u32 need = 0;
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return ERR_PTR(err);
	switch (req.reg_type) {
	case IRDMA_MEMREG_TYPE_MEM:
		break;
	case IRDMA_MEMREG_TYPE_QP:
		need = req.sq_pages + req.rq_pages + 1;
		break;
	case IRDMA_MEMREG_TYPE_CQ:
		need = req.cq_pages + !ir_has(IR_CQ_RESIZE);
		break;
	case REG_SRQ:
		need = req.rq_pages + 1;
		break;
	default:
		return ERR_PTR(-EINVAL);
	}
	if (!ts_expect(udata->inlen >= 8 && need <= pages && (!need || IS_ALIGNED(start, IR_PAGE)),
		       "registration of type %u at %#llx: %u pages in %llu bytes", req.reg_type,
		       start, need, len))
		return ERR_PTR(-EINVAL);
	mr = ts_reg_user_mr(pd, start, len, iova, access, udata);
	if (!IS_ERR(mr)) {
		to_ts_mr(mr)->queue_type = req.reg_type;
		to_ts_mr(mr)->queue_pages[0] = req.reg_type == IRDMA_MEMREG_TYPE_CQ ? req.cq_pages : req.sq_pages;
		to_ts_mr(mr)->queue_pages[1] = req.rq_pages;
	}
	return mr;
}

/* Maps memory of a queue that the process has registered: its pages, then the shadow area. */
static int map_queue(struct ib_device *dev, struct ts_mem *m, unsigned int type, u64 addr,
		     u64 first, u64 second, bool shadow)
{
	struct ts_mr *mr, *found = NULL;
	unsigned long i;
	u64 len = first + second + (shadow ? IR_SHADOW : 0);

	mutex_lock(&ts_lock);
	xa_for_each(&ts_mrs, i, mr)
		if (mr->queue_type == type && mr->iova == addr && mr->ib.device == dev)
			found = mr;
	if (!ts_expect(found && len <= found->len && first <= (u64)found->queue_pages[0] * IR_PAGE &&
		       second <= (u64)found->queue_pages[1] * IR_PAGE,
		       "queue at %#llx: %llu and %llu bytes, registered: %d", addr, first, second, !!found))
		found = NULL;
	mutex_unlock(&ts_lock);
	return found ? ts_map(dev, m, addr, len, IB_ACCESS_LOCAL_WRITE) : -EINVAL;
}

static int init_cq(struct ts_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	bool apart = ir_has(IR_CQ_RESIZE);
	struct irdma_create_cq_req req;
	u64 bytes;
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	cq->cqe_size = ir_has(IR_CQE_64) ? 64 : 32;
	cq->size = attr->cqe;
	cq->ib.cqe = cq->size;
	if (!ts_expect(cq->size >= 4, "CQ of %u entries", cq->size))
		return -EINVAL;
	bytes = ALIGN((u64)cq->size * cq->cqe_size, IR_PAGE);
	if (!apart && !ts_expect(req.user_shadow_area == req.user_cq_buf + bytes,
				 "CQ at %#llx: shadow area at %#llx", req.user_cq_buf, req.user_shadow_area))
		return -EINVAL;
	err = map_queue(cq->ib.device, &cq->buf, IRDMA_MEMREG_TYPE_CQ, req.user_cq_buf, bytes, 0, !apart);
	cq->shadow = cq->buf.p + bytes;
	if (err || !apart)
		return err;
	err = map_queue(cq->ib.device, &cq->db_mem, IRDMA_MEMREG_TYPE_CQ, req.user_shadow_area, 0, 0, true);
	cq->shadow = cq->db_mem.p;
	if (err)
		ts_unmap(&cq->buf);
	return err;
}

static int reply_cq(struct ts_cq *cq, struct ib_udata *udata)
{
	struct irdma_create_cq_resp resp = { .cq_id = cq->cqn, .cq_size = cq->size };

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

/* log2 of the quanta of a work request (irdma_get_wqe_shift). */
static u32 wqe_shift(u32 sges, u32 inline_data)
{
	if (ir_gen == 1) {
		if (sges <= 1 && inline_data <= 16)
			return 0;
		return sges < 4 && inline_data <= 48 ? 1 : 2;
	}
	if (sges <= 1 && inline_data <= 8)
		return 0;
	if (sges < 4 && inline_data <= 39)
		return 1;
	return sges < 8 && inline_data <= 101 ? 2 : 3;
}

static u32 depth(u32 requests, u32 shift, u32 reserved)
{
	return max(roundup_pow_of_two((requests << shift) + reserved), limits()->min_wq << shift);
}

static int init_srq(struct ts_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct { u64 buf, shadow; } req;
	u32 quanta;
	u64 bytes;
	int err;

	if (attr->srq_type != IB_SRQT_BASIC || !ir_has(IR_SRQ))
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	if (attr->attr.max_sge > limits()->frags || attr->attr.max_wr > SRQ_QUANTA)
		return -EINVAL;
	srq->shift = wqe_shift(attr->attr.max_sge, 0);
	quanta = depth(attr->attr.max_wr, srq->shift, IR_RQ_RESERVED);
	srq->size = quanta >> srq->shift;
	srq->max_wr = (quanta - IR_RQ_RESERVED) >> srq->shift;
	srq->max_sge = attr->attr.max_sge;
	attr->attr.max_wr = srq->max_wr;
	bytes = ALIGN(quanta * IR_QUANTUM, IR_PAGE);
	if (!ts_expect(req.shadow == req.buf + bytes, "SRQ at %#llx: shadow area at %#llx", req.buf, req.shadow))
		return -EINVAL;
	err = map_queue(srq->ib.device, &srq->buf, REG_SRQ, req.buf, 0, bytes, true);
	srq->shadow = srq->buf.p + bytes;
	return err;
}

static int reply_srq(struct ts_srq *srq, struct ib_udata *udata)
{
	struct { u32 id, size; } resp = { srq->srqn, srq->size };

	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int init_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	const struct limits *l = limits();
	struct ib_qp_cap *cap = &attr->cap;
	u32 sq, rq, sq_shift, rq_shift;
	struct { u64 bufs, context; } req;
	u64 sq_bytes, rq_bytes;
	int err;

	if (attr->qp_type != IB_QPT_RC && (attr->qp_type != IB_QPT_UD || ts_iwarp))
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(&req, udata, sizeof(req));
	if (err)
		return err;
	if (!ts_expect(cap->max_send_sge <= l->frags && cap->max_recv_sge <= l->frags &&
		       cap->max_inline_data <= l->inline_data && cap->max_send_wr <= l->wq_quanta &&
		       cap->max_recv_wr <= l->rq_quanta, "QP of %u and %u requests",
		       cap->max_send_wr, cap->max_recv_wr))
		return -EINVAL;
	sq_shift = wqe_shift(cap->max_send_sge + (ir_gen >= 2), cap->max_inline_data);
	rq_shift = ir_gen == 1 ? 2 : wqe_shift(cap->max_recv_sge, 0);
	if (is_raw(udata)) {
		sq = depth(cap->max_send_wr, sq_shift, IR_SQ_RESERVED);
		rq = depth(cap->max_recv_wr, rq_shift, IR_RQ_RESERVED);
	} else {
		sq = cap->max_send_wr << sq_shift;
		rq = cap->max_recv_wr << rq_shift;
	}
	if (!ts_expect(is_power_of_2(sq) && is_power_of_2(rq) && sq > IR_SQ_RESERVED &&
		       sq <= l->wq_quanta && rq <= l->rq_quanta, "QP of %u and %u quanta", sq, rq))
		return -EINVAL;
	sq_bytes = ALIGN(sq * IR_QUANTUM, IR_PAGE);
	rq_bytes = ALIGN(rq * IR_QUANTUM, IR_PAGE);
	err = map_queue(qp->ib.device, &qp->buf, IRDMA_MEMREG_TYPE_QP, req.bufs, sq_bytes, rq_bytes, true);
	if (err)
		return err;
	qp->sig_all = false;	/* the library sets the bit in each request */
	qp->sq = qp->buf.p;
	qp->rq = qp->buf.p + sq_bytes;
	qp->sq_size = sq;
	qp->sq_stride = sq_shift;
	qp->rq_size = rq >> rq_shift;
	qp->rq_shift = rq_shift;
	qp->context = req.context;
	cap->max_send_wr = (sq - IR_SQ_RESERVED) >> sq_shift;
	cap->max_recv_wr = (rq - IR_RQ_RESERVED) >> rq_shift;
	return 0;
}

static int reply_qp(struct ts_qp *qp, struct ib_udata *udata)
{
	struct irdma_create_qp_resp resp = {
		.qp_id = qp->ib.qp_num,
		.actual_sq_size = qp->sq_size >> qp->sq_stride,
		.actual_rq_size = qp->rq_size,
		.push_idx = 0xffff,
		.lsmm = ts_iwarp,
		.qp_caps = ts_iwarp ? 1 : limits()->caps,
	};

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

/*
 * A change to the error state may ask for the completions of requests that were posted in
 * that state (irdma_issue_flush of the library).
 */
static int modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct irdma_modify_qp_req req = {};
	struct ts_qp *qp = to_ts_qp(ib);
	int err;

	if (udata && udata->inlen >= sizeof(req)) {
		err = ib_copy_from_udata(&req, udata, sizeof(req));
		if (err)
			return err;
	}
	err = ts_iwarp ? ts_iw_modify_qp(ib, attr, mask) : ts_modify_qp(ib, attr, mask, udata);
	if (err || !(mask & IB_QP_STATE) || ib->qp_type == IB_QPT_GSI)
		return err;
	mutex_lock(&ts_lock);
	if (attr->qp_state == IB_QPS_RESET)
		qp->flushed = 0;
	if (attr->qp_state == IB_QPS_ERR && (req.sq_flush || req.rq_flush)) {
		struct ts_completion c = { .qp = qp, .recv = req.rq_flush, .status = IB_WC_WR_FLUSH_ERR };

		qp->flushed &= ~(req.rq_flush ? 2 : 1);
		ir_complete(to_ts_cq(req.rq_flush ? ib->recv_cq : ib->send_cq), &c);
	}
	mutex_unlock(&ts_lock);
	return 0;
}

static int create_user_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct irdma_create_ah_resp resp = {};
	int err = ts_init_ah(ib, init);

	if (err)
		return err;
	resp.ah_id = container_of(ib, struct ts_ah, ib)->id;
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		ts_destroy_ah(ib, 0);
	return err;
}

static void query_device(struct ib_device_attr *a)
{
	const struct limits *l = limits();

	a->fw_ver = 1ULL << 32 | 72;
	a->vendor_id = 0x8086;		/* Intel */
	a->vendor_part_id = ir_gen == 1 ? 0x37d0 : ir_gen == 2 ? 0x1592 : 0x1452;
	a->max_qp = 1 << 18;
	a->max_qp_wr = (l->wq_quanta - IR_SQ_RESERVED) / 8;
	a->max_send_sge = l->frags;
	a->max_recv_sge = l->frags;
	a->max_sge_rd = l->read_sges;
	a->max_cqe = 1048575;
	a->atomic_cap = ir_has(IR_ATOMICS) ? IB_ATOMIC_HCA : IB_ATOMIC_NONE;
	a->max_srq = ir_has(IR_SRQ) ? 1 << 16 : 0;
	a->max_srq_wr = ir_has(IR_SRQ) ? SRQ_QUANTA / 8 : 0;
	a->max_srq_sge = ir_has(IR_SRQ) ? l->frags : 0;
}

static const struct ib_device_ops ops = {
	.driver_id = RDMA_DRIVER_IRDMA,
	.uverbs_abi_ver = IRDMA_ABI_VER,
	.alloc_mw = ts_alloc_mw,
	.alloc_ucontext = alloc_ucontext,
	.create_ah = ts_create_ah,
	.create_user_ah = create_user_ah,
	.dealloc_mw = ts_dealloc_mw,
	.dealloc_ucontext = dealloc_ucontext,
	.destroy_ah = ts_destroy_ah,
	.disassociate_ucontext = disassociate_ucontext,
	.mmap = map_bells,
	.modify_qp = modify_qp,
	.reg_user_mr = reg_user_mr,

	INIT_RDMA_OBJ_SIZE(ib_ah, ts_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, ts_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ir_ucontext, base.ib),
};

const struct ts_abi ts_irdma = {
	.name = "irdma%d",
	.ops = &ops,
	.query_device = query_device,
	.reply_pd = reply_pd,
	.init_cq = init_cq,
	.reply_cq = reply_cq,
	.init_srq = init_srq,
	.reply_srq = reply_srq,
	.init_qp = init_qp,
	.reply_qp = reply_qp,
	.start_stream = ir_start_stream,
	.next_send = ir_next_send,
	.receive_waits = ir_receive_waits,
	.srq_waits = ir_srq_waits,
	.take_receive = ir_take_receive,
	.take_srq = ir_take_srq,
	.srq_left = ir_srq_left,
	.complete = ir_complete,
	.check_arm = ts_check_arm,
	.bell = ir_bell,
};
