// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Connections of iWARP, as the kernel's connection manager (iw_cm) asks a driver for them.
 * There is no TCP: a request finds its listener by address and port, and the queue pairs of
 * the two ends learn each other's number. The driver's own work requests carry the rest of
 * the handshake (ts_abi->start_stream), so that the engine runs them first:
 *
 *   client: iw_connect -> CONNECT_REQUEST of the listener
 *   server: iw_accept, starts its queue pair: the reply (TS_REPLY), then waits for data
 *   client: the reply starts its queue pair: an empty write; TS_RTS -> CONNECT_REPLY
 *   server: the write has come; TS_RTS -> ESTABLISHED
 *
 * The order of events follows drivers/infiniband/hw/irdma/cm.c (irdma_accept,
 * irdma_cm_event_connected, irdma_cm_disconn_true). All is under ts_lock; the events only
 * queue work.
 */
#include <net/ipv6.h>
#include <rdma/iw_cm.h>
#include "engine.h"

bool ts_iwarp;
module_param_named(iwarp, ts_iwarp, bool, 0444);
MODULE_PARM_DESC(iwarp, "the device is an iWARP device: its queue pairs connect through the connection manager only");

#define MAX_DATA	255	/* of struct iw_cm_event */
#define RETRY_MS	3000	/* of requests without a listener */
#define TIMEOUT_MS	60000	/* for the server's decision */

enum { CLIENT, SERVER };

struct end {
	struct iw_cm_id *id;
	struct ts_qp *qp;
	bool established;
};

struct ts_conn {
	struct list_head list;
	struct end end[2];
	bool asked;			/* a listener has the request, or there is none */
	bool undecided;			/* the server neither accepts nor rejects yet */
	ktime_t since;
	u32 ird, ord;			/* of the request, then of the reply; also the data */
	u16 len;
	u8 data[MAX_DATA];
};

struct listener {
	struct list_head list;
	struct iw_cm_id *id;
};

static LIST_HEAD(conns);
static LIST_HEAD(listeners);

static int raise(struct iw_cm_id *id, struct iw_cm_event *ev)
{
	return id->event_handler(id, ev);
}

static void raise_simple(struct iw_cm_id *id, enum iw_cm_event_type type)
{
	struct iw_cm_event ev = { .event = type };

	raise(id, &ev);
}

/* Ends the client's wait for a connection. */
static void raise_reply(struct ts_conn *conn, int status)
{
	struct iw_cm_id *id = conn->end[CLIENT].id;
	struct iw_cm_event ev = {
		.event = IW_CM_EVENT_CONNECT_REPLY, .status = status,
		.local_addr = id->m_local_addr, .remote_addr = id->m_remote_addr,
		.private_data = conn->data, .private_data_len = conn->len,
		.ird = conn->ird, .ord = conn->ord,
	};

	raise(id, &ev);
}

static void attach(struct ts_conn *conn, int side, struct iw_cm_id *id, struct ts_qp *qp)
{
	id->add_ref(id);
	conn->end[side].id = id;
	conn->end[side].qp = qp;
	qp->conn = conn;
}

/* Ends one side. An established connection has an event for each of the two steps. */
static void detach(struct ts_conn *conn, int side, bool by_peer)
{
	struct end *e = &conn->end[side];

	if (!e->id)
		return;
	if (side == CLIENT && !e->established) {
		raise_reply(conn, -ECONNRESET);
	} else {
		if (!e->established)
			raise_simple(e->id, IW_CM_EVENT_ESTABLISHED);
		if (by_peer)
			raise_simple(e->id, IW_CM_EVENT_DISCONNECT);
		raise_simple(e->id, IW_CM_EVENT_CLOSE);
	}
	if (e->qp->attr.qp_state == IB_QPS_RTS)
		e->qp->attr.qp_state = IB_QPS_ERR;
	e->qp->conn = NULL;
	e->id->rem_ref(e->id);
	memset(e, 0, sizeof(*e));
}

static void free_conn(struct ts_conn *conn)
{
	if (conn->undecided)	/* the manager has it */
		return;
	list_del(&conn->list);
	kfree(conn);
}

/* Refuses a client with a status, and the private data in conn. */
static void refuse(struct ts_conn *conn, int status)
{
	struct end *e = &conn->end[CLIENT];

	if (e->id) {
		raise_reply(conn, status);
		e->qp->conn = NULL;
		e->id->rem_ref(e->id);
		memset(e, 0, sizeof(*e));
	}
	free_conn(conn);
}

static struct ts_qp *other(const struct ts_qp *qp)
{
	return qp->conn->end[qp->conn->end[CLIENT].qp == qp ? SERVER : CLIENT].qp;
}

