// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The driver's part of the commands of mlx5, <rdma/mlx5-abi.h>. */
#include <linux/etherdevice.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5-abi.h>
#include "engine.h"

#define BF_REG_SIZE	512
#define MAX_SQ_DESC	1024
#define MAX_RQ_DESC	512
#define MAX_WQEBB	32768
#define MAX_SRQ_WR	32767
#define BB		64
#define NEVER_ARMED	0xffffffffU
#define CQE_INVALID	0xf0

static int map_db(struct ib_device *dev, struct ts_mem *m, __be32 **db, u64 addr)
{
	int err;

	if (addr & 7)
		return -EINVAL;
	err = ts_map(dev, m, addr, 8, IB_ACCESS_LOCAL_WRITE);
	*db = m->p;
	return err;
}

static int alloc_ucontext(struct ib_ucontext *uc, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {};
	struct mlx5_ib_alloc_ucontext_resp resp = {};
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (req.comp_mask || req.reserved0 || req.reserved1 || req.reserved2 ||
	    !req.total_num_bfregs || req.num_low_latency_bfregs > req.total_num_bfregs - 1)
		return -EINVAL;
	if (!(req.lib_caps & MLX5_LIB_CAP_DYN_UAR) || req.max_cqe_version < 1)
		return -EOPNOTSUPP;
	resp.qp_tab_size = 1 << 18;
	resp.bf_reg_size = BF_REG_SIZE;
	resp.cache_line_size = 64;
	resp.max_sq_desc_sz = MAX_SQ_DESC;
	resp.max_rq_desc_sz = MAX_RQ_DESC;
	resp.max_send_wqebb = MAX_WQEBB;
	resp.max_recv_wr = 32768;
	resp.max_srq_recv_wr = MAX_SRQ_WR;
	resp.num_ports = 1;
	resp.cqe_version = 1;
	resp.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE |
			     MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
	resp.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
	resp.log_uar_size = 12;
	resp.num_uars_per_page = 1;
	resp.num_dyn_bfregs = 512;
	resp.response_length = min(sizeof(resp), udata->outlen);
	return ib_copy_to_udata(udata, &resp, resp.response_length);
}

static void dealloc_ucontext(struct ib_ucontext *uc)
{
}

/* The device may be removed while files are open: the core destroys their objects. */
static void disassociate_ucontext(struct ib_ucontext *uc)
{
}

int mlx5_reply_pd(struct ts_pd *pd, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_pd_resp resp = { .pdn = pd->pdn };

	/* As the driver: without room for the response, this is -EFAULT. */
	return udata ? ib_copy_to_udata(udata, &resp, sizeof(resp)) : 0;
}

/* Checks that no entry of a new buffer can be taken for a completion. */
static void check_owners(struct ts_cq *cq, const struct ts_mem *buf, u32 size)
{
	u32 i;

	for (i = 0; i < size; i++) {
		const u8 *cqe = buf->p + (size_t)(i + 1) * cq->cqe_size;

		if (!ts_expect((cqe[-1] & CQE_INVALID) == CQE_INVALID,
			       "CQ: entry %u of a new buffer has opcode %#x", i, cqe[-1] >> 4))
			return;
	}
}

