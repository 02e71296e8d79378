// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The commands of efa, <rdma/efa-abi.h>: queue pairs for UD and SRD. The kernel has the memory
 * of all queues; the process maps it, and writes work requests to memory of the adapter.
 */
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <rdma/efa-abi.h>
#include <rdma/uverbs_ioctl.h>
#include "efa.h"

#define SUB_CQS		2	/* of a completion queue: sends, receives */
#define INLINE_MAX	32
#define MIN_SQ_WR	4
#define MAX_SQ_WR	4096
#define MAX_RQ_WR	8192
#define MAX_SGE		2
#define MAX_MSG		8192
#define MAX_RDMA	(1 << 30)

/* Offsets of the registers in their pages, and of the send queue in its memory. */
#define SQ_DB		0x40
#define RQ_DB		0x80
#define CQ_DB		0x20
#define LLQ		0x100

/* Capabilities that the header of Linux 6.1 has not. */
#define CAP_RDMA_WRITE	BIT(5)	/* EFA_QUERY_DEVICE_CAPS_RDMA_WRITE */

static bool writes;
module_param_named(efa_writes, writes, bool, 0444);
MODULE_PARM_DESC(efa_writes, "efa: the adapter has RDMA writes, with device ID 0xefa2");

/*
 * Memory for mmap: of a queue, or a page of doorbells, which are not memory if each store is to
 * be seen. The key of an area is its number and AREA_SHIFT.
 */
#define AREA_SHIFT	(PAGE_SHIFT + 16)

struct area {
	void *p;
	struct ts_qp *qp;
	struct ts_cq *cq;
};

static DEFINE_XARRAY_ALLOC(areas);
static u32 next_area;

static int new_area(struct ts_mem *m, u64 bytes, bool bells, struct ts_qp *qp, struct ts_cq *cq)
{
	struct area *a = kzalloc(sizeof(*a), GFP_KERNEL);
	int err = -ENOMEM;

	if (!a)
		return err;
	a->qp = qp;
	a->cq = cq;
	if (!bells || !ts_strict) {
		a->p = vmalloc_user(PAGE_ALIGN(bytes));
		if (!a->p)
			goto free;
	}
	mutex_lock(&ts_lock);
	err = ts_give_id(&areas, &m->area, a, 1, 0xffffff, &next_area);
	mutex_unlock(&ts_lock);
	if (err)
		goto free;
	m->p = a->p;
	return 0;
free:
	vfree(a->p);
	kfree(a);
	return err;
}

void efa_free_area(u32 id)
{
	struct area *a;

	mutex_lock(&ts_lock);
	a = xa_erase(&areas, id);
	mutex_unlock(&ts_lock);
	if (a)
		vfree(a->p);
	kfree(a);
}

static u64 key_of(const struct ts_mem *m)
{
	return (u64)m->area << AREA_SHIFT;
}

static int map_area(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	struct area *a;
	int err;

	mutex_lock(&ts_lock);
	a = xa_load(&areas, vma->vm_pgoff >> (AREA_SHIFT - PAGE_SHIFT));
	if (!a || vma->vm_pgoff & ((1UL << (AREA_SHIFT - PAGE_SHIFT)) - 1))
		err = -EINVAL;
	else if (a->p)
		err = remap_vmalloc_range(vma, a->p, 0);
	else
		err = vma->vm_end - vma->vm_start == PAGE_SIZE ? ts_trap(vma) : -EINVAL;
	mutex_unlock(&ts_lock);
	return err;
}

static void ring_bell(u64 offset, u64 value, unsigned int size)
{
	struct area *a = xa_load(&areas, offset >> AREA_SHIFT);
	u32 reg = offset & (BIT(AREA_SHIFT) - 1);

	if (!ts_expect(a && size == 4, "doorbell of %u bytes at %#llx", size, offset))
		return;
	if (a->cq && reg == CQ_DB)
		efa_ring_cq(a->cq, value);
	else if (a->qp && reg == SQ_DB)
		efa_ring_sq(a->qp, value);
	else if (a->qp && reg == RQ_DB)
		efa_ring_rq(a->qp, value);
	else
		ts_violation("doorbell %#llx at offset %#x", value, reg);
}

u32 efa_sq_posted(const struct ts_qp *qp)
{
	return ts_strict ? qp->sq_limit : READ_ONCE(*(u32 *)(qp->db_mem.p + SQ_DB));
}

u32 efa_rq_posted(const struct ts_qp *qp)
{
	return ts_strict ? qp->rq_limit : READ_ONCE(*(u32 *)(qp->db_mem.p + RQ_DB));
}

/*
 * Commands.
 */

