// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices with InfiniBand ports whose management datagrams go to a program
 * and come from it: the program is the cable, the ports' agents, and all that is
 * behind them. There is no data path: only QP0 and QP1 work.
 *
 * All that a device and its character device share is under the device's one
 * lock, which is taken with interrupts off, because the RDMA core posts and polls
 * in any context, and is never held while something sleeps.
 */
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "ibtest.h"

#define MAX_DEVICES	4
#define MAX_PORTS	4
#define MAX_UNREAD	8192	/* datagrams that wait to be read; more are lost */
#define ANSWER_TIME	HZ	/* that the program has to answer for a port */
/* Draining adds a request to each queue of a queue pair. */
#define SLACK		8

static unsigned int devices = 2;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of devices, up to 4 (default 2)");

static unsigned int ports = 1;
module_param(ports, uint, 0444);
MODULE_PARM_DESC(ports, "ports of a device, up to 4 (default 1)");

static unsigned long long guid = 0x0214050000000000ULL;
module_param(guid, ullong, 0444);
MODULE_PARM_DESC(guid, "node GUID of the first device; those of the next are 16 apart");

enum ibt_stat { SENT, ARRIVED, LOST_UNREAD, LOST_UNRECEIVED, STATS };

static const struct rdma_stat_desc ibt_stat_descs[STATS] = {
	[SENT].name = "mads_sent",
	[ARRIVED].name = "mads_arrived",
	[LOST_UNREAD].name = "mads_lost_unread",		/* no program, or one too slow */
	[LOST_UNRECEIVED].name = "mads_lost_unreceived",	/* no receive request */
};

struct ibt_port {
	struct ibtest_port attr;
	u32 added_caps;			/* by the host, such as IsSM */
	struct ibt_qp *qp[2];
	u64 stats[STATS];
};

struct ibt_device {
	struct ib_device ib;
	struct miscdevice misc;
	char name[16];
	struct mutex changing;		/* events come in the order of changes */

	spinlock_t lock;		/* all below */
	bool open;			/* a program is there */
	struct list_head unread;	/* struct ibt_unread */
	unsigned int unread_count;
	struct list_head queries;	/* struct ibt_query */
	u64 last_cookie;
	struct ibtest_node node;
	struct ibt_port port[MAX_PORTS];

	wait_queue_head_t readers;	/* has a lock of its own */
};

struct ibt_unread {
	struct list_head list;
	struct ibtest_record record;
};

struct ibt_query {
	struct list_head list;
	struct completion done;
	u64 cookie;
	int result;			/* IB_MAD_RESULT_... */
	u8 answer[IB_MGMT_MAD_SIZE];
};

struct ibt_cq {
	struct ib_cq ib;
	struct ib_wc *ring;
	unsigned int size, head, count;
	bool armed;
};

struct ibt_receive {
	u64 wr_id;
	struct ib_sge sge;
};

struct ibt_qp {
	struct ib_qp ib;
	struct ibt_receive *ring;
	unsigned int size, head, count;
	enum ib_qp_state state;
	bool signal_all;
};

struct ibt_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;	/* without references */
};

struct ibt_pd { struct ib_pd ib; };
struct ibt_ucontext { struct ib_ucontext ib; };

static struct ibt_device *all[MAX_DEVICES];

static struct ibt_device *to_dev(struct ib_device *ib) { return container_of(ib, struct ibt_device, ib); }
static struct ibt_cq *to_cq(struct ib_cq *ib) { return container_of(ib, struct ibt_cq, ib); }
static struct ibt_qp *to_qp(struct ib_qp *ib) { return container_of(ib, struct ibt_qp, ib); }
static struct ibt_ah *to_ah(struct ib_ah *ib) { return container_of(ib, struct ibt_ah, ib); }

static struct ibt_port *port_of(struct ib_device *ib, u32 number)
{
	return &to_dev(ib)->port[number - 1];
}

/*
 * Records for the program.
 */

static struct ibt_unread *new_record(u32 kind, u32 port)
{
	struct ibt_unread *u = kzalloc(sizeof(*u), GFP_ATOMIC);

	if (u) {
		u->record.kind = kind;
		u->record.port = port;
	}
	return u;
}

/* Leaves a record, or NULL, to be read. Called with the lock held. */
static bool leave(struct ibt_device *dev, struct ibt_unread *u)
{
	lockdep_assert_held(&dev->lock);
	if (!u || !dev->open || dev->unread_count >= MAX_UNREAD) {
		kfree(u);
		return false;
	}
	list_add_tail(&u->list, &dev->unread);
	dev->unread_count++;
	wake_up_interruptible(&dev->readers);
	return true;
}

