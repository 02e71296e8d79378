// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The commands of bnxt_re, <rdma/bnxt_re-abi.h>, with the members of Linux 6.12. The sizes of
 * queues are in no command: the driver computes them as the library does (rdma-core,
 * providers/bnxt_re/verbs.c: bnxt_re_get_sqmem_size, bnxt_re_get_rqmem_size).
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <rdma/bnxt_re-abi.h>
#include <rdma/uverbs_ioctl.h>
#include "bnxt.h"

#define DB_PAGE		1	/* of the device file; page 0 is shared memory */
#define DB_OFFSET	((u64)DB_PAGE << PAGE_SHIFT)
#define AVID_OFFSET	0x10	/* BNXT_RE_AVID_OFFT */

#define REQ_POW2	BIT(0)	/* BNXT_RE_COMP_MASK_REQ_UCNTX_POW2_SUPPORT */
#define REQ_VARIABLE	BIT(1)	/* BNXT_RE_COMP_MASK_REQ_UCNTX_VAR_WQE_SUPPORT */
#define HAVE_CHIP	BIT(0)	/* BNXT_RE_UCNTX_CMASK_HAVE_CCTX */
#define HAVE_MODE	BIT(1)	/* BNXT_RE_UCNTX_CMASK_HAVE_MODE */
#define ANY_DEPTH	BIT(4)	/* BNXT_RE_UCNTX_CMASK_POW2_DISABLED */
#define MSN_TABLE	BIT(6)	/* BNXT_RE_UCNTX_CMASK_MSN_TABLE_ENABLED */

#define MAX_CQE		0x3fffe
#define MAX_WR		32768
#define MAX_RING	65536	/* indices in completions have 16 bits */
#define MAX_INLINE	96
#define VARIABLE_ALIGN	256	/* slots */

int bx_gen = 5;
module_param_named(bnxt_gen, bx_gen, int, 0444);
MODULE_PARM_DESC(bnxt_gen, "bnxt: generation of the adapter: 4, 5 (Thor, default) or 7 (Thor2)");

static bool variable;
module_param_named(bnxt_variable, variable, bool, 0444);
MODULE_PARM_DESC(bnxt_variable, "bnxt: work requests have variable sizes, if the library can");

struct bx_ucontext {
	struct ts_ucontext base;
	struct page *shared;
	bool any_depth, variable, toggles;
};

static struct bx_ucontext *context_of(struct ib_udata *udata)
{
	struct ts_ucontext *uc = rdma_udata_to_drv_context(udata, struct ts_ucontext, ib);

	return container_of(uc, struct bx_ucontext, base);
}

static int respond(struct ib_udata *udata, void *resp, size_t size)
{
	return ib_copy_to_udata(udata, resp, min(size, udata->outlen));
}

static int alloc_ucontext(struct ib_ucontext *uc, struct ib_udata *udata)
{
	struct bx_ucontext *c = container_of(uc, struct bx_ucontext, base.ib);
	struct {
		u32 dev_id, max_qp, pg_size, cqe_sz, max_cqd, rsvd;
		u64 comp_mask;
		u32 chip_id0, chip_id1, mode, rsvd1;
	} resp = {
		.max_qp = 1 << 16, .pg_size = PAGE_SIZE, .cqe_sz = BX_CQE, .max_cqd = MAX_CQE,
		.comp_mask = HAVE_MODE,
	};
	u64 mask = 0;
	int err;

	err = ib_copy_from_udata(&mask, udata, min(sizeof(mask), udata->inlen));
	if (err)
		return err;
	if (bx_gen >= 5) {
		resp.comp_mask |= HAVE_CHIP;
		resp.chip_id0 = bx_gen == 5 ? 0x1750 : 0x1760;
	}
	if (bx_gen >= 7) {
		if (!(mask & REQ_POW2))	/* a library that does not know the table */
			return -EOPNOTSUPP;
		resp.comp_mask |= MSN_TABLE;
	}
	c->any_depth = mask & REQ_POW2;
	if (c->any_depth)
		resp.comp_mask |= ANY_DEPTH;
	c->toggles = bx_gen >= 7;
	c->variable = variable && mask & REQ_VARIABLE;
	resp.mode = c->variable;
	c->shared = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!c->shared)
		return -ENOMEM;
	err = respond(udata, &resp, sizeof(resp));
	if (err)
		__free_page(c->shared);
	return err;
}