static int alloc_ucontext(struct ib_ucontext *uc, struct ib_udata *udata)
{
	struct efa_ibv_alloc_ucontext_cmd req = {};
	struct efa_ibv_alloc_ucontext_resp resp = {
		.cmds_supp_udata_mask = EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE | EFA_USER_CMDS_SUPP_UDATA_CREATE_AH,
		.sub_cqs_per_cq = SUB_CQS, .inline_buf_size = INLINE_MAX, .max_llq_size = MAX_SQ_WR * EFA_WQE,
		.max_tx_batch = EFA_MAX_BATCH, .min_sq_wr = MIN_SQ_WR,
	};
	const u32 need = EFA_ALLOC_UCONTEXT_CMD_COMP_TX_BATCH | EFA_ALLOC_UCONTEXT_CMD_COMP_MIN_SQ_WR;
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if ((req.comp_mask & need) != need)	/* efa_user_comp_handshake of the driver */
		return -EOPNOTSUPP;
	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static void dealloc_ucontext(struct ib_ucontext *uc)
{
}

static void disassociate_ucontext(struct ib_ucontext *uc)
{
}

static int reply_pd(struct ts_pd *pd, struct ib_udata *udata)
{
	struct efa_ibv_alloc_pd_resp resp = { .pdn = pd->pdn };

	return udata ? ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen)) : 0;
}

static int init_cq(struct ts_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	struct efa_ibv_create_cq req = {};
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (!ts_expect(!req.comp_mask && is_power_of_2(attr->cqe) && req.num_sub_cqs == SUB_CQS &&
		       (req.cq_entry_size == 16 || req.cq_entry_size == 32),
		       "CQ of %u entries of %u bytes in %u parts", attr->cqe, req.cq_entry_size, req.num_sub_cqs))
		return -EINVAL;
	cq->size = attr->cqe;
	cq->cqe_size = req.cq_entry_size;
	cq->ib.cqe = cq->size;
	err = new_area(&cq->buf, (u64)cq->size * cq->cqe_size * SUB_CQS, false, NULL, NULL);
	if (!err && req.flags & EFA_CREATE_CQ_WITH_COMPLETION_CHANNEL) {
		err = new_area(&cq->db_mem, PAGE_SIZE, true, NULL, cq);
		if (err)
			ts_unmap(&cq->buf);
	}
	return err;
}