/* Called with the lock held. */
static void forget_unread(struct ibt_device *dev)
{
	struct ibt_unread *u, *next;

	list_for_each_entry_safe(u, next, &dev->unread, list)
		kfree(u);
	INIT_LIST_HEAD(&dev->unread);
	dev->unread_count = 0;
}

/* Ends the queries that wait, without an answer. Called with the lock held. */
static void give_up_queries(struct ibt_device *dev)
{
	struct ibt_query *q;

	list_for_each_entry(q, &dev->queries, list)
		complete(&q->done);
}

/*
 * Completion queues.
 */

static int ibt_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	struct ibt_cq *cq = to_cq(ib);

	if (udata)
		return -EOPNOTSUPP;
	cq->size = attr->cqe + SLACK;
	cq->ring = kvcalloc(cq->size, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	ib->cqe = attr->cqe;
	return 0;
}

static int ibt_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_cq(ib)->ring);
	return 0;
}

/* Called with the lock held; the handler of the MAD layer only queues work. */
static void push_completion(struct ib_cq *ib, const struct ib_wc *wc)
{
	struct ibt_cq *cq = to_cq(ib);

	if (WARN_ON_ONCE(cq->count == cq->size))
		return;
	cq->ring[(cq->head + cq->count++) % cq->size] = *wc;
	if (cq->armed) {
		cq->armed = false;
		ib->comp_handler(ib, ib->cq_context);
	}
}

static int ibt_poll_cq(struct ib_cq *ib, int max, struct ib_wc *wc)
{
	struct ibt_device *dev = to_dev(ib->device);
	struct ibt_cq *cq = to_cq(ib);
	unsigned long flags;
	int n;

	spin_lock_irqsave(&dev->lock, flags);
	for (n = 0; n < max && cq->count; n++, cq->count--) {
		wc[n] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % cq->size;
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return n;
}

static int ibt_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags notify)
{
	struct ibt_device *dev = to_dev(ib->device);
	struct ibt_cq *cq = to_cq(ib);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&dev->lock, flags);
	cq->armed = true;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->count;
	spin_unlock_irqrestore(&dev->lock, flags);
	return missed;
}

/*
 * Queue pairs.
 */

static int ibt_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct ibt_device *dev = to_dev(ib->device);
	struct ibt_qp *qp = to_qp(ib);
	struct ibt_qp **place;
	unsigned long flags;
	int err = 0;

	if (udata || (attr->qp_type != IB_QPT_SMI && attr->qp_type != IB_QPT_GSI))
		return -EOPNOTSUPP;
	if (attr->port_num < 1 || attr->port_num > ports)
		return -EINVAL;
	ib->qp_num = attr->qp_type == IB_QPT_GSI;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->size = attr->cap.max_recv_wr + SLACK;
	qp->ring = kvcalloc(qp->size, sizeof(*qp->ring), GFP_KERNEL);
	if (!qp->ring)
		return -ENOMEM;
	place = &port_of(ib->device, attr->port_num)->qp[ib->qp_num];
	spin_lock_irqsave(&dev->lock, flags);
	if (*place)
		err = -EBUSY;
	else
		*place = qp;
	spin_unlock_irqrestore(&dev->lock, flags);
	if (err)
		kvfree(qp->ring);
	return err;
}

/* Completes a request of a queue pair that does not work any more. */
static void flush(struct ibt_qp *qp, struct ib_cq *cq, u64 wr_id)
{
	struct ib_wc wc = { .wr_id = wr_id, .status = IB_WC_WR_FLUSH_ERR, .qp = &qp->ib };

	push_completion(cq, &wc);
}

static int ibt_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct ibt_device *dev = to_dev(ib->device);
	struct ibt_qp *qp = to_qp(ib);
	unsigned long flags;

	if (!(mask & IB_QP_STATE))
		return 0;
	spin_lock_irqsave(&dev->lock, flags);
	qp->state = attr->qp_state;
	if (qp->state == IB_QPS_RESET)
		qp->count = 0;
	for (; qp->state == IB_QPS_ERR && qp->count; qp->count--) {
		flush(qp, ib->recv_cq, qp->ring[qp->head].wr_id);
		qp->head = (qp->head + 1) % qp->size;
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return 0;
}

static int ibt_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct ibt_device *dev = to_dev(ib->device);
	struct ibt_qp *qp = to_qp(ib);
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&dev->lock, flags);
	for (i = 0; i < ports; i++)
		if (dev->port[i].qp[ib->qp_num] == qp)
			dev->port[i].qp[ib->qp_num] = NULL;
	spin_unlock_irqrestore(&dev->lock, flags);
	kvfree(qp->ring);
	return 0;
}