static void dealloc_ucontext(struct ib_ucontext *uc)
{
	__free_page(container_of(uc, struct bx_ucontext, base.ib)->shared);
}

static void disassociate_ucontext(struct ib_ucontext *uc)
{
}

static int map_pages(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (!vma->vm_pgoff)
		return vm_insert_page(vma, vma->vm_start, container_of(uc, struct bx_ucontext, base.ib)->shared);
	if (vma->vm_pgoff != DB_PAGE)
		return bx_map_toggle(vma);
	return ts_strict ? ts_trap(vma) : ts_ignore_bells(vma);
}

static int reply_pd(struct ts_pd *pd, struct ib_udata *udata)
{
	struct bnxt_re_pd_resp resp = { .pdid = pd->pdn, .dpi = 1, .dbr = DB_OFFSET };

	return udata ? respond(udata, &resp, sizeof(resp)) : 0;
}

/* The entries of a queue (bnxt_re_init_depth). */
static u32 depth(struct ib_udata *udata, u32 entries)
{
	return context_of(udata)->any_depth ? entries : roundup_pow_of_two(entries);
}

static int map_ring(struct ib_device *dev, struct ts_mem *m, u64 addr, u64 len)
{
	if (!ts_expect(PAGE_ALIGNED(addr), "queue at %#llx", addr))
		return -EINVAL;
	return ts_map(dev, m, addr, PAGE_ALIGN(len), IB_ACCESS_LOCAL_WRITE);
}

static int map_with_toggle(struct ib_device *dev, struct ts_mem *m, u64 addr, u64 len, u32 **toggle,
			   struct ib_udata *udata)
{
	int err = map_ring(dev, m, addr, len);

	if (err || !context_of(udata)->toggles)
		return err;
	*toggle = (u32 *)get_zeroed_page(GFP_KERNEL);
	if (*toggle)
		return 0;
	ts_unmap(m);
	return -ENOMEM;
}

static int init_cq(struct ts_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	u64 req[2];	/* address, handle */
	int err;

	err = ib_copy_from_udata(req, udata, sizeof(req));
	if (err)
		return err;
	if (attr->cqe < 1 || attr->cqe > MAX_CQE)
		return -EINVAL;
	cq->size = min_t(u32, depth(udata, attr->cqe + 1), MAX_CQE + 1);
	cq->cqe_size = BX_CQE;
	cq->ib.cqe = attr->cqe;
	return map_with_toggle(cq->ib.device, &cq->buf, req[0], (u64)cq->size * BX_CQE, &cq->toggle, udata);
}

static int reply_cq(struct ts_cq *cq, struct ib_udata *udata)
{
	struct {
		u32 cqid, tail, phase, rsvd;
		u64 comp_mask;
	} resp = { .cqid = cq->cqn, .phase = 1, .comp_mask = !!cq->toggle };

	return respond(udata, &resp, sizeof(resp));
}

static int resize_cq(struct ib_cq *ib, int cqe, struct ib_udata *udata)
{
	struct ts_cq *cq = to_ts_cq(ib);
	struct ts_mem ring;
	u64 address;
	u32 size;
	int err;

	err = ib_copy_from_udata(&address, udata, sizeof(address));
	if (err)
		return err;
	if (cqe < 1 || cqe > MAX_CQE || cq->cut)
		return -EINVAL;
	size = min_t(u32, depth(udata, cqe + 1), MAX_CQE + 1);
	err = map_ring(ib->device, &ring, address, (u64)size * BX_CQE);
	if (err)
		return err;
	mutex_lock(&ts_lock);
	bx_cut_off(cq, &ring, size);
	mutex_unlock(&ts_lock);
	ts_unmap(&ring);
	ib->cqe = cqe;
	return 0;
}

/* The process reports with it that it has seen the cut-off. */
static int poll_cq(struct ib_cq *ib, int max, struct ib_wc *wc)
{
	return 0;
}