static int reply_cq(struct ts_cq *cq, struct ib_udata *udata)
{
	struct efa_ibv_create_cq_resp resp = {
		.q_mmap_key = key_of(&cq->buf), .cq_idx = cq->cqn,
		.q_mmap_size = PAGE_ALIGN((u64)cq->size * cq->cqe_size * SUB_CQS),
	};

	if (cq->db_mem.area) {
		resp.comp_mask = EFA_CREATE_CQ_RESP_DB_OFF;
		resp.db_off = CQ_DB;
		resp.db_mmap_key = key_of(&cq->db_mem);
	}
	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static int init_srq(struct ts_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

static int init_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &attr->cap;
	struct efa_ibv_create_qp req = {};
	int err;

	if ((attr->qp_type != IB_QPT_UD && attr->qp_type != IB_QPT_DRIVER) || attr->srq)
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (req.driver_qp_type != EFA_QP_DRIVER_TYPE_SRD)
		return -EOPNOTSUPP;
	qp->sq_size = req.sq_ring_size / EFA_WQE;
	qp->rq_size = req.rq_ring_size / EFA_RQE;
	if (cap->max_send_wr > MAX_SQ_WR || cap->max_recv_wr > MAX_RQ_WR || cap->max_send_sge > MAX_SGE ||
	    cap->max_recv_sge > MAX_SGE || cap->max_inline_data > INLINE_MAX)
		return -EINVAL;
	if (!ts_expect(!req.comp_mask && is_power_of_2(qp->sq_size) && qp->sq_size >= MIN_SQ_WR &&
		       qp->sq_size * EFA_WQE == req.sq_ring_size && cap->max_send_wr <= qp->sq_size,
		       "send queue of %u bytes for %u requests", req.sq_ring_size, cap->max_send_wr))
		return -EINVAL;
	if (!ts_expect(!qp->rq_size || (is_power_of_2(qp->rq_size) && qp->rq_size * EFA_RQE == req.rq_ring_size &&
					cap->max_recv_wr * cap->max_recv_sge <= qp->rq_size),
		       "receive queue of %u bytes for %u requests", req.rq_ring_size, cap->max_recv_wr))
		return -EINVAL;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->attr.rnr_retry = 7;
	err = new_area(&qp->buf, LLQ + req.sq_ring_size, false, NULL, NULL);
	if (!err && qp->rq_size)
		err = new_area(&qp->rq_mem, req.rq_ring_size, false, NULL, NULL);
	if (!err)
		err = new_area(&qp->db_mem, PAGE_SIZE, true, qp, NULL);
	if (err) {
		ts_unmap(&qp->buf);
		ts_unmap(&qp->rq_mem);
		return err;
	}
	qp->sq = qp->buf.p + LLQ;
	qp->rq = qp->rq_mem.p;
	return 0;
}

static int reply_qp(struct ts_qp *qp, struct ib_udata *udata)
{
	struct efa_ibv_create_qp_resp resp = {
		.rq_db_offset = RQ_DB, .sq_db_offset = SQ_DB, .llq_desc_offset = LLQ,
		.rq_mmap_size = PAGE_ALIGN(qp->rq_size * EFA_RQE),
		.sq_db_mmap_key = key_of(&qp->db_mem), .llq_desc_mmap_key = key_of(&qp->buf),
		.send_sub_cq_idx = EFA_SEND, .recv_sub_cq_idx = EFA_RECV,
	};

	if (qp->rq_size) {
		resp.rq_mmap_key = key_of(&qp->rq_mem);
		resp.rq_db_mmap_key = key_of(&qp->db_mem);
	}
	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static int create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct efa_ibv_create_ah_resp resp = {};
	int err;

	if (!udata)
		return -EINVAL;
	err = ts_init_ah(ib, init);
	if (err)
		return err;
	resp.efa_address_handle = container_of(ib, struct ts_ah, ib)->id;
	err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
	if (err)
		ts_destroy_ah(ib, 0);
	return err;
}

static void query_device(struct ib_device_attr *a)
{
	a->fw_ver = 0;
	a->vendor_id = 0x1d0f;		/* Amazon */
	a->vendor_part_id = writes ? 0xefa2 : 0xefa1;	/* the latest that perftest 4.5 knows */
	a->device_cap_flags = 0;
	a->timestamp_mask = 0;
	a->hca_core_clock = 0;
	memset(&a->cq_caps, 0, sizeof(a->cq_caps));
	a->atomic_cap = IB_ATOMIC_NONE;
	a->max_mw = 0;
	a->max_qp = 4096;
	a->max_qp_wr = MAX_SQ_WR;
	a->max_send_sge = MAX_SGE;
	a->max_recv_sge = MAX_SGE;
	a->max_sge_rd = 1;
	a->max_cqe = 1 << 15;
	a->max_srq = 0;
	a->max_srq_wr = 0;
	a->max_srq_sge = 0;
	a->max_ah = 0xfffe;
	a->max_qp_rd_atom = 0;
	a->max_qp_init_rd_atom = 0;
	a->max_res_rd_atom = 0;
	a->max_pkeys = 1;
}

static int reply_device(struct ib_udata *udata)
{
	struct efa_ibv_ex_query_device_resp resp = {
		.max_sq_wr = MAX_SQ_WR, .max_rq_wr = MAX_RQ_WR, .max_sq_sge = MAX_SGE, .max_rq_sge = MAX_SGE,
		.max_rdma_size = MAX_RDMA,
		.device_caps = EFA_QUERY_DEVICE_CAPS_RDMA_READ | EFA_QUERY_DEVICE_CAPS_RNR_RETRY |
			       EFA_QUERY_DEVICE_CAPS_CQ_NOTIFICATIONS | (writes ? CAP_RDMA_WRITE : 0),
	};

	return udata && udata->outlen ? ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen)) : 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *a)
{
	a->lmc = 1;
	a->state = IB_PORT_ACTIVE;
	a->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	a->gid_tbl_len = 1;
	a->pkey_tbl_len = 1;
	a->active_speed = IB_SPEED_EDR;
	a->active_width = IB_WIDTH_4X;
	a->max_mtu = IB_MTU_4096;
	a->active_mtu = IB_MTU_4096;
	a->max_msg_sz = MAX_MSG;
	a->max_vl_num = 1;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *i)
{
	i->gid_tbl_len = 1;
	i->pkey_tbl_len = 1;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_UNSPECIFIED;
}

static const struct ib_device_ops ops = {
	.driver_id = RDMA_DRIVER_EFA,
	.uverbs_abi_ver = EFA_UVERBS_ABI_VERSION,
	.alloc_ucontext = alloc_ucontext,
	.create_ah = create_ah,
	.create_user_ah = create_ah,
	.dealloc_ucontext = dealloc_ucontext,
	.destroy_ah = ts_destroy_ah,
	.disassociate_ucontext = disassociate_ucontext,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.mmap = map_area,
	.query_port = query_port,

	INIT_RDMA_OBJ_SIZE(ib_ah, ts_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ts_ucontext, ib),
};

const struct ts_abi ts_efa = {
	.name = "efa_%d",
	.node_type = RDMA_NODE_UNSPECIFIED,
	.ops = &ops,
	.query_device = query_device,
	.reply_device = reply_device,
	.reply_pd = reply_pd,
	.init_cq = init_cq,
	.reply_cq = reply_cq,
	.init_srq = init_srq,
	.init_qp = init_qp,
	.reply_qp = reply_qp,
	.next_send = efa_next_send,
	.receive_waits = efa_receive_waits,
	.take_receive = efa_take_receive,
	.complete = efa_complete,
	.check_arm = efa_check_arm,
	.bell = ring_bell,
};