static int ibt_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct ibt_device *dev = to_dev(ib->device);
	struct ibt_qp *qp = to_qp(ib);
	struct ibt_receive *receive;
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&dev->lock, flags);
	for (; wr; wr = wr->next) {
		if (qp->state == IB_QPS_ERR) {
			flush(qp, ib->recv_cq, wr->wr_id);
			continue;
		}
		if (wr->num_sge != 1 || qp->count == qp->size) {
			err = wr->num_sge == 1 ? -ENOMEM : -EINVAL;
			*bad = wr;
			break;
		}
		receive = &qp->ring[(qp->head + qp->count++) % qp->size];
		receive->wr_id = wr->wr_id;
		receive->sge = wr->sg_list[0];
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return err;
}

static void fill_grh(struct ibtest_mad *mad, const struct rdma_ah_attr *attr, const struct ibtest_port *from)
{
	const struct ib_global_route *route = rdma_ah_read_grh(attr);
	struct ib_grh grh = {
		.version_tclass_flow = cpu_to_be32(6 << 28 | route->traffic_class << 20 | route->flow_label),
		/* BTH, DETH and ICRC go with the datagram. */
		.paylen = cpu_to_be16(12 + 8 + IB_MGMT_MAD_SIZE + 4),
		.next_hdr = 0x1b,	/* IBA */
		.hop_limit = route->hop_limit,
		.sgid.global.subnet_prefix = from->gid_prefix,
		.sgid.global.interface_id = from->guids[route->sgid_index % IBTEST_GIDS],
		.dgid = route->dgid,
	};

	memcpy(mad->grh, &grh, sizeof(mad->grh));
	mad->has_grh = 1;
}

/* Called with the lock held. */
static void send_mad(struct ibt_device *dev, struct ibt_port *port, struct ibt_qp *qp, const struct ib_send_wr *wr)
{
	const struct rdma_ah_attr *to = &to_ah(ud_wr(wr)->ah)->attr;
	struct ibt_unread *u = new_record(IBTEST_SENT, port - dev->port + 1);
	unsigned int i, n, filled = 0;
	struct ibtest_mad *mad;

	port->stats[SENT]++;
	if (u) {
		mad = &u->record.mad;
		for (i = 0; i < wr->num_sge; i++, filled += n) {
			n = min_t(unsigned int, wr->sg_list[i].length, sizeof(mad->data) - filled);
			/* The device does no DMA: its addresses are the processor's. */
			memcpy(mad->data + filled, (void *)(uintptr_t)wr->sg_list[i].addr, n);
		}
		mad->src_qp = qp->ib.qp_num;
		mad->dest_qp = ud_wr(wr)->remote_qpn;
		mad->qkey = ud_wr(wr)->remote_qkey;
		mad->pkey_index = ud_wr(wr)->pkey_index;
		mad->sl = rdma_ah_get_sl(to);
		mad->dlid = rdma_ah_get_dlid(to);
		mad->slid = port->attr.lid | rdma_ah_get_path_bits(to);
		if (mad->dlid == IBTEST_PERMISSIVE)
			mad->slid = IBTEST_PERMISSIVE;
		if (rdma_ah_get_ah_flags(to) & IB_AH_GRH)
			fill_grh(mad, to, &port->attr);
	}
	if (!leave(dev, u))
		port->stats[LOST_UNREAD]++;
}

static int ibt_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct ibt_device *dev = to_dev(ib->device);
	struct ibt_port *port = port_of(ib->device, ib->port);
	struct ibt_qp *qp = to_qp(ib);
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	for (; wr; wr = wr->next) {
		struct ib_wc wc = { .wr_id = wr->wr_id, .opcode = IB_WC_SEND, .qp = ib };

		if (qp->state != IB_QPS_RTS) {
			flush(qp, ib->send_cq, wr->wr_id);
			continue;
		}
		/* Once on the wire it is done, whatever becomes of it there. */
		send_mad(dev, port, qp, wr);
		if (qp->signal_all || (wr->send_flags & IB_SEND_SIGNALED))
			push_completion(ib->send_cq, &wc);
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return 0;
}