static int init_srq(struct ts_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	u64 req[2];	/* address, handle */
	int err;

	if (attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(req, udata, sizeof(req));
	if (err)
		return err;
	if (!attr->attr.max_wr || attr->attr.max_wr > MAX_WR || attr->attr.max_sge > BX_STATIC - BX_HEADER)
		return -EINVAL;
	srq->size = depth(udata, attr->attr.max_wr + 1);
	srq->shift = ilog2(BX_STATIC * BX_SLOT);
	srq->max_wr = attr->attr.max_wr;
	srq->max_sge = attr->attr.max_sge;
	return map_with_toggle(srq->ib.device, &srq->buf, req[0], (u64)srq->size << srq->shift, &srq->toggle, udata);
}

static int reply_srq(struct ts_srq *srq, struct ib_udata *udata)
{
	struct {
		u32 srqid, rsvd;
		u64 comp_mask;
	} resp = { .srqid = srq->srqn, .comp_mask = !!srq->toggle };

	return respond(udata, &resp, sizeof(resp));
}

/* The limit holds from its doorbell on. */
static int modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		      struct ib_udata *udata)
{
	struct ts_srq *srq = to_ts_srq(ib);

	if (mask & IB_SRQ_MAX_WR || attr->srq_limit > srq->max_wr)
		return -EINVAL;
	mutex_lock(&ts_lock);
	srq->limit = 0;
	srq->unarmed = attr->srq_limit;
	mutex_unlock(&ts_lock);
	return 0;
}

/* Sizes of a queue pair's rings. */
struct request {
	u64 sq, rq, handle, comp_mask;
	u32 slots, npsn;
};

/* Lays out the send queue and its table of packet numbers. Returns the bytes. */
static u64 lay_out_sends(struct ts_qp *qp, const struct ib_qp_cap *cap, const struct request *req,
			 struct ib_udata *udata)
{
	u32 requests = depth(udata, cap->max_send_wr + 1 + BX_RESERVED), slots = requests * BX_STATIC;
	bool sizes = context_of(udata)->variable;
	u64 entries = requests;

	qp->sq_size = requests;
	qp->sq_stride = BX_STATIC;
	if (sizes) {
		slots = req->slots;
		if (!ts_expect(slots && slots <= MAX_RING && !(slots % VARIABLE_ALIGN) && slots >= 2 * requests,
			       "send queue of %u slots for %u requests", slots, requests))
			return 0;
		qp->sq_size = slots;
		qp->sq_stride = 1;
		entries = slots;
	}
	if (!ts_expect(qp->sq_size <= MAX_RING, "send queue of %u entries", qp->sq_size))
		return 0;
	if (qp->ib.qp_type != IB_QPT_RC)
		return (u64)slots * BX_SLOT;
	if (bx_gen >= 7) {
		qp->bx.messages = roundup_pow_of_two(entries) / (sizes ? 2 : 1);
		return (u64)slots * BX_SLOT + qp->bx.messages * 8;
	}
	return (u64)slots * BX_SLOT + entries * (bx_gen >= 5 ? 16 : 8);
}

static int init_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	u32 sges = context_of(udata)->variable ? 13 : BX_STATIC - BX_HEADER;
	struct ib_qp_cap *cap = &attr->cap;
	struct request req = {};
	u64 bytes;
	int err;

	if (attr->qp_type != IB_QPT_RC && attr->qp_type != IB_QPT_UD)
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (!ts_expect(cap->max_send_sge <= sges && cap->max_recv_sge <= sges && cap->max_inline_data <= sges * BX_SLOT &&
		       cap->max_send_wr <= MAX_WR && cap->max_recv_wr <= MAX_WR, "QP of %u and %u requests, %u and %u segments, %u bytes",
		       cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge, cap->max_recv_sge, cap->max_inline_data))
		return -EINVAL;
	bytes = lay_out_sends(qp, cap, &req, udata);
	if (!bytes)
		return -EINVAL;
	err = map_ring(qp->ib.device, &qp->buf, req.sq, bytes);
	if (err)
		return err;
	qp->sq = qp->buf.p;
	qp->context = req.handle;
	if (attr->qp_type == IB_QPT_RC)
		qp->bx.table = qp->sq + (size_t)qp->sq_size * qp->sq_stride * BX_SLOT;
	if (attr->srq)
		return 0;
	qp->rq_size = depth(udata, cap->max_recv_wr + 1);
	qp->rq_shift = context_of(udata)->variable ? BX_HEADER + cap->max_recv_sge : BX_STATIC;
	err = map_ring(qp->ib.device, &qp->rq_mem, req.rq, (u64)qp->rq_size * qp->rq_shift * BX_SLOT);
	qp->rq = qp->rq_mem.p;
	if (err)
		ts_unmap(&qp->buf);
	return err;
}

