// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Causes errors of SRD and prints the completions, for comparison with test/guest/efa/faults.
 * With arguments, the module injects faults: each is a status and another code.
 */
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "check.h"

#define SIZE	4096
#define DEPTH	4
#define QKEY	0x11111111

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr, *closed, *local;
static struct ibv_ah *ah, *nowhere;
static char *buffer;

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

/* A request; the fault changes a field. */
struct request {
	struct ibv_ah *ah;
	uint32_t qpn, qkey, rkey, lkey, length;
	uint64_t remote;
};

static void create(struct side *s)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct efadv_qp_init_attr efa = { .driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_DRIVER, .pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	init.send_cq = init.recv_cq = s->cq = CHECK(ibv_create_cq(ctx, 4 * DEPTH, NULL, NULL, 0));
	s->qp = CHECK(efadv_create_qp_ex(ctx, &init, &efa, sizeof(efa)));
	ZERO(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	ZERO(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	ZERO(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RNR_RETRY));	/* no retry */
}

static void destroy(struct side *s)
{
	if (s->qp)
		ZERO(ibv_destroy_qp(s->qp));
	ZERO(ibv_destroy_cq(s->cq));
}

static void receive(struct side *s, uint64_t id, uint32_t lkey, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)buffer, length, lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	ZERO(ibv_post_recv(s->qp, &wr, &bad));
}

static struct request to(struct side *peer)
{
	return (struct request){ ah, peer->qp->qp_num, QKEY, mr->rkey, mr->lkey, 64, (uintptr_t)buffer };
}

static void post(struct side *s, int read, struct request r)
{
	struct ibv_qp_ex *x = CHECK(ibv_qp_to_qp_ex(s->qp));

	ibv_wr_start(x);
	x->wr_id = 1;
	x->wr_flags = IBV_SEND_SIGNALED;
	if (read)
		ibv_wr_rdma_read(x, r.rkey, r.remote);
	else
		ibv_wr_send(x);
	ibv_wr_set_sge(x, r.lkey, (uintptr_t)buffer, r.length);
	ibv_wr_set_ud_addr(x, r.ah, r.qpn, r.qkey);
	ZERO(ibv_wr_complete(x));
}

/* Waits for n completions and prints them. */
static void print(const char *fault, const char *name, struct side *s, int n)
{
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(s->cq, 1, &wc);

		CHECK(got >= 0);
		if (got)
			printf("%s: %s %d: status %d vendor %#x\n", fault, name, (int)wc.wr_id, wc.status,
			       wc.status ? wc.vendor_err : 0);
		n -= got;
	}
}

static const char *const faults[] = {
	"invalid remote key", "no right to read", "range", "unknown queue pair", "wrong QKey", "unreachable",
	"no peer", "no receive", "receive too short", "invalid key of a receive", "invalid local key", "local range",
	"too long", "flush", NULL,
};

static void run(const char *fault)
{
	struct side a = {}, b = {};
	struct request r;
	int read = 0, received = 0;

#define IS(s)	(!strcmp(fault, s))
	create(&a);
	create(&b);
	r = to(&b);
	if (IS("invalid remote key")) {
		read = 1;
		r.rkey = closed->rkey;
	} else if (IS("no right to read")) {
		read = 1;
		r.rkey = local->rkey;
	} else if (IS("range")) {
		read = 1;
		r.remote += SIZE - 63;
	} else if (IS("unknown queue pair")) {
		r.qpn += 100;
	} else if (IS("wrong QKey")) {
		r.qkey++;
	} else if (IS("unreachable")) {
		r.ah = nowhere;
	} else if (IS("no peer")) {
		ZERO(ibv_destroy_qp(b.qp));
		b.qp = NULL;
	} else if (IS("receive too short")) {
		receive(&b, 7, mr->lkey, 63);
		received = 1;
	} else if (IS("invalid key of a receive")) {
		receive(&b, 7, closed->lkey, 64);
		received = 1;
	} else if (IS("invalid local key")) {
		r.lkey = closed->lkey;
	} else if (IS("local range")) {
		r.length = SIZE + 1;
	} else if (IS("too long")) {
		r.length = 2 * SIZE + 1;
	} else if (IS("flush")) {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

		receive(&b, 7, mr->lkey, 64);
		receive(&b, 8, mr->lkey, 64);
		ZERO(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE));
		print(fault, "responder", &b, 2);
	}
	if (!IS("flush")) {
		post(&a, read, r);
		print(fault, "requester", &a, 1);
		print(fault, "responder", &b, received);
	}
	if (b.qp && !received && !IS("flush")) {	/* a failed message does not end others */
		receive(&b, 9, mr->lkey, 64);
		post(&a, 0, to(&b));
		print(fault, "next", &a, 1);
		print(fault, "received", &b, 1);
	}
	destroy(&a);
	destroy(&b);
}

static void inject(const char *codes)
{
	FILE *f = CHECK(fopen("/sys/module/verbstest/parameters/fault", "w"));

	fprintf(f, "0 %s", codes);
	ZERO(fclose(f));
	run(codes);
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct ibv_ah_attr attr = { .port_num = 1, .is_global = 1 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	ctx = CHECK(ibv_open_device(CHECK(devices[0])));
	pd = CHECK(ibv_alloc_pd(ctx));
	ZERO(posix_memalign((void **)&buffer, SIZE, SIZE));
	memset(buffer, 0, SIZE);
	mr = CHECK(ibv_reg_mr(pd, buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	local = CHECK(ibv_reg_mr(pd, buffer, SIZE, IBV_ACCESS_LOCAL_WRITE));
	closed = CHECK(ibv_reg_mr(CHECK(ibv_alloc_pd(ctx)), buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	ZERO(ibv_query_gid(ctx, 1, 0, &attr.grh.dgid));
	ah = CHECK(ibv_create_ah(pd, &attr));
	attr.grh.dgid.raw[15]++;
	nowhere = CHECK(ibv_create_ah(pd, &attr));
	for (int i = 0; faults[i]; i++)
		run(faults[i]);
	for (int i = 1; i < argc; i++)
		inject(argv[i]);
	return 0;
}