/*
 * Closes the connection of a queue pair, if there is any; both queue pairs change to the error
 * state. After an error, the peer receives a Terminate message, which is an event.
 */
void ts_iw_close(struct ts_qp *qp, bool terminate)
{
	struct ts_conn *conn = qp->conn;
	int side;

	if (!conn)
		return;
	side = conn->end[CLIENT].qp == qp ? CLIENT : SERVER;
	if (terminate && other(qp))
		ts_event_qp(other(qp), IB_EVENT_QP_FATAL);
	detach(conn, side, terminate);
	detach(conn, !side, true);
	free_conn(conn);
}

/* The connection of a queue pair is complete at its side. */
void ts_iw_established(struct ts_qp *qp)
{
	struct ts_conn *conn = qp->conn;
	int side = conn->end[CLIENT].qp == qp ? CLIENT : SERVER;

	conn->end[side].established = true;
	if (side == CLIENT)
		raise_reply(conn, 0);
	else
		raise_simple(conn->end[side].id, IW_CM_EVENT_ESTABLISHED);
}

/* Starts one side: the driver's requests run first. */
static void start(struct ts_conn *conn, int side)
{
	struct ts_qp *qp = conn->end[side].qp;

	qp->attr.dest_qp_num = conn->end[!side].qp->ib.qp_num;
	qp->attr.qp_state = IB_QPS_RTS;
	qp->attr.qp_access_flags = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	if (!ts_abi->start_stream(qp, side == SERVER))
		ts_iw_established(qp);
}

/* The server's reply arrives. The server sends no more before the client has. */
void ts_iw_reply(struct ts_qp *server)
{
	server->waits = true;
	start(server->conn, CLIENT);
}

/*
 * The operations of the connection manager.
 */

static bool same_address(const struct sockaddr_storage *listens, const struct sockaddr_storage *to)
{
	const struct sockaddr_in *a = (void *)listens, *b = (void *)to;
	const struct sockaddr_in6 *a6 = (void *)listens, *b6 = (void *)to;

	if (listens->ss_family != to->ss_family || a->sin_port != b->sin_port)	/* as sin6_port */
		return false;
	if (listens->ss_family == AF_INET)
		return !a->sin_addr.s_addr || a->sin_addr.s_addr == b->sin_addr.s_addr;
	return ipv6_addr_any(&a6->sin6_addr) || ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr);
}

static struct listener *find_listener(const struct sockaddr_storage *to)
{
	struct listener *l;

	list_for_each_entry(l, &listeners, list)
		if (same_address(&l->id->m_local_addr, to))
			return l;
	return NULL;
}

static int request(struct listener *l, struct ts_conn *conn)
{
	struct iw_cm_id *id = conn->end[CLIENT].id;
	struct iw_cm_event ev = {
		.event = IW_CM_EVENT_CONNECT_REQUEST, .provider_data = conn,
		.local_addr = id->m_remote_addr, .remote_addr = id->m_local_addr,
		.private_data = conn->data, .private_data_len = conn->len,
		.ird = conn->ird, .ord = conn->ord,
	};

	return raise(l->id, &ev);
}

/* Passes a request to its listener, which may be late. */
static void ask(struct ts_conn *conn, bool last)
{
	struct listener *l = find_listener(&conn->end[CLIENT].id->m_remote_addr);

	if (!l && !last)
		return;
	conn->asked = true;
	conn->undecided = l && !request(l, conn);
	conn->len = 0;
	if (!conn->undecided)
		refuse(conn, -ECONNRESET);
}

/* Passes requests on, and reports clients that the server has not answered in time. */
void ts_iw_run(void)
{
	struct ts_conn *conn, *next;

	list_for_each_entry_safe(conn, next, &conns, list) {
		s64 ms = ktime_ms_delta(ktime_get(), conn->since);

		if (!conn->asked)
			ask(conn, ms > RETRY_MS);
		else if (conn->undecided && conn->end[CLIENT].id && ms > TIMEOUT_MS)
			refuse(conn, -ETIMEDOUT);
	}
}

static void keep(struct ts_conn *conn, const void *data, u16 len, u32 ird, u32 ord)
{
	conn->len = min_t(u16, len, MAX_DATA);
	memcpy(conn->data, data, conn->len);
	conn->ird = ird;
	conn->ord = ord;
}

static bool can_connect(const struct ts_qp *qp)
{
	return qp && !qp->conn && qp->attr.qp_state <= IB_QPS_RTR;
}