/* Hands a datagram to the queue pair that it is for. Called with the lock held. */
static void arrive(struct ibt_port *port, u32 number, const struct ibtest_mad *mad)
{
	struct ibt_qp *qp = port->qp[mad->dest_qp];
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.byte_len = sizeof(mad->grh) + sizeof(mad->data),
		.src_qp = mad->src_qp,
		.slid = mad->slid,
		.sl = mad->sl,
		.pkey_index = mad->pkey_index,
		.port_num = number,
		.dlid_path_bits = mad->dlid & ((1 << port->attr.lmc) - 1),
		.wc_flags = mad->has_grh ? IB_WC_GRH : 0,
	};
	struct ibt_receive *receive;
	u8 *to;

	if (!qp || qp->state < IB_QPS_RTR || qp->state > IB_QPS_SQE || !qp->count ||
	    qp->ring[qp->head].sge.length < wc.byte_len) {
		port->stats[LOST_UNRECEIVED]++;
		return;
	}
	port->stats[ARRIVED]++;
	receive = &qp->ring[qp->head];
	qp->head = (qp->head + 1) % qp->size;
	qp->count--;
	to = (void *)(uintptr_t)receive->sge.addr;
	memcpy(to, mad->grh, sizeof(mad->grh));
	memcpy(to + sizeof(mad->grh), mad->data, sizeof(mad->data));
	wc.wr_id = receive->wr_id;
	wc.qp = &qp->ib;
	push_completion(qp->ib.recv_cq, &wc);
}

/*
 * The port's own agents.
 */

static bool is_for_agent(const struct ib_mad_hdr *h)
{
	switch (h->mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
	case IB_MGMT_CLASS_PERF_MGMT:
		return h->method == IB_MGMT_METHOD_GET || h->method == IB_MGMT_METHOD_SET;
	default:
		return false;
	}
}

/*
 * Asks the program what the port's agent answers to a request of this host. As
 * those of hardware it waits, so it must be allowed to: the MAD layer calls it
 * from the work queue of a port or for whoever sends, files of sysfs for whoever
 * reads them. Requests of other hosts never come here: the program answers them
 * itself, and what it hands on is for whoever has registered.
 */
static int ibt_process_mad(struct ib_device *ib, int process_flags, u32 number, const struct ib_wc *wc,
			   const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
			   size_t *out_size, u16 *out_pkey_index)
{
	struct ibt_device *dev = to_dev(ib);
	/* Nobody says anything: who asked has to lose patience. */
	struct ibt_query query = { .result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED };
	struct ibt_unread *u;
	bool asked;

	/* Only what came in has a place for a GRH. */
	if (grh || !is_for_agent(&in->mad_hdr))
		return IB_MAD_RESULT_SUCCESS;
	might_sleep();
	u = new_record(IBTEST_QUERY, number);
	if (!u)
		return IB_MAD_RESULT_FAILURE;
	memcpy(u->record.mad.data, in, sizeof(u->record.mad.data));
	u->record.mad.dest_qp = in->mad_hdr.mgmt_class == IB_MGMT_CLASS_PERF_MGMT;
	init_completion(&query.done);

	spin_lock_irq(&dev->lock);
	query.cookie = ++dev->last_cookie;
	u->record.cookie = query.cookie;
	asked = leave(dev, u);
	if (asked)
		list_add_tail(&query.list, &dev->queries);
	spin_unlock_irq(&dev->lock);
	if (asked) {
		wait_for_completion_timeout(&query.done, ANSWER_TIME);
		spin_lock_irq(&dev->lock);
		list_del(&query.list);
		spin_unlock_irq(&dev->lock);
	}
	if (query.result & IB_MAD_RESULT_REPLY)
		memcpy(out, query.answer, sizeof(query.answer));
	return query.result;
}

/* Called with the lock held. */
static int take_answer(struct ibt_device *dev, const struct ibtest_record *r)
{
	struct ibt_query *q;

	list_for_each_entry(q, &dev->queries, list) {
		if (q->cookie != r->cookie)
			continue;
		q->result = IB_MAD_RESULT_SUCCESS;
		if (r->kind == IBTEST_ANSWER) {
			q->result |= IB_MAD_RESULT_REPLY;
			memcpy(q->answer, r->mad.data, sizeof(q->answer));
		}
		complete(&q->done);
		return 0;
	}
	return -ENOENT;
}

/*
 * What a device and a port are like.
 */

static int ibt_query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct ibt_device *dev = to_dev(ib);

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = 1ULL << 32;	/* 1.0.0 */
	spin_lock_irq(&dev->lock);
	attr->sys_image_guid = dev->node.sys_image_guid;
	attr->vendor_id = dev->node.vendor_id;
	attr->vendor_part_id = dev->node.part_id;
	attr->hw_ver = dev->node.hw_ver;
	spin_unlock_irq(&dev->lock);
	attr->max_mr_size = ~0ULL;
	attr->max_qp = 2 * MAX_PORTS;
	attr->max_qp_wr = 4096;
	attr->max_send_sge = 4;
	attr->max_recv_sge = 1;
	attr->max_cq = 2 * MAX_PORTS;
	attr->max_cqe = 4 * 4096;
	attr->max_mr = 16;
	attr->max_pd = 16;
	attr->max_ah = 65536;
	attr->max_pkeys = IBTEST_PKEYS;
	return 0;
}