static int reply_qp(struct ts_qp *qp, struct ib_udata *udata)
{
	struct bnxt_re_qp_resp resp = { .qpid = qp->ib.qp_num };

	return respond(udata, &resp, sizeof(resp));
}

static int modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct ts_qp *qp = to_ts_qp(ib);
	int err = ts_modify_qp(ib, attr, mask, udata);

	if (err || ib->qp_type == IB_QPT_GSI)
		return err;
	mutex_lock(&ts_lock);
	if (mask & IB_QP_SQ_PSN)
		qp->bx.psn = attr->sq_psn & 0xffffff;
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET) {	/* rounds continue */
		qp->bx.sq_at = qp->bx.sq_end = qp->bx.rq_at = qp->bx.rq_end = 0;
		qp->bx.seen = qp->bx.done = qp->bx.message = 0;
		qp->flushed = 0;
	}
	mutex_unlock(&ts_lock);
	return 0;
}

/* The number of an address handle is in the shared page. */
static int create_user_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	int err = ts_init_ah(ib, init);

	if (!err)
		*(u32 *)(page_address(context_of(udata)->shared) + AVID_OFFSET) = container_of(ib, struct ts_ah, ib)->id;
	return err;
}

static void query_device(struct ib_device_attr *a)
{
	a->fw_ver = 1ULL << 24 | 8 << 16 | 231;	/* bytes: 231.0.8.1 */
	a->vendor_id = 0x14e4;			/* Broadcom */
	a->vendor_part_id = bx_gen >= 7 ? 0x1760 : bx_gen == 5 ? 0x1750 : 0x16d7;
	a->device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_CURR_QP_STATE_MOD;
	a->max_mw = 0;
	a->max_qp = 1 << 16;
	a->max_qp_wr = MAX_WR;
	a->max_send_sge = variable ? 13 : BX_STATIC - BX_HEADER;
	a->max_recv_sge = a->max_send_sge;
	a->max_sge_rd = a->max_send_sge;
	a->max_cqe = MAX_CQE;
	a->atomic_cap = IB_ATOMIC_GLOB;
	a->max_srq = 1 << 10;
	a->max_srq_wr = MAX_WR;
	a->max_srq_sge = BX_STATIC - BX_HEADER;
}

static const struct ib_device_ops ops = {
	.driver_id = RDMA_DRIVER_BNXT_RE,
	.uverbs_abi_ver = BNXT_RE_ABI_VERSION,
	.alloc_ucontext = alloc_ucontext,
	.create_ah = ts_create_ah,
	.create_user_ah = create_user_ah,
	.dealloc_ucontext = dealloc_ucontext,
	.destroy_ah = ts_destroy_ah,
	.disassociate_ucontext = disassociate_ucontext,
	.mmap = map_pages,
	.modify_qp = modify_qp,
	.modify_srq = modify_srq,
	.poll_cq = poll_cq,
	.resize_cq = resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, ts_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, bx_ucontext, base.ib),
};

const struct ts_abi ts_bnxt = {
	.name = "bnxt_re%d",
	.ops = &ops,
	.definitions = bx_definitions,
	.query_device = query_device,
	.reply_pd = reply_pd,
	.init_cq = init_cq,
	.reply_cq = reply_cq,
	.init_srq = init_srq,
	.reply_srq = reply_srq,
	.init_qp = init_qp,
	.reply_qp = reply_qp,
	.next_send = bx_next_send,
	.receive_waits = bx_receive_waits,
	.srq_waits = bx_srq_waits,
	.take_receive = bx_take_receive,
	.take_srq = bx_take_srq,
	.srq_left = bx_srq_left,
	.complete = bx_complete,
	.check_arm = ts_check_arm,
	.bell = bx_bell,
};