static int iw_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct ts_conn *conn;
	struct ts_qp *qp;
	int err = 0;

	if (param->private_data_len > MAX_DATA)
		return -EINVAL;
	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return -ENOMEM;
	mutex_lock(&ts_lock);
	qp = xa_load(&ts_qps, param->qpn);
	if (can_connect(qp)) {
		list_add_tail(&conn->list, &conns);
		attach(conn, CLIENT, id, qp);
		keep(conn, param->private_data, param->private_data_len, param->ird, param->ord);
		conn->since = ktime_get();
	} else {
		kfree(conn);
		err = -EINVAL;
	}
	mutex_unlock(&ts_lock);
	return err;
}

static int iw_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	struct ts_conn *conn = id->provider_data;
	struct ts_qp *qp;
	int err = 0;

	mutex_lock(&ts_lock);
	conn->undecided = false;
	qp = xa_load(&ts_qps, param->qpn);
	if (can_connect(qp) && conn->end[CLIENT].id) {
		attach(conn, SERVER, id, qp);
		keep(conn, param->private_data, param->private_data_len, param->ird, param->ord);
		start(conn, SERVER);
	} else {
		refuse(conn, -ECONNRESET);
		err = -ECONNRESET;
	}
	mutex_unlock(&ts_lock);
	return err;
}

static int iw_reject(struct iw_cm_id *id, const void *data, u8 len)
{
	struct ts_conn *conn = id->provider_data;

	mutex_lock(&ts_lock);
	conn->undecided = false;
	keep(conn, data, len, 0, 0);
	refuse(conn, -ECONNREFUSED);
	mutex_unlock(&ts_lock);
	return 0;
}

static int iw_create_listen(struct iw_cm_id *id, int backlog)
{
	struct listener *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return -ENOMEM;
	id->add_ref(id);
	id->provider_data = l;
	l->id = id;
	mutex_lock(&ts_lock);
	list_add_tail(&l->list, &listeners);
	mutex_unlock(&ts_lock);
	return 0;
}

static int iw_destroy_listen(struct iw_cm_id *id)
{
	struct listener *l = id->provider_data;

	mutex_lock(&ts_lock);
	list_del(&l->list);
	mutex_unlock(&ts_lock);
	kfree(l);
	id->rem_ref(id);
	return 0;
}

/*
 * Queue pairs. The manager counts references to them, also with its own lock held.
 */

static struct ib_qp *iw_get_qp(struct ib_device *ib, int qpn)
{
	struct ts_qp *qp = xa_load(&ts_qps, qpn);

	return qp ? &qp->ib : NULL;
}

static void iw_add_ref(struct ib_qp *ib)
{
	refcount_inc(&to_ts_qp(ib)->refs);
}

static void iw_rem_ref(struct ib_qp *ib)
{
	if (refcount_dec_and_test(&to_ts_qp(ib)->refs))
		complete(&to_ts_qp(ib)->unused);
}

void ts_iw_init_qp(struct ts_qp *qp)
{
	refcount_set(&qp->refs, 1);
	init_completion(&qp->unused);
}

/* Waits until the manager has no reference to a queue pair that nobody finds any longer. */
void ts_iw_destroy_qp(struct ts_qp *qp)
{
	mutex_lock(&ts_lock);
	ts_iw_close(qp, false);
	mutex_unlock(&ts_lock);
	iw_rem_ref(&qp->ib);
	wait_for_completion(&qp->unused);
}

/* The states follow irdma_modify_qp in drivers/infiniband/hw/irdma/verbs.c. */
int ts_iw_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask)
{
	struct ts_qp *qp = to_ts_qp(ib);
	int err = 0;

	if (!(mask & IB_QP_STATE))
		return 0;
	mutex_lock(&ts_lock);
	switch (attr->qp_state) {
	case IB_QPS_INIT:
	case IB_QPS_RTR:
		if (qp->attr.qp_state <= IB_QPS_RTR)
			qp->attr.qp_state = attr->qp_state;
		else
			err = -EINVAL;
		break;
	case IB_QPS_RTS:
		if (!qp->conn || qp->attr.qp_state != IB_QPS_RTS)
			err = -EINVAL;
		break;
	case IB_QPS_SQD:
		ts_iw_close(qp, false);
		break;
	default:
		ts_iw_close(qp, false);
		qp->attr.qp_state = IB_QPS_ERR;
	}
	mutex_unlock(&ts_lock);
	return err;
}

const struct ib_device_ops ts_iw_ops = {
	.iw_accept = iw_accept,
	.iw_add_ref = iw_add_ref,
	.iw_connect = iw_connect,
	.iw_create_listen = iw_create_listen,
	.iw_destroy_listen = iw_destroy_listen,
	.iw_get_qp = iw_get_qp,
	.iw_reject = iw_reject,
	.iw_rem_ref = iw_rem_ref,
};