static int ibt_query_port(struct ib_device *ib, u32 number, struct ib_port_attr *attr)
{
	struct ibt_port *port = port_of(ib, number);
	struct ibt_device *dev = to_dev(ib);
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	attr->state = port->attr.state;
	attr->phys_state = port->attr.phys_state;
	attr->max_mtu = port->attr.max_mtu;
	attr->active_mtu = port->attr.active_mtu;
	attr->port_cap_flags = port->attr.cap_mask | port->added_caps;
	attr->port_cap_flags2 = port->attr.cap_mask2;
	attr->lid = port->attr.lid;
	attr->lmc = port->attr.lmc;
	attr->sm_lid = port->attr.sm_lid;
	attr->sm_sl = port->attr.sm_sl;
	attr->max_vl_num = port->attr.max_vl_num;
	attr->subnet_timeout = port->attr.subnet_timeout;
	attr->active_width = port->attr.active_width;
	attr->active_speed = port->attr.active_speed;
	attr->subnet_prefix = be64_to_cpu(port->attr.gid_prefix);
	spin_unlock_irqrestore(&dev->lock, flags);
	attr->gid_tbl_len = IBTEST_GIDS;
	attr->pkey_tbl_len = IBTEST_PKEYS;
	attr->max_msg_sz = IB_MGMT_MAD_SIZE;
	return 0;
}

static int ibt_query_gid(struct ib_device *ib, u32 number, int index, union ib_gid *gid)
{
	struct ibtest_port *attr = &port_of(ib, number)->attr;
	struct ibt_device *dev = to_dev(ib);
	unsigned long flags;

	if (index < 0 || index >= IBTEST_GIDS)
		return -EINVAL;
	memset(gid, 0, sizeof(*gid));
	spin_lock_irqsave(&dev->lock, flags);
	if (attr->guids[index]) {
		gid->global.subnet_prefix = attr->gid_prefix;
		gid->global.interface_id = attr->guids[index];
	}
	spin_unlock_irqrestore(&dev->lock, flags);
	return 0;
}

static int ibt_query_pkey(struct ib_device *ib, u32 number, u16 index, u16 *pkey)
{
	if (index >= IBTEST_PKEYS)
		return -EINVAL;
	*pkey = READ_ONCE(port_of(ib, number)->attr.pkeys[index]);
	return 0;
}

static int ibt_get_port_immutable(struct ib_device *ib, u32 number, struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	immutable->gid_tbl_len = IBTEST_GIDS;
	immutable->pkey_tbl_len = IBTEST_PKEYS;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer ibt_get_link_layer(struct ib_device *ib, u32 number)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static void ibt_get_dev_fw_str(struct ib_device *ib, char *text)
{
	snprintf(text, IB_FW_VERSION_NAME_MAX, "1.0.0");
}

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *to)
{
	struct ibt_device *d = rdma_device_to_drv_device(device, struct ibt_device, ib);

	return sysfs_emit(to, "%x\n", READ_ONCE(d->node.hw_ver));
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *to)
{
	return sysfs_emit(to, "ibtest\n");
}
static DEVICE_ATTR_RO(hca_type);

static struct attribute *ibt_attrs[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	NULL,
};

static const struct attribute_group ibt_attr_group = { .attrs = ibt_attrs };

/* The host sets and clears IsSM and the like. */
static int ibt_modify_port(struct ib_device *ib, u32 number, int mask, struct ib_port_modify *modify)
{
	struct ibt_unread *u = new_record(IBTEST_CAPS, number);
	struct ibt_port *port = port_of(ib, number);
	struct ibt_device *dev = to_dev(ib);
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	port->added_caps = (port->added_caps | modify->set_port_cap_mask) & ~modify->clr_port_cap_mask;
	if (u)
		u->record.caps.added = port->added_caps;
	leave(dev, u);
	spin_unlock_irqrestore(&dev->lock, flags);
	return 0;
}

static struct rdma_hw_stats *ibt_alloc_hw_port_stats(struct ib_device *ib, u32 number)
{
	return rdma_alloc_hw_stats_struct(ibt_stat_descs, STATS, 0);
}

