// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The thread that is the adapter: it starts requests, moves data and completes. */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "engine.h"

DEFINE_MUTEX(ts_lock);
DEFINE_XARRAY_ALLOC(ts_qps);
DEFINE_XARRAY_ALLOC(ts_cqs);
DEFINE_XARRAY_ALLOC(ts_srqs);
DECLARE_WAIT_QUEUE_HEAD(ts_idle);
unsigned int ts_queues;	/* number of queue pairs */

static unsigned int delay_us;
module_param(delay_us, uint, 0644);
MODULE_PARM_DESC(delay_us, "time before each send request starts");

static unsigned int page_faults;
module_param(page_faults, uint, 0644);
MODULE_PARM_DESC(page_faults, "number of the next messages whose receive of an SRQ has a page fault");

/*
 * "N SYNDROME VENDOR": the send request after N more successful ones completes with an
 * error of these codes, which are those of the completion.
 */
static struct {
	bool on;
	unsigned int after;
	u8 syndrome, vendor;
} fault;

static int set_fault(const char *s, const struct kernel_param *kp)
{
	unsigned int after, syndrome, vendor;

	if (sscanf(s, "%u %i %i", &after, &syndrome, &vendor) != 3)
		return -EINVAL;
	mutex_lock(&ts_lock);
	fault.after = after;
	fault.syndrome = syndrome;
	fault.vendor = vendor;
	fault.on = syndrome;
	mutex_unlock(&ts_lock);
	return 0;
}

static const struct kernel_param_ops fault_ops = { .set = set_fault };
module_param_cb(fault, &fault_ops, NULL, 0200);
MODULE_PARM_DESC(fault, "N SYNDROME VENDOR: fail the send request after the next N");

static unsigned int violations;
module_param(violations, uint, 0644);
MODULE_PARM_DESC(violations, "number of times that user space has violated the ABI");

static char violation[128];
module_param_string(violation, violation, sizeof(violation), 0644);
MODULE_PARM_DESC(violation, "the first one of them since a line end was written here");

void ts_violation(const char *fmt, ...)
{
	struct va_format vf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vf.va = &args;
	pr_warn_ratelimited("verbstest: violation: %pV\n", &vf);
	va_end(args);
	if (!violation[0] || violation[0] == '\n') {
		va_start(args, fmt);
		vsnprintf(violation, sizeof(violation), fmt, args);
		va_end(args);
	}
	smp_store_release(&violations, violations + 1);
}

int ts_give_id(struct xarray *xa, u32 *id, void *entry, u32 min, u32 max, u32 *next)
{
	int err = xa_alloc_cyclic(xa, id, entry, XA_LIMIT(min, max), next, GFP_KERNEL);

	return err < 0 ? err : 0;
}

void ts_event_qp(struct ts_qp *qp, enum ib_event_type type)
{
	struct ib_event ev = { .device = qp->ib.device, .element.qp = &qp->ib, .event = type };

	if (qp->ib.event_handler)
		qp->ib.event_handler(&ev, qp->ib.qp_context);
}

void ts_event_cq(struct ts_cq *cq, enum ib_event_type type)
{
	struct ib_event ev = { .device = cq->ib.device, .element.cq = &cq->ib, .event = type };

	if (cq->ib.event_handler)
		cq->ib.event_handler(&ev, cq->ib.cq_context);
}

/* A doorbell requests an event for the next completion. */
void ts_arm(struct ts_cq *cq, bool solicited)
{
	cq->bells++;
	cq->arms++;
	cq->armed = true;
	cq->armed_solicited = solicited;
	cq->arm_ci = cq->pi;
}

