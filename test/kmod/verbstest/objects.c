// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The objects of verbs. */
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include "engine.h"

static u32 next_qpn, next_cqn, next_srqn, last_pdn;

static int alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct ts_pd *pd = to_ts_pd(ib);

	mutex_lock(&ts_lock);
	pd->pdn = ++last_pdn;
	mutex_unlock(&ts_lock);
	return ts_abi->reply_pd(pd, udata);
}

static int dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	return 0;
}

static int alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	return 0;
}

static void forget(struct xarray *xa, u32 id)
{
	mutex_lock(&ts_lock);
	xa_erase(xa, id);
	mutex_unlock(&ts_lock);
}

static void free_cq(struct ts_cq *cq)
{
	ts_unmap(&cq->db_mem);
	ts_unmap(&cq->buf);
	free_page((unsigned long)cq->toggle);
}

static int create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr, struct ts_attrs *attrs)
{
	struct ib_udata *udata = ts_udata(attrs);
	struct ts_cq *cq = to_ts_cq(ib);
	int err;

	if (!udata && ts_cm) {
		ts_gsi_init_cq(cq);
		return 0;
	}
	if (!udata || attr->flags)
		return -EOPNOTSUPP;
	err = ts_abi->init_cq(cq, attr, udata);
	if (err)
		return err;
	mutex_lock(&ts_lock);
	err = ts_give_id(&ts_cqs, &cq->cqn, cq, 0x80, 0xffffff, &next_cqn);
	mutex_unlock(&ts_lock);
	if (!err) {
		/* Not under the lock: it may fault, and so wait for the address space. */
		err = ts_abi->reply_cq(cq, udata);
		if (!err)
			return 0;
		forget(&ts_cqs, cq->cqn);
	}
	free_cq(cq);
	return err;
}

static int destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct ts_cq *cq = to_ts_cq(ib);

	if (cq->kernel) {
		ts_gsi_free_cq(cq);
		return 0;
	}
	forget(&ts_cqs, cq->cqn);
	pr_info("verbstest: CQ %#x: %u completions, armed %llu times, %llu doorbells, %llu events\n",
		cq->cqn, cq->pi, cq->arms, cq->bells, cq->events);
	free_cq(cq);
	return 0;
}

static int resize_cq(struct ib_cq *ib, int cqe, struct ib_udata *udata)
{
	if (!ts_abi->resize_cq)
		return -EOPNOTSUPP;
	if (cqe < 1 || cqe >= 1 << 22)
		return -EINVAL;
	return ts_abi->resize_cq(to_ts_cq(ib), roundup_pow_of_two(cqe + 1), udata);
}

static int modify_cq(struct ib_cq *ib, u16 count, u16 period)
{
	struct ts_cq *cq = to_ts_cq(ib);

	mutex_lock(&ts_lock);
	cq->moderate_count = count;
	cq->moderate_us = period;
	mutex_unlock(&ts_lock);
	return 0;
}

static void free_srq(struct ts_srq *srq)
{
	ts_unmap(&srq->db_mem);
	ts_unmap(&srq->buf);
	free_page((unsigned long)srq->toggle);
}

static int create_srq(struct ib_srq *ib, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct ts_srq *srq = to_ts_srq(ib);
	int err;

	if (!udata || (attr->srq_type != IB_SRQT_BASIC && attr->srq_type != IB_SRQT_XRC))
		return -EOPNOTSUPP;
	err = ts_abi->init_srq(srq, attr, udata);
	if (err)
		return err;
	srq->limit = attr->attr.srq_limit;
	mutex_lock(&ts_lock);
	err = ts_give_id(&ts_srqs, &srq->srqn, srq, 0x40, 0xffffff, &next_srqn);
	mutex_unlock(&ts_lock);
	if (!err) {
		ib->ext.xrc.srq_num = srq->srqn;
		err = ts_abi->reply_srq(srq, udata);
		if (!err)
			return 0;
		forget(&ts_srqs, srq->srqn);
	}
	free_srq(srq);
	return err;
}

static int modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		      struct ib_udata *udata)
{
	struct ts_srq *srq = to_ts_srq(ib);

	if (mask & IB_SRQ_MAX_WR)	/* as the driver does */
		return -EINVAL;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->max_wr)
		return -EINVAL;
	mutex_lock(&ts_lock);
	srq->limit = attr->srq_limit;
	mutex_unlock(&ts_lock);
	return 0;
}

static int query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	attr->max_wr = to_ts_srq(ib)->max_wr;
	attr->max_sge = to_ts_srq(ib)->max_sge;
	attr->srq_limit = to_ts_srq(ib)->limit;
	return 0;
}

static int destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct ts_srq *srq = to_ts_srq(ib);

	forget(&ts_srqs, srq->srqn);
	free_srq(srq);
	return 0;
}

static void free_qp(struct ts_qp *qp)
{
	ts_unmap(&qp->db_mem);
	ts_unmap(&qp->rq_mem);
	ts_unmap(&qp->buf);
}

static void forget_qp(struct ts_qp *qp)
{
	mutex_lock(&ts_lock);
	xa_erase(&ts_qps, qp->ib.qp_num);
	ts_queues--;
	mutex_unlock(&ts_lock);
}