static int ibt_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 number, int index)
{
	struct ibt_device *dev = to_dev(ib);

	if (!number)
		return -EINVAL;
	spin_lock_irq(&dev->lock);
	memcpy(stats->value, port_of(ib, number)->stats, sizeof(dev->port[0].stats));
	spin_unlock_irq(&dev->lock);
	return STATS;
}

/*
 * What the RDMA core does not do without.
 */

static int ibt_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct ibt_ah *ah = to_ah(ib);

	ah->attr = *init->ah_attr;
	ah->attr.grh.sgid_attr = NULL;
	return 0;
}

/* By this the MAD layer finds out which request a reply is for. */
static int ibt_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = to_ah(ib)->attr;
	return 0;
}

static int ibt_destroy_ah(struct ib_ah *ib, u32 flags) { return 0; }

static int ibt_alloc_pd(struct ib_pd *pd, struct ib_udata *udata) { return 0; }
static int ibt_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata) { return 0; }

static struct ib_mr *ibt_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

static struct ib_mr *ibt_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				     struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int ibt_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static int ibt_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata) { return 0; }
static void ibt_dealloc_ucontext(struct ib_ucontext *context) { }
/* Nothing of a device is mapped: one that is pulled out leaves nothing behind. */
static void ibt_disassociate_ucontext(struct ib_ucontext *context) { }

static const struct ib_device_ops ibt_ops = {
	.owner = THIS_MODULE,
	/*
	 * libibverbs lists no device that it has no provider for. That of
	 * Soft-RoCE asks a device which is only queried nothing of its own.
	 */
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = 2,
	.device_group = &ibt_attr_group,

	.alloc_hw_port_stats = ibt_alloc_hw_port_stats,
	.alloc_pd = ibt_alloc_pd,
	.alloc_ucontext = ibt_alloc_ucontext,
	.create_ah = ibt_create_ah,
	.create_cq = ibt_create_cq,
	.create_qp = ibt_create_qp,
	.dealloc_pd = ibt_dealloc_pd,
	.dealloc_ucontext = ibt_dealloc_ucontext,
	.dereg_mr = ibt_dereg_mr,
	.destroy_ah = ibt_destroy_ah,
	.destroy_cq = ibt_destroy_cq,
	.destroy_qp = ibt_destroy_qp,
	.disassociate_ucontext = ibt_disassociate_ucontext,
	.get_dev_fw_str = ibt_get_dev_fw_str,
	.get_dma_mr = ibt_get_dma_mr,
	.get_hw_stats = ibt_get_hw_stats,
	.get_link_layer = ibt_get_link_layer,
	.get_port_immutable = ibt_get_port_immutable,
	.modify_port = ibt_modify_port,
	.modify_qp = ibt_modify_qp,
	.poll_cq = ibt_poll_cq,
	.post_recv = ibt_post_recv,
	.post_send = ibt_post_send,
	.process_mad = ibt_process_mad,
	.query_ah = ibt_query_ah,
	.query_device = ibt_query_device,
	.query_gid = ibt_query_gid,
	.query_pkey = ibt_query_pkey,
	.query_port = ibt_query_port,
	.reg_user_mr = ibt_reg_user_mr,
	.req_notify_cq = ibt_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, ibt_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, ibt_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, ibt_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, ibt_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, ibt_ucontext, ib),
};

/*
 * The character device.
 */

static void tell(struct ib_device *ib, u32 number, enum ib_event_type type)
{
	struct ib_event event = { .device = ib, .element.port_num = number, .event = type };

	ib_dispatch_event(&event);
}

/* Takes over what a port is like and tells the host what that changes. */
static void change_port(struct ibt_device *dev, u32 number, const struct ibtest_port *attr)
{
	struct ibt_port *port = &dev->port[number - 1];
	struct ib_device *ib = &dev->ib;
	struct ibtest_port old;

	lockdep_assert_held(&dev->changing);
	spin_lock_irq(&dev->lock);
	old = port->attr;
	port->attr = *attr;
	spin_unlock_irq(&dev->lock);

	if (old.gid_prefix != attr->gid_prefix || memcmp(old.guids, attr->guids, sizeof(old.guids)))
		tell(ib, number, IB_EVENT_GID_CHANGE);
	if (memcmp(old.pkeys, attr->pkeys, sizeof(old.pkeys)))
		tell(ib, number, IB_EVENT_PKEY_CHANGE);
	if (old.lid != attr->lid || old.lmc != attr->lmc)
		tell(ib, number, IB_EVENT_LID_CHANGE);
	if (old.sm_lid != attr->sm_lid || old.sm_sl != attr->sm_sl)
		tell(ib, number, IB_EVENT_SM_CHANGE);
	if (old.state != IB_PORT_ACTIVE && attr->state == IB_PORT_ACTIVE)
		tell(ib, number, IB_EVENT_PORT_ACTIVE);
	if (old.state == IB_PORT_ACTIVE && attr->state != IB_PORT_ACTIVE)
		tell(ib, number, IB_EVENT_PORT_ERR);
	if (attr->reregister)
		tell(ib, number, IB_EVENT_CLIENT_REREGISTER);
}