/* Raises the event for a completion after ts_arm. */
void ts_check_arm(struct ts_cq *cq)
{
	u32 newest = cq->armed_solicited ? cq->solicited : cq->pi;

	if (!cq->armed || (s32)(newest - cq->arm_ci) <= 0)
		return;
	cq->armed = false;
	cq->events++;
	if (cq->toggle)
		WRITE_ONCE(*cq->toggle, cq->events & 3);
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void fail(struct ts_qp *qp)
{
	qp->attr.qp_state = IB_QPS_ERR;
	ts_iw_close(qp, true);
	if (qp->ib.srq)
		ts_event_qp(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/*
 * Writes a completion. If there is no room for it, nobody learns how the request ended, and
 * its queue pair fails (local work queue catastrophic error of the InfiniBand Architecture,
 * volume 1, 11.6.3).
 */
static bool report(struct ts_cq *cq, const struct ts_completion *c)
{
	if (ts_abi->complete(cq, c))
		return true;
	if (c->qp->attr.qp_state != IB_QPS_ERR) {
		fail(c->qp);
		ts_event_qp(c->qp, IB_EVENT_QP_FATAL);
	}
	return false;
}

static bool can_receive(struct ts_qp *qp)
{
	return qp->attr.qp_state == IB_QPS_RTR || qp->attr.qp_state == IB_QPS_RTS ||
	       qp->attr.qp_state == IB_QPS_SQD;
}

static bool can_access(struct ts_qp *qp, int access)
{
	return ts_is_srd(qp) || (qp->attr.qp_access_flags & access) == access;
}

/* The parts of a queue pair that answers a request. */
struct responder {
	struct ts_qp *qp;
	struct ts_srq *srq;	/* of the request, with XRC; else of the queue pair, or NULL */
	struct ib_pd *pd;	/* of the memory */
	struct ts_cq *cq;
	u32 uidx;
};

/* Finds the queues of a request. XRC: the request names the SRQ. */
static enum ib_wc_status find_responder(struct responder *r, struct ts_qp *qp, u32 srqn)
{
	memset(r, 0, sizeof(*r));
	r->qp = qp;
	if (qp->ib.qp_type == IB_QPT_XRC_TGT) {
		r->srq = xa_load(&ts_srqs, srqn);
		if (!r->srq || r->srq->ib.srq_type != IB_SRQT_XRC ||
		    r->srq->ib.ext.xrc.xrcd != qp->xrcd)
			return IB_WC_REM_INV_REQ_ERR;
		r->pd = r->srq->ib.pd;
		r->cq = to_ts_cq(r->srq->ib.ext.cq);
		r->uidx = r->srq->uidx;
		return IB_WC_SUCCESS;
	}
	r->srq = qp->ib.srq ? to_ts_srq(qp->ib.srq) : NULL;
	r->pd = qp->ib.pd;
	r->cq = to_ts_cq(qp->ib.recv_cq);
	r->uidx = qp->uidx;
	return IB_WC_SUCCESS;
}

static bool receive_waits(const struct responder *r)
{
	return r->srq ? ts_abi->srq_waits(r->srq) : ts_abi->receive_waits(r->qp);
}

/* Delivers a message. Returns the result for the sender. */
static int deliver(const struct responder *r, struct ts_list *data, struct ts_completion *c)
{
	static struct ts_list scatter;
	enum ib_wc_status status;

	if (!receive_waits(r))
		return TS_WAIT_RNR;
	if (r->srq && page_faults) {
		struct ts_completion fault = { .qp = r->qp, .uidx = r->uidx, .recv = true,
					       .status = IB_WC_REM_ABORT_ERR };

		/* The adapter gives the receive back, and has the message sent again. */
		page_faults--;
		ts_abi->take_srq(r->srq, &scatter, &fault.counter);
		report(r->cq, &fault);
		return TS_WAIT_RNR;
	}
	if (c->op == IB_WR_SEND_WITH_INV)	/* other keys are ignored */
		ts_invalidate(be32_to_cpu(c->imm), r->qp->ib.qp_num, r->pd);
	status = r->srq ? ts_abi->take_srq(r->srq, &scatter, &c->counter) :
			  ts_abi->take_receive(r->qp, &scatter, &c->counter);
	if (status == IB_WC_SUCCESS && data && data->len > scatter.len)
		status = IB_WC_LOC_LEN_ERR;
	c->qp = r->qp;
	c->uidx = r->uidx;
	c->recv = true;
	c->status = status;
	if (status == IB_WC_SUCCESS && data)
		ts_move(&scatter, data, data->len);
	if (!report(r->cq, c))
		return IB_WC_REM_OP_ERR;
	if (status == IB_WC_SUCCESS)
		return IB_WC_SUCCESS;
	if (!ts_is_srd(r->qp))
		fail(r->qp);
	return status == IB_WC_LOC_LEN_ERR ? IB_WC_REM_INV_REQ_ERR : IB_WC_REM_OP_ERR;
}

/* Writes the header before the payload of a datagram. */
static void put_grh(u8 *head, struct ts_qp *from, const struct ts_send *s, u32 len)
{
	const struct ib_gid_attr *sgid;
	bool roce = to_ts_dev(from->ib.device)->ndev;

	put_unaligned_be32(6 << 28 | s->tclass << 20 | s->flow, head);
	put_unaligned_be16(len, head + 4);
	head[6] = 0x1b;
	head[7] = s->hop;
	sgid = rdma_get_gid_attr(from->ib.device, 1, s->sgid_index);
	if (!IS_ERR(sgid)) {
		memcpy(head + 8, sgid->gid.raw, 16);
		rdma_put_gid_attr(sgid);
	}
	memcpy(head + 24, s->dgid, 16);
	if (roce && ipv6_addr_v4mapped((struct in6_addr *)s->dgid)) {
		memcpy(head + 32, head + 20, 4);	/* source */
		memcpy(head + 36, s->dgid + 12, 4);
		memset(head, 0, 32);
		head[20] = 0x45;
		head[29] = IPPROTO_UDP;
	}
}

/* Reports whether a request finds the device of a queue pair: without LIDs, by its GID. */
static bool finds(const struct ts_send *s, struct ts_qp *to)
{
	struct ts_dev *dev = to_ts_dev(to->ib.device);
	union ib_gid gid;

	if (dev->ndev)
		return true;
	if (!s->dlid && s->dgid)
		return !rdma_query_gid(&dev->ib, 1, 0, &gid) && !memcmp(gid.raw, s->dgid, sizeof(gid));
	return s->dlid == dev->lid && (s->grh || !ts_needs_grh(dev));
}

static void deliver_datagram(struct ts_qp *from, const struct ts_send *s, struct ts_list *data)
{
	struct ts_qp *to = xa_load(&ts_qps, s->dqpn);
	struct ts_dev *dev = to_ts_dev(from->ib.device);
	u32 qkey = s->qkey & BIT(31) ? from->attr.qkey : s->qkey;
	unsigned int mtu = dev->ndev ? 1024 : 4096;
	struct ts_completion c = {};
	static struct ts_list all;
	u8 head[TS_GRH_LEN] = {};
	struct responder r;
	unsigned int i;

	if (!to || to->ib.qp_type != IB_QPT_UD || !can_receive(to) || to->attr.qkey != qkey ||
	    data->len > mtu || !finds(s, to))
		return;
	if (s->grh)
		put_grh(head, from, s, data->len);
	ts_clear(&all);
	ts_add_seg(&all, head, TS_GRH_LEN);
	for (i = 0; i < data->n; i++)
		ts_add_seg(&all, data->seg[i].p, data->seg[i].len);
	c.op = s->op;
	c.imm = s->imm;
	c.len = all.len;
	c.solicited = s->solicited;
	c.grh = s->grh;
	c.src_qp = from->ib.qp_num;
	c.slid = dev->lid;
	find_responder(&r, to, 0);
	deliver(&r, &all, &c);	/* or it is lost */
}

/* Reports whether two queue pairs are connected to each other. */
static bool connected(struct ts_qp *a, struct ts_qp *b)
{
	enum ib_qp_type want = a->ib.qp_type == IB_QPT_XRC_INI ? IB_QPT_XRC_TGT : a->ib.qp_type;
	struct ts_dev *dev = to_ts_dev(b->ib.device);

	return b->ib.qp_type == want && can_receive(b) && b->attr.dest_qp_num == a->ib.qp_num &&
	       (dev->ndev || a->dlid == dev->lid);
}

/* Runs an operation on memory of the peer. */
static int access_memory(const struct responder *r, const struct ts_send *s,
			 struct ts_list *local, u32 *bytes)
{
	static struct ts_list remote;
	int access = IB_ACCESS_REMOTE_ATOMIC;
	u64 len = 8, old;
	void *p;

	if (s->op == IB_WR_RDMA_WRITE || s->op == IB_WR_RDMA_WRITE_WITH_IMM) {
		access = IB_ACCESS_REMOTE_WRITE;
		len = local->len;
	} else if (s->op == IB_WR_RDMA_READ) {
		access = IB_ACCESS_REMOTE_READ;
		len = local->len;
	}
	if (!len)
		return IB_WC_SUCCESS;
	p = ts_remote_region(s->rkey, s->addr, len, r->pd, access, r->qp->ib.qp_num);
	if (!p || !can_access(r->qp, access) ||
	    (access == IB_ACCESS_REMOTE_ATOMIC && !IS_ALIGNED(s->addr, 8)))
		return IB_WC_REM_ACCESS_ERR;
	ts_clear(&remote);
	if (access != IB_ACCESS_REMOTE_ATOMIC) {
		ts_add_seg(&remote, p, len);
		if (access == IB_ACCESS_REMOTE_WRITE)
			ts_move(&remote, local, len);
		else
			ts_move(local, &remote, len);
		return IB_WC_SUCCESS;
	}
	old = s->op == IB_WR_ATOMIC_CMP_AND_SWP ? cmpxchg((u64 *)p, s->compare, s->swap_add) :
						  xadd((u64 *)p, s->swap_add);
	ts_add_seg(&remote, &old, 8);
	ts_move(local, &remote, 8);
	*bytes = 8;
	return IB_WC_SUCCESS;
}

/* Carries out a request that the peer takes part in. Returns the status or TS_WAIT_*. */
static int ask(struct ts_qp *qp, struct ts_qp *peer, const struct ts_send *s, struct ts_list *local,
	       u32 *bytes)
{
	struct ts_completion c = { .op = s->op, .imm = s->imm, .len = local->len,
				   .solicited = s->solicited,
				   .src_qp = ts_is_srd(qp) ? qp->ib.qp_num : 0 };
	struct responder r;
	int status = find_responder(&r, peer, s->srqn);

	if (status == IB_WC_SUCCESS) {
		switch (s->op) {
		case IB_WR_SEND:
		case IB_WR_SEND_WITH_IMM:
		case IB_WR_SEND_WITH_INV:
			return deliver(&r, local, &c);
		case IB_WR_RDMA_WRITE_WITH_IMM:
			if (!receive_waits(&r))
				return TS_WAIT_RNR;
			status = access_memory(&r, s, local, bytes);
			if (status == IB_WC_SUCCESS)
				return deliver(&r, NULL, &c);
			break;
		default:
			status = access_memory(&r, s, local, bytes);
		}
	}
	if (status != IB_WC_SUCCESS && ts_is_reliable(qp) && !ts_iwarp) {
		fail(peer);
		ts_event_qp(peer, status == IB_WC_REM_ACCESS_ERR ? IB_EVENT_QP_ACCESS_ERR :
								   IB_EVENT_QP_REQ_ERR);
	}
	return status;
}

/*
 * On iWARP, a message that the peer cannot take, also one without a receive, ends the
 * connection. The sender learns no reason.
 */
static int end_stream(struct ts_qp *peer, int status)
{
	if (status == IB_WC_SUCCESS)
		return status;
	fail(peer);
	ts_event_qp(peer, status == IB_WC_REM_ACCESS_ERR ? IB_EVENT_QP_ACCESS_ERR : IB_EVENT_QP_FATAL);
	return IB_WC_WR_FLUSH_ERR;
}

/* Finds the queue pair of an SRD request. */
static int find_srd(const struct ts_send *s, struct ts_qp **peer)
{
	struct ts_qp *to = xa_load(&ts_qps, s->dqpn);

	if (!to || !ts_is_srd(to) || !can_receive(to) || to->attr.qkey != s->qkey)
		return IB_WC_REM_INV_RD_REQ_ERR;
	if (!finds(s, to))
		return IB_WC_RESP_TIMEOUT_ERR;
	*peer = to;
	return IB_WC_SUCCESS;
}

/* Carries a request out. Returns the status or TS_WAIT_*. */
static int carry_out(struct ts_qp *qp, const struct ts_send *s, struct ts_list *local, u32 *bytes)
{
	struct ts_qp *peer;
	int status;

	*bytes = local->len;
	if (s->op == TS_NOP)
		return IB_WC_SUCCESS;
	if (s->op == TS_REPLY || s->op == TS_RTS) {
		(s->op == TS_REPLY ? ts_iw_reply : ts_iw_established)(qp);
		return IB_WC_SUCCESS;
	}
	if (qp->ib.qp_type == IB_QPT_UD) {
		deliver_datagram(qp, s, local);
		return IB_WC_SUCCESS;
	}
	if (ts_is_srd(qp)) {
		status = find_srd(s, &peer);
		return status == IB_WC_SUCCESS ? ask(qp, peer, s, local, bytes) : status;
	}
	if (s->op == IB_WR_BIND_MW)
		return ts_bind(qp, s);
	if (s->op == IB_WR_LOCAL_INV)
		return ts_invalidate(s->rkey, qp->ib.qp_num, qp->ib.pd);
	peer = xa_load(&ts_qps, qp->attr.dest_qp_num);
	if (!peer || !connected(qp, peer))
		return TS_WAIT_PEER;
	peer->waits = false;
	status = ask(qp, peer, s, local, bytes);
	return ts_iwarp ? end_stream(peer, status) : status;
}

/*
 * Decides how a request goes on that its peer does not answer. False: try it again
 * later. The time is much the same whatever the queue pair asks for.
 */
static bool give_up(struct ts_qp *qp, int *status)
{
	bool rnr = *status == TS_WAIT_RNR;
	unsigned int tries = rnr ? qp->attr.rnr_retry : qp->attr.retry_cnt;

	if (!ts_is_reliable(qp) && !ts_is_srd(qp)) {
		*status = IB_WC_SUCCESS;	/* lost */
		return true;
	}
	if (!qp->since)
		qp->since = ktime_get();
	if ((rnr && tries == 7) || ktime_ms_delta(ktime_get(), qp->since) < 100 * (tries + 1))
		return false;
	*status = rnr ? IB_WC_RNR_RETRY_EXC_ERR : IB_WC_RETRY_EXC_ERR;
	return true;
}

/* Reports whether the delay of the current request is over. */
static bool is_due(struct ts_qp *qp)
{
	unsigned int delay = READ_ONCE(delay_us);

	if (!delay)
		return true;
	if (!qp->due)
		qp->due = ktime_add_us(ktime_get(), delay);
	return ktime_after(ktime_get(), qp->due);
}

/* Runs the next send request. Returns false if there is none that can start. */
static bool send_one(struct ts_qp *qp)
{
	static struct ts_list local;
	struct ts_completion c = { .qp = qp, .uidx = qp->uidx };
	enum ib_wc_status parsed = IB_WC_SUCCESS;
	struct ts_send s = {};
	int status;

	if (!ts_abi->next_send(qp, &s, &local, &parsed) || !is_due(qp) ||
	    (qp->waits && qp->attr.qp_state == IB_QPS_RTS))
		return false;
	if (qp->attr.qp_state == IB_QPS_ERR) {
		status = IB_WC_WR_FLUSH_ERR;
	} else if (fault.on && !fault.after && !s.own) {
		c.forced_syndrome = fault.syndrome;
		c.forced_vendor = fault.vendor;
		fault.on = false;
		status = IB_WC_GENERAL_ERR;
	} else if (parsed != IB_WC_SUCCESS) {
		status = parsed;
	} else {
		status = carry_out(qp, &s, &local, &c.len);
	}
	if (status < 0 && !give_up(qp, &status))
		return false;
	if (status != IB_WC_SUCCESS && !ts_is_reliable(qp) && !ts_is_srd(qp) && parsed == IB_WC_SUCCESS &&
	    qp->attr.qp_state != IB_QPS_ERR && !c.forced_syndrome)
		status = IB_WC_SUCCESS;	/* the peer does not report it */
	qp->since = 0;
	qp->due = 0;
	qp->wqes++;
	qp->sq_ci += s.blocks;
	c.op = s.op;
	c.raw_op = s.raw_op;
	c.counter = s.counter;
	c.status = status;
	if (status != IB_WC_SUCCESS) {
		report(to_ts_cq(qp->ib.send_cq), &c);
		if (qp->attr.qp_state != IB_QPS_ERR && !ts_is_srd(qp))
			fail(qp);	/* a failed message of SRD does not end others */
		return true;
	}
	if (fault.on && s.op != TS_NOP && !s.own)
		fault.after--;
	if (s.signaled)
		report(to_ts_cq(qp->ib.send_cq), &c);
	return true;
}

static bool run_qp(struct ts_qp *qp)
{
	static struct ts_list unused;
	bool any = false;
	unsigned int i;

	switch (qp->attr.qp_state) {
	case IB_QPS_ERR:
		while (!qp->ib.srq && ts_abi->receive_waits(qp)) {
			struct ts_completion c = { .qp = qp, .uidx = qp->uidx, .recv = true,
						   .status = IB_WC_WR_FLUSH_ERR };

			ts_abi->take_receive(qp, &unused, &c.counter);
			report(to_ts_cq(qp->ib.recv_cq), &c);
			any = true;
		}
		fallthrough;
	case IB_QPS_RTS:
		for (i = 0; i < 64 && send_one(qp); i++)
			any = true;
		break;
	default:
		break;
	}
	return any;
}

/* Raises the event of the limit of an SRQ, once. */
static void check_limit(struct ts_srq *srq)
{
	struct ib_event ev = { .device = srq->ib.device, .element.srq = &srq->ib,
			       .event = IB_EVENT_SRQ_LIMIT_REACHED };

	if (!srq->limit || ts_abi->srq_left(srq) >= srq->limit)
		return;
	srq->limit = 0;
	if (srq->toggle)
		WRITE_ONCE(*srq->toggle, (*srq->toggle + 1) & 3);
	if (srq->ib.event_handler)
		srq->ib.event_handler(&ev, srq->ib.srq_context);
}

int ts_engine(void *unused)
{
	sched_set_fifo_low(current);
	while (!kthread_should_stop()) {
		struct ts_srq *srq;
		struct ts_qp *qp;
		struct ts_cq *cq;
		unsigned long i;
		bool any;

		mutex_lock(&ts_lock);
		any = ts_abi->hear_bells && ts_abi->hear_bells();
		ts_iw_run();
		xa_for_each(&ts_qps, i, qp)
			any |= run_qp(qp);
		xa_for_each(&ts_srqs, i, srq)
			check_limit(srq);
		xa_for_each(&ts_cqs, i, cq)
			ts_abi->check_arm(cq);
		mutex_unlock(&ts_lock);
		if (!READ_ONCE(ts_queues))
			wait_event_interruptible(ts_idle, ts_queues || kthread_should_stop());
		else if (any)
			cond_resched();
		else
			usleep_range(10, 20);
	}
	return 0;
}