int mlx5_init_cq(struct ts_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	struct mlx5_ib_create_cq req = {};
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if ((req.cqe_size != 64 && req.cqe_size != 128) || req.cqe_comp_en ||
	    req.cqe_comp_res_format || req.flags != MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX ||
	    req.reserved0 || req.reserved1 || !mlx5_uar_exists(req.uar_page_index))
		return -EINVAL;
	cq->size = roundup_pow_of_two(attr->cqe + 1);
	cq->ib.cqe = cq->size - 1;
	cq->cqe_size = req.cqe_size;
	err = ts_map(cq->ib.device, &cq->buf, req.buf_addr, (u64)cq->size * cq->cqe_size,
		     IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	err = map_db(cq->ib.device, &cq->db_mem, &cq->db, req.db_addr);
	if (err) {
		ts_unmap(&cq->buf);
		return err;
	}
	if (ts_strict) {
		check_owners(cq, &cq->buf, cq->size);
		ts_expect(!cq->db[0] && !cq->db[1], "CQ: doorbell record %8ph", cq->db);
	}
	/* The first word that arms a queue may be 0, and so is what is there. */
	cq->seen = NEVER_ARMED;
	cq->db[1] = cpu_to_be32(NEVER_ARMED);
	return 0;
}

int mlx5_reply_cq(struct ts_cq *cq, struct ib_udata *udata)
{
	struct mlx5_ib_create_cq_resp resp = { .cqn = cq->cqn };

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

int mlx5_resize_cq(struct ts_cq *cq, u32 size, struct ib_udata *udata)
{
	struct mlx5_ib_resize_cq req = {};
	struct ts_mem buf;
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (req.reserved0 || req.reserved1 || req.cqe_size != cq->cqe_size)
		return -EINVAL;
	err = ts_map(cq->ib.device, &buf, req.buf_addr, (u64)size * cq->cqe_size,
		     IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	mutex_lock(&ts_lock);
	if (ts_strict)
		check_owners(cq, &buf, size);
	if (cq->overrun || mlx5_filled(cq) + 1 >= min(size, cq->size)) {
		err = -EBUSY;	/* no room for the mark, or for the entries behind it */
	} else {
		mlx5_put_mark(cq);	/* the last one in the old buffer */
		swap(cq->buf, buf);
		cq->size = size;
		cq->ib.cqe = size - 1;
	}
	mutex_unlock(&ts_lock);
	ts_unmap(&buf);
	return err;
}

int mlx5_init_srq(struct ts_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct mlx5_ib_create_srq req = {};
	int err;

	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if (req.flags || req.reserved0 || req.reserved1 || req.uidx >> 24 ||
	    attr->attr.max_wr > MAX_SRQ_WR || attr->attr.max_sge > MAX_RQ_DESC / 16 - 1)
		return -EINVAL;
	srq->uidx = req.uidx;
	srq->size = roundup_pow_of_two(attr->attr.max_wr + 1);
	srq->shift = ilog2(max(32UL, roundup_pow_of_two(16 + 16 * attr->attr.max_sge)));
	err = ts_map(srq->ib.device, &srq->buf, req.buf_addr, (u64)srq->size << srq->shift,
		     IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	err = map_db(srq->ib.device, &srq->db_mem, &srq->db, req.db_addr);
	if (err) {
		ts_unmap(&srq->buf);
		return err;
	}
	if (ts_strict)
		ts_expect(!srq->db[0], "SRQ: doorbell record %8ph", srq->db);
	srq->max_sge = (1 << srq->shift) / 16 - 1;
	srq->max_wr = attr->attr.max_wr = srq->size - 1;
	return 0;
}

int mlx5_reply_srq(struct ts_srq *srq, struct ib_udata *udata)
{
	struct mlx5_ib_create_srq_resp resp = { .srqn = srq->srqn };

	return ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

int mlx5_init_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct mlx5_ib_create_qp req = {};
	u64 rq_bytes, bytes;
	int err;

	if (!udata)
		return 0;
	err = ib_copy_from_udata(&req, udata, min(sizeof(req), udata->inlen));
	if (err)
		return err;
	if ((req.flags & ~MLX5_QP_FLAG_SCATTER_CQE) != MLX5_QP_FLAG_UAR_PAGE_INDEX ||
	    !mlx5_uar_exists(req.bfreg_index) || req.sq_buf_addr)
		return -EINVAL;
	if (req.sq_wqe_count > MAX_WQEBB || req.rq_wqe_count > 32768 || req.rq_wqe_shift > 9 ||
	    (req.sq_wqe_count && !is_power_of_2(req.sq_wqe_count)) ||
	    (req.rq_wqe_count && !is_power_of_2(req.rq_wqe_count)) ||
	    (attr->srq && req.rq_wqe_count) || req.uidx >> 24)
		return -EINVAL;
	if (ts_is_xrc(qp) && req.rq_wqe_count)
		return -EINVAL;
	if (attr->qp_type == IB_QPT_XRC_TGT) {	/* the adapter alone uses it */
		if (req.sq_wqe_count)
			return -EINVAL;
		qp->uar = req.bfreg_index;
		return 0;
	}
	qp->sq_size = req.sq_wqe_count;
	qp->rq_size = req.rq_wqe_count;
	qp->rq_shift = req.rq_wqe_shift;
	qp->uidx = req.uidx;
	qp->uar = req.bfreg_index;
	rq_bytes = (u64)qp->rq_size << qp->rq_shift;
	bytes = rq_bytes + (u64)qp->sq_size * BB;
	if (!bytes)
		return -EINVAL;
	err = ts_map(qp->ib.device, &qp->buf, req.buf_addr, bytes, IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	qp->rq = qp->buf.p;
	qp->sq = qp->buf.p + rq_bytes;
	err = map_db(qp->ib.device, &qp->db_mem, &qp->db, req.db_addr);
	if (err) {
		ts_unmap(&qp->buf);
		return err;
	}
	if (ts_strict)
		ts_expect(!qp->db[0] && !qp->db[1], "QP: doorbell record %8ph", qp->db);
	return 0;
}

int mlx5_reply_qp(struct ts_qp *qp, struct ib_udata *udata)
{
	struct mlx5_ib_create_qp_resp resp = { .bfreg_index = qp->uar };

	return !udata ? 0 : ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
}

static int create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct mlx5_ib_create_ah_resp resp = {};

	if (!udata || init->ah_attr->type != RDMA_AH_ATTR_TYPE_ROCE)
		return 0;
	resp.response_length = min(sizeof(resp), udata->outlen);
	memcpy(resp.dmac, init->ah_attr->roce.dmac, ETH_ALEN);
	return ib_copy_to_udata(udata, &resp, resp.response_length);
}

static int destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}

int mlx5_reply_device(struct ib_udata *udata)
{
	struct mlx5_ib_query_device_resp resp = {};

	if (!udata || !udata->outlen)
		return 0;
	resp.tso_caps.max_tso = 1 << 18;
	resp.tso_caps.supported_qpts = BIT(IB_QPT_UD) | BIT(IB_QPT_RAW_PACKET);
	resp.rss_caps.rx_hash_fields_mask = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4 |
					    MLX5_RX_HASH_INNER;
	resp.rss_caps.rx_hash_function = MLX5_RX_HASH_FUNC_TOEPLITZ;
	resp.packet_pacing_caps.qp_rate_limit_min = 1;
	resp.packet_pacing_caps.qp_rate_limit_max = 100000000;
	resp.packet_pacing_caps.supported_qpts = BIT(IB_QPT_RAW_PACKET) | BIT(IB_QPT_RC);
	resp.response_length = min(sizeof(resp), udata->outlen);
	return ib_copy_to_udata(udata, &resp, resp.response_length);
}

const struct ib_device_ops mlx5_ops = {
	.driver_id = RDMA_DRIVER_MLX5,
	.uverbs_abi_ver = MLX5_IB_UVERBS_ABI_VERSION,

	.alloc_mw = ts_alloc_mw,
	.alloc_ucontext = alloc_ucontext,
	.create_ah = create_ah,
	.create_user_ah = create_ah,
	.dealloc_mw = ts_dealloc_mw,
	.dealloc_ucontext = dealloc_ucontext,
	.destroy_ah = destroy_ah,
	.disassociate_ucontext = disassociate_ucontext,
	.mmap = mlx5_mmap,
	.mmap_free = mlx5_mmap_free,

	INIT_RDMA_OBJ_SIZE(ib_ah, ts_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, ts_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ts_ucontext, ib),
};