/* What a port is like without a cable. */
static struct ibtest_port unplugged_port(unsigned int device, u32 number)
{
	return (struct ibtest_port) {
		.gid_prefix = cpu_to_be64(0xfe80000000000000ULL),
		.guids[0] = cpu_to_be64(guid + 16 * device + number),
		.pkeys[0] = 0xffff,
		.state = IB_PORT_DOWN,
		.phys_state = IB_PORT_PHYS_STATE_POLLING,
		.max_mtu = IB_MTU_4096,
		.active_mtu = IB_MTU_4096,
		.active_width = IB_WIDTH_4X,
		.active_speed = IB_SPEED_SDR,
		.max_vl_num = 1,
	};
}

static void change_node(struct ibt_device *dev, const struct ibtest_node *node)
{
	struct ib_device *ib = &dev->ib;

	lockdep_assert_held(&dev->changing);
	spin_lock_irq(&dev->lock);
	dev->node = *node;
	spin_unlock_irq(&dev->lock);
	/* The core has copies. */
	ib->node_guid = node->node_guid;
	ib->attrs.sys_image_guid = node->sys_image_guid;
	ib->attrs.vendor_id = node->vendor_id;
	ib->attrs.vendor_part_id = node->part_id;
	ib->attrs.hw_ver = node->hw_ver;
	memcpy(ib->node_desc, node->description, sizeof(ib->node_desc));
}

static int ibt_open(struct inode *inode, struct file *file)
{
	struct ibt_device *dev = container_of(file->private_data, struct ibt_device, misc);
	int err = 0;

	spin_lock_irq(&dev->lock);
	if (dev->open)
		err = -EBUSY;
	else
		dev->open = true;
	spin_unlock_irq(&dev->lock);
	if (err)
		return err;
	file->private_data = dev;
	return stream_open(inode, file);
}

/* The cable is cut. */
static int ibt_release(struct inode *inode, struct file *file)
{
	struct ibt_device *dev = file->private_data;
	struct ibtest_port attr;
	u32 number;

	spin_lock_irq(&dev->lock);
	dev->open = false;
	forget_unread(dev);
	give_up_queries(dev);
	spin_unlock_irq(&dev->lock);

	mutex_lock(&dev->changing);
	for (number = 1; number <= ports; number++) {
		attr = dev->port[number - 1].attr;
		attr.state = IB_PORT_DOWN;
		attr.phys_state = IB_PORT_PHYS_STATE_POLLING;
		change_port(dev, number, &attr);
	}
	mutex_unlock(&dev->changing);
	return 0;
}

/* Takes the next record to read; NULL: there is none. */
static struct ibt_unread *next_record(struct ibt_device *dev)
{
	struct ibt_unread *next;

	spin_lock_irq(&dev->lock);
	next = list_first_entry_or_null(&dev->unread, struct ibt_unread, list);
	if (next) {
		list_del(&next->list);
		dev->unread_count--;
	}
	spin_unlock_irq(&dev->lock);
	return next;
}

static ssize_t ibt_read(struct file *file, char __user *to, size_t size, loff_t *offset)
{
	struct ibt_device *dev = file->private_data;
	ssize_t n = sizeof(struct ibtest_record);
	struct ibt_unread *u;

	if (size < n)
		return -EINVAL;
	if (file->f_flags & O_NONBLOCK) {
		u = next_record(dev);
		if (!u)
			return -EAGAIN;
	} else if (wait_event_interruptible(dev->readers, (u = next_record(dev)))) {
		return -ERESTARTSYS;
	}
	if (copy_to_user(to, &u->record, n))
		n = -EFAULT;
	kfree(u);
	return n;
}