static int create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct ts_qp *qp = to_ts_qp(ib);
	int err;

	if (!udata && attr->qp_type == IB_QPT_GSI && ts_cm)
		return ts_gsi_create_qp(qp, attr);
	/* The core passes no driver data for targets of XRC, which outlive processes. */
	if ((!udata && attr->qp_type != IB_QPT_XRC_TGT) || attr->create_flags)
		return -EOPNOTSUPP;
	switch (attr->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_XRC_INI:
	case IB_QPT_DRIVER:
		break;
	case IB_QPT_XRC_TGT:
		qp->xrcd = attr->xrcd;
		break;
	default:
		return -EOPNOTSUPP;
	}
	err = ts_abi->init_qp(qp, attr, udata);
	if (err)
		return err;
	ts_iw_init_qp(qp);
	qp->cap = attr->cap;
	qp->attr.qp_state = IB_QPS_RESET;
	mutex_lock(&ts_lock);
	err = ts_give_id(&ts_qps, &ib->qp_num, qp, 0x100, 0xfffffe, &next_qpn);
	if (!err)
		ts_queues++;
	mutex_unlock(&ts_lock);
	if (!err) {
		err = ts_abi->reply_qp(qp, udata);
		if (!err) {
			wake_up(&ts_idle);
			return 0;
		}
		forget_qp(qp);
	}
	free_qp(qp);
	return err;
}

static int destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct ts_qp *qp = to_ts_qp(ib);

	if (ib->qp_type == IB_QPT_GSI) {
		ts_gsi_destroy_qp(qp);
		return 0;
	}
	forget_qp(qp);
	ts_iw_destroy_qp(qp);
	pr_info("verbstest: QP %#x: %llu requests, %llu doorbells, %llu passes without\n",
		ib->qp_num, qp->wqes, qp->bells, qp->stalls);
	free_qp(qp);
	return 0;
}

int ts_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct ts_qp *qp = to_ts_qp(ib);
	enum ib_qp_state from, to;
	int err = 0;

	mutex_lock(&ts_lock);
	from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->attr.qp_state;
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	/* SRD has the states of UD, and a count of retries (srd_qp_state_table of efa). */
	if (!(ib->qp_type == IB_QPT_DRIVER ?
	      ib_modify_qp_is_ok(from, to, IB_QPT_UD, mask & ~IB_QP_RNR_RETRY) :
	      ib_modify_qp_is_ok(from, to, ib->qp_type, mask))) {
		err = -EINVAL;
		goto out;
	}
#define TAKE(bit, field) do { if (mask & (bit)) qp->attr.field = attr->field; } while (0)
	TAKE(IB_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IB_QP_PKEY_INDEX, pkey_index);
	TAKE(IB_QP_PORT, port_num);
	TAKE(IB_QP_QKEY, qkey);
	TAKE(IB_QP_PATH_MTU, path_mtu);
	TAKE(IB_QP_TIMEOUT, timeout);
	TAKE(IB_QP_RETRY_CNT, retry_cnt);
	TAKE(IB_QP_RNR_RETRY, rnr_retry);
	TAKE(IB_QP_RQ_PSN, rq_psn);
	TAKE(IB_QP_SQ_PSN, sq_psn);
	TAKE(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IB_QP_DEST_QPN, dest_qp_num);
#undef TAKE
	if (mask & IB_QP_AV && attr->ah_attr.type == RDMA_AH_ATTR_TYPE_IB)
		qp->dlid = rdma_ah_get_dlid(&attr->ah_attr);
	qp->attr.qp_state = to;
	if (to == IB_QPS_RESET) {
		qp->sq_ci = qp->rq_ci = qp->sq_limit = qp->rq_limit = 0;
		qp->since = 0;
	}
out:
	mutex_unlock(&ts_lock);
	if (!err && ib->qp_type == IB_QPT_GSI && (to == IB_QPS_ERR || to == IB_QPS_RESET))
		ts_gsi_drain(qp, to == IB_QPS_ERR);
	return err;
}

static int query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init)
{
	struct ts_qp *qp = to_ts_qp(ib);

	*attr = qp->attr;
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->cap;
	init->cap = qp->cap;
	init->qp_type = ib->qp_type;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->srq = ib->srq;
	return 0;
}

const struct ib_device_ops ts_object_ops = {
	.alloc_pd = alloc_pd,
	.alloc_xrcd = alloc_xrcd,
	.create_cq = create_cq,
	.create_qp = create_qp,
	.create_srq = create_srq,
	.dealloc_pd = dealloc_pd,
	.dealloc_xrcd = dealloc_xrcd,
	.dereg_mr = ts_dereg_mr,
	.destroy_cq = destroy_cq,
	.destroy_qp = destroy_qp,
	.destroy_srq = destroy_srq,
	.modify_cq = modify_cq,
	.modify_qp = ts_modify_qp,
	.modify_srq = modify_srq,
	.query_qp = query_qp,
	.query_srq = query_srq,
	.reg_user_mr = ts_reg_user_mr,
	.reg_user_mr_dmabuf = ts_reg_user_mr_dmabuf,
	.resize_cq = resize_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, ts_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, ts_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, ts_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, ts_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, ts_xrcd, ib),
};
