// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Queue pair 1 of RoCE ports, for the connection manager. Only the kernel uses it. Its
 * datagrams do not pass the engine: a send copies them to a receive request of the device
 * that has the destination GID, and completes at once.
 */
#include <linux/ip.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "engine.h"

/* Protects everything here. The MAD layer sends in interrupt context. */
static DEFINE_SPINLOCK(lock);

static struct ts_dev *ports[TS_MAX_DEVICES];

struct receive {
	struct list_head list;
	u64 wr_id;
	struct ib_sge sge;
};

struct completion_entry {
	struct list_head list;
	struct ib_wc wc;
};

static struct ts_ah *to_ts_ah(struct ib_ah *ib)
{
	return container_of(ib, struct ts_ah, ib);
}

void ts_gsi_init_cq(struct ts_cq *cq)
{
	INIT_LIST_HEAD(&cq->done);
	cq->kernel = true;
}

void ts_gsi_free_cq(struct ts_cq *cq)
{
	struct completion_entry *e, *next;

	list_for_each_entry_safe(e, next, &cq->done, list)
		kfree(e);
}

/* Adds a completion. Called with the lock held. */
static void push(struct ib_cq *ib, const struct ib_wc *wc)
{
	struct ts_cq *cq = to_ts_cq(ib);
	struct completion_entry *e = kmalloc(sizeof(*e), GFP_ATOMIC);

	if (!e)
		return;
	e->wc = *wc;
	list_add_tail(&e->list, &cq->done);
	if (cq->armed) {
		cq->armed = false;
		ib->comp_handler(ib, ib->cq_context);	/* only queues work */
	}
}

static int poll_cq(struct ib_cq *ib, int max, struct ib_wc *wc)
{
	struct ts_cq *cq = to_ts_cq(ib);
	unsigned long flags;
	int n;

	if (!cq->kernel)
		return 0;
	spin_lock_irqsave(&lock, flags);
	for (n = 0; n < max && !list_empty(&cq->done); n++) {
		struct completion_entry *e = list_first_entry(&cq->done, struct completion_entry, list);

		list_del(&e->list);
		wc[n] = e->wc;
		kfree(e);
	}
	spin_unlock_irqrestore(&lock, flags);
	return n;
}

static int req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct ts_cq *cq = to_ts_cq(ib);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&lock, flags);
	cq->armed = true;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && !list_empty(&cq->done);
	spin_unlock_irqrestore(&lock, flags);
	return missed;
}

int ts_gsi_create_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr)
{
	struct ts_dev *dev = to_ts_dev(qp->ib.device);
	unsigned long flags;
	unsigned int i;

	if (!dev->ndev)
		return -EOPNOTSUPP;
	qp->ib.qp_num = 1;
	qp->cap = attr->cap;
	qp->sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->attr.qp_state = IB_QPS_RESET;
	INIT_LIST_HEAD(&qp->receives);
	spin_lock_irqsave(&lock, flags);
	dev->gsi = qp;
	for (i = 0; i < TS_MAX_DEVICES; i++)
		if (!ports[i]) {
			ports[i] = dev;
			break;
		}
	spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static void flush(struct ts_qp *qp, struct ib_cq *cq, u64 wr_id)
{
	struct ib_wc wc = { .wr_id = wr_id, .status = IB_WC_WR_FLUSH_ERR, .qp = &qp->ib };

	push(cq, &wc);
}

/* Completes the receive requests of a queue pair in the state ERR, or drops them. */
void ts_gsi_drain(struct ts_qp *qp, bool complete)
{
	struct receive *r, *next;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	list_for_each_entry_safe(r, next, &qp->receives, list) {
		if (complete)
			flush(qp, qp->ib.recv_cq, r->wr_id);
		list_del(&r->list);
		kfree(r);
	}
	spin_unlock_irqrestore(&lock, flags);
}

void ts_gsi_destroy_qp(struct ts_qp *qp)
{
	struct ts_dev *dev = to_ts_dev(qp->ib.device);
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&lock, flags);
	dev->gsi = NULL;
	for (i = 0; i < TS_MAX_DEVICES; i++)
		if (ports[i] == dev)
			ports[i] = NULL;
	spin_unlock_irqrestore(&lock, flags);
	ts_gsi_drain(qp, false);
}

static int post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct ts_qp *qp = to_ts_qp(ib);
	unsigned long flags;

	for (; wr; wr = wr->next) {
		struct receive *r;

		if (ib->qp_type != IB_QPT_GSI || wr->num_sge != 1) {
			*bad = wr;
			return -EINVAL;
		}
		r = kmalloc(sizeof(*r), GFP_ATOMIC);
		if (!r) {
			*bad = wr;
			return -ENOMEM;
		}
		r->wr_id = wr->wr_id;
		r->sge = *wr->sg_list;
		spin_lock_irqsave(&lock, flags);
		list_add_tail(&r->list, &qp->receives);
		spin_unlock_irqrestore(&lock, flags);
	}
	return 0;
}