static int take_record(struct ibt_device *dev, struct ibtest_record *r)
{
	int err;

	if (r->kind != IBTEST_NODE && (r->port < 1 || r->port > ports))
		return -EINVAL;
	switch (r->kind) {
	case IBTEST_ARRIVED:
		if (r->mad.dest_qp > 1)
			return -EINVAL;
		spin_lock_irq(&dev->lock);
		arrive(&dev->port[r->port - 1], r->port, &r->mad);
		spin_unlock_irq(&dev->lock);
		return 0;
	case IBTEST_ANSWER:
	case IBTEST_DECLINE:
		spin_lock_irq(&dev->lock);
		err = take_answer(dev, r);
		spin_unlock_irq(&dev->lock);
		return err;
	case IBTEST_PORT:
		mutex_lock(&dev->changing);
		change_port(dev, r->port, &r->attr);
		mutex_unlock(&dev->changing);
		return 0;
	case IBTEST_NODE:
		mutex_lock(&dev->changing);
		change_node(dev, &r->node);
		mutex_unlock(&dev->changing);
		return 0;
	default:
		return -EINVAL;
	}
}

static ssize_t ibt_write(struct file *file, const char __user *from, size_t size, loff_t *offset)
{
	struct ibtest_record r;
	int err;

	if (size != sizeof(r))
		return -EINVAL;
	if (copy_from_user(&r, from, sizeof(r)))
		return -EFAULT;
	err = take_record(file->private_data, &r);
	return err ?: size;
}

static __poll_t ibt_poll(struct file *file, struct poll_table_struct *table)
{
	struct ibt_device *dev = file->private_data;
	__poll_t events = EPOLLOUT | EPOLLWRNORM;

	poll_wait(file, &dev->readers, table);
	spin_lock_irq(&dev->lock);
	if (dev->unread_count)
		events |= EPOLLIN | EPOLLRDNORM;
	spin_unlock_irq(&dev->lock);
	return events;
}

static const struct file_operations ibt_fops = {
	.owner = THIS_MODULE,
	.open = ibt_open,
	.release = ibt_release,
	.read = ibt_read,
	.write = ibt_write,
	.poll = ibt_poll,
	.llseek = no_llseek,
};

/*
 * Devices come and go.
 */

static struct ibt_device *new_device(unsigned int index)
{
	struct ibt_device *dev = ib_alloc_device(ibt_device, ib);
	struct ib_device *ib;
	u32 number;
	int err;

	if (!dev)
		return ERR_PTR(-ENOMEM);
	snprintf(dev->name, sizeof(dev->name), "ibtest%u", index);
	mutex_init(&dev->changing);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->unread);
	INIT_LIST_HEAD(&dev->queries);
	init_waitqueue_head(&dev->readers);
	dev->node.node_guid = cpu_to_be64(guid + 16 * index);
	dev->node.sys_image_guid = dev->node.node_guid;
	memcpy(dev->node.description, dev->name, sizeof(dev->name));
	for (number = 1; number <= ports; number++)
		dev->port[number - 1].attr = unplugged_port(index, number);

	ib = &dev->ib;
	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = ports;
	ib->num_comp_vectors = 1;
	ib->node_guid = dev->node.node_guid;
	memcpy(ib->node_desc, dev->node.description, sizeof(ib->node_desc));
	ib_set_device_ops(ib, &ibt_ops);
	err = ib_register_device(ib, dev->name, NULL);
	if (err)
		goto dealloc;

	dev->misc.minor = MISC_DYNAMIC_MINOR;
	dev->misc.name = dev->name;
	dev->misc.fops = &ibt_fops;
	err = misc_register(&dev->misc);
	if (err)
		goto unregister;
	return dev;

unregister:
	ib_unregister_device(ib);
dealloc:
	ib_dealloc_device(ib);
	return ERR_PTR(err);
}

/* Nobody has the character device open: that would keep the module. */
static void remove_devices(void)
{
	unsigned int i;

	for (i = 0; i < MAX_DEVICES && all[i]; i++) {
		misc_deregister(&all[i]->misc);
		ib_unregister_device(&all[i]->ib);
		ib_dealloc_device(&all[i]->ib);
	}
}

static int __init ibt_init(void)
{
	struct ibt_device *dev;
	unsigned int i;

	BUILD_BUG_ON(sizeof(struct ibtest_record) != 336);
	BUILD_BUG_ON(sizeof(struct ib_grh) != sizeof_field(struct ibtest_mad, grh));
	if (!devices || devices > MAX_DEVICES || !ports || ports > MAX_PORTS)
		return -EINVAL;
	for (i = 0; i < devices; i++) {
		dev = new_device(i);
		if (IS_ERR(dev)) {
			remove_devices();
			return PTR_ERR(dev);
		}
		all[i] = dev;
	}
	return 0;
}

static void __exit ibt_exit(void)
{
	remove_devices();
}

module_init(ibt_init);
module_exit(ibt_exit);
MODULE_DESCRIPTION("InfiniBand ports whose fabric is a program, for tests");
MODULE_LICENSE("GPL");