/* Returns the device of a GID. Called with the lock held. */
static struct ts_dev *find(const union ib_gid *gid)
{
	unsigned int i;

	for (i = 0; i < TS_MAX_DEVICES; i++) {
		const struct ib_gid_attr *attr;

		if (!ports[i])
			continue;
		attr = rdma_find_gid_by_port(&ports[i]->ib, gid, IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
		if (!IS_ERR(attr)) {
			rdma_put_gid_attr(attr);
			return ports[i];
		}
	}
	return NULL;
}

/* Writes the header before a received datagram, as RoCE v2 has it. */
static enum rdma_network_type put_header(u8 *to, const struct ts_ah *ah, u32 len)
{
	struct ib_grh *grh = (void *)to;
	struct iphdr *ip = (void *)(to + TS_GRH_LEN - sizeof(*ip));

	memset(to, 0, TS_GRH_LEN);
	if (!ipv6_addr_v4mapped((const struct in6_addr *)&ah->dgid)) {
		grh->version_tclass_flow = cpu_to_be32(6 << 28);
		grh->paylen = cpu_to_be16(len);
		grh->next_hdr = IPPROTO_UDP;
		grh->hop_limit = 64;
		grh->sgid = ah->sgid;
		grh->dgid = ah->dgid;
		return RDMA_NETWORK_IPV6;
	}
	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = cpu_to_be16(sizeof(*ip) + len);
	ip->ttl = 64;
	ip->protocol = IPPROTO_UDP;
	memcpy(&ip->saddr, ah->sgid.raw + 12, 4);
	memcpy(&ip->daddr, ah->dgid.raw + 12, 4);
	ip->check = ip_fast_csum(ip, ip->ihl);
	return RDMA_NETWORK_IPV4;
}

/* Delivers a datagram, or loses it. Called with the lock held. */
static void deliver(const struct ib_ud_wr *ud)
{
	const struct ib_send_wr *wr = &ud->wr;
	const struct ts_ah *ah = to_ts_ah(ud->ah);
	struct ts_dev *dev = find(&ah->dgid);
	struct receive *r;
	u32 len = 0;
	u8 *to;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (!dev || !dev->gsi || dev->gsi->attr.qp_state < IB_QPS_RTR || dev->gsi->attr.qp_state == IB_QPS_ERR ||
	    list_empty(&dev->gsi->receives))
		return;
	r = list_first_entry(&dev->gsi->receives, struct receive, list);
	if (r->sge.length < TS_GRH_LEN + len)
		return;
	list_del(&r->list);
	to = (void *)(uintptr_t)r->sge.addr;
	{
		struct ib_wc wc = {
			.wr_id = r->wr_id, .opcode = IB_WC_RECV, .qp = &dev->gsi->ib, .byte_len = TS_GRH_LEN + len,
			.src_qp = 1, .port_num = 1, .wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
			.network_hdr_type = put_header(to, ah, len),
		};

		for (to += TS_GRH_LEN, i = 0; i < wr->num_sge; i++) {
			memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
			to += wr->sg_list[i].length;
		}
		push(dev->gsi->ib.recv_cq, &wc);
	}
	kfree(r);
}

static int post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct ts_qp *qp = to_ts_qp(ib);
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	for (; wr; wr = wr->next) {
		struct ib_wc wc = { .wr_id = wr->wr_id, .opcode = IB_WC_SEND, .qp = ib };

		if (qp->attr.qp_state != IB_QPS_RTS) {
			flush(qp, ib->send_cq, wr->wr_id);
			continue;
		}
		deliver(ud_wr(wr));
		if (qp->sig_all || (wr->send_flags & IB_SEND_SIGNALED))
			push(ib->send_cq, &wc);
	}
	spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static int create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct ts_ah *ah = to_ts_ah(ib);
	const struct ib_global_route *grh = rdma_ah_read_grh(init->ah_attr);

	ah->dgid = grh->dgid;
	if (grh->sgid_attr)
		ah->sgid = grh->sgid_attr->gid;
	return 0;
}

/* The memory of all of the kernel: the addresses of requests are virtual ones. */
static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct ts_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->kernel = true;
	return &mr->ib;
}

const struct ib_device_ops ts_gsi_ops = {
	.create_ah = create_ah,
	.get_dma_mr = get_dma_mr,
	.poll_cq = poll_cq,
	.post_recv = post_recv,
	.post_send = post_send,
	.req_notify_cq = req_notify_cq,
};
