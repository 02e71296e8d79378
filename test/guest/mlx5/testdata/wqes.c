// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Posts work requests through libmlx5 and prints the bytes that it wrote into the
 * queues, one work request a line: the parameters as name=value, and the block of the
 * ring in hex. The test of package verbs/internal/mlx5 posts the same and compares.
 */
#include <arpa/inet.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define DEPTH	128
#define SGES	4
#define INLINE	200
#define BB	64

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_port_attr port;
static uint8_t memory[8192];

struct queue {
	struct ibv_qp *qp;
	struct mlx5dv_qp dv;
	uint32_t block;		/* next one of the send queue */
	uint32_t received;
	int windowed;		/* the last work request was one of a memory window */
	const char *transport;
};

static void open_queue(struct queue *q, enum ibv_qp_type type, const char *name)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq, .pd = pd,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 16, .max_send_sge = SGES, .max_recv_sge = SGES, .max_inline_data = INLINE },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};
	struct mlx5dv_obj obj = {};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111 };
	int acknowledged = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;

	init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	if (type != IBV_QPT_UD)
		init.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_BIND_MW |
				       IBV_QP_EX_WITH_LOCAL_INV;
	if (type == IBV_QPT_XRC_SEND) {
		init.send_ops_flags &= ~(IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV);
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	}
	if (acknowledged)
		init.send_ops_flags |= IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |
				       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	q->transport = name;
	q->qp = CHECK(ibv_create_qp_ex(ctx, &init));
	obj.qp.in = q->qp;
	obj.qp.out = &q->dv;
	ZERO(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	/* The queue pair has no peer: what it posts fails, and its bytes stay. */
	ZERO(ibv_modify_qp(q->qp, &attr, type == IBV_QPT_UD ? IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY :
			   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = 0xfffffe, .min_rnr_timer = 1,
		.ah_attr = { .dlid = port.lid, .port_num = 1 },
	};
	ZERO(ibv_modify_qp(q->qp, &attr, type == IBV_QPT_UD ? IBV_QP_STATE :
			   type != IBV_QPT_RC ? IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN :
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1 };
	ZERO(ibv_modify_qp(q->qp, &attr, acknowledged ? IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void print_send(struct queue *q, const char *name, const char *api, struct ibv_send_wr *wr, struct ibv_ah_attr *path)
{
	uint8_t *wqe = (uint8_t *)q->dv.sq.buf + (q->block & (q->dv.sq.wqe_cnt - 1)) * BB;
	uint32_t size = (ntohl(((uint32_t *)wqe)[1]) & 0x3f) * 16;
	uint32_t blocks = (size + BB - 1) / BB;
	struct ibv_sge *s = wr->sg_list;

	printf("name=%s-%s-%s transport=%s api=%s op=%d flags=%u qpn=%u block=%u", q->transport, name, api, q->transport, api,
	       wr->opcode, wr->send_flags, q->qp->qp_num, q->block);
	if (q->windowed)
		printf(" windowed=1");
	if (q->qp->qp_type == IBV_QPT_XRC_SEND)
		printf(" srqn=%u", wr->qp_type.xrc.remote_srqn);
	q->windowed = wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV;
	if (wr->opcode == IBV_WR_SEND_WITH_INV || wr->opcode == IBV_WR_LOCAL_INV)
		printf(" invalidate=%u", wr->invalidate_rkey);
	else
		printf(" imm=%u", ntohl(wr->imm_data));
	if (wr->opcode == IBV_WR_BIND_MW)
		printf(" window=%u newkey=%u bindkey=%u bindaddr=%lu bindlen=%lu access=%u", wr->bind_mw.mw->rkey, wr->bind_mw.rkey,
		       wr->bind_mw.bind_info.mr->lkey, wr->bind_mw.bind_info.addr, wr->bind_mw.bind_info.length,
		       wr->bind_mw.bind_info.mw_access_flags);
	if (q->qp->qp_type == IBV_QPT_UD) {
		printf(" rqpn=%u qkey=%u dlid=%u sl=%u pathbits=%u rate=%u global=%u", wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey, path->dlid,
		       path->sl, path->src_path_bits, path->static_rate, path->is_global);
		if (path->is_global) {
			printf(" gidindex=%u flow=%u hop=%u tclass=%u dgid=", path->grh.sgid_index, path->grh.flow_label, path->grh.hop_limit,
			       path->grh.traffic_class);
			hex(path->grh.dgid.raw, 16);
		}
	} else if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		printf(" raddr=%lu rkey=%u compare=%lu swap=%lu", wr->wr.atomic.remote_addr, wr->wr.atomic.rkey, wr->wr.atomic.compare_add,
		       wr->wr.atomic.swap);
	} else if (!q->windowed) {
		printf(" raddr=%lu rkey=%u", wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
	}
	if (wr->send_flags & IBV_SEND_INLINE) {
		printf(" inline=");
		for (int i = 0; i < wr->num_sge; i++)
			hex((void *)s[i].addr, s[i].length);
	} else {
		for (int i = 0; i < wr->num_sge; i++)
			printf(" sge=%lu,%u,%u", s[i].addr, s[i].length, s[i].lkey);
	}
	q->block += blocks;
	printf(" record=%u bytes=", ntohl(q->dv.dbrec[MLX5_SND_DBR]));
	hex(wqe, size);
	printf("\n");
}

static int post_wr(struct queue *q, struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(q->qp);

	ibv_wr_start(x);
	x->wr_id = wr->wr_id;
	x->wr_flags = wr->send_flags & ~IBV_SEND_INLINE;
	switch (wr->opcode) {
	case IBV_WR_SEND: ibv_wr_send(x); break;
	case IBV_WR_SEND_WITH_IMM: ibv_wr_send_imm(x, wr->imm_data); break;
	case IBV_WR_SEND_WITH_INV: ibv_wr_send_inv(x, wr->invalidate_rkey); break;
	case IBV_WR_RDMA_WRITE: ibv_wr_rdma_write(x, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr); break;
	case IBV_WR_RDMA_WRITE_WITH_IMM: ibv_wr_rdma_write_imm(x, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data); break;
	case IBV_WR_RDMA_READ: ibv_wr_rdma_read(x, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr); break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(x, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_BIND_MW:
		ibv_wr_bind_mw(x, wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
		return ibv_wr_complete(x);
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(x, wr->invalidate_rkey);
		return ibv_wr_complete(x);
	default: ibv_wr_atomic_fetch_add(x, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, wr->wr.atomic.compare_add);
	}
	if (q->qp->qp_type == IBV_QPT_UD)
		ibv_wr_set_ud_addr(x, wr->wr.ud.ah, wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	if (q->qp->qp_type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(x, wr->qp_type.xrc.remote_srqn);
	if (wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(x, (void *)wr->sg_list->addr, wr->sg_list->length);
	else
		ibv_wr_set_sge_list(x, wr->num_sge, wr->sg_list);
	return ibv_wr_complete(x);
}

static void post(struct queue *q, const char *name, struct ibv_send_wr wr, struct ibv_ah_attr *path)
{
	struct ibv_send_wr *bad;
	struct ibv_ah *ah = NULL;

	if (q->qp->qp_type == IBV_QPT_XRC_SEND)
		wr.qp_type.xrc.remote_srqn = 0x654321;
	if (path)
		ah = wr.wr.ud.ah = CHECK(ibv_create_ah(pd, path));
	ZERO(ibv_post_send(q->qp, &wr, &bad));
	print_send(q, name, "post", &wr, path);
	if (wr.num_sge <= 1 || !(wr.send_flags & IBV_SEND_INLINE)) {
		ZERO(post_wr(q, &wr));
		print_send(q, name, "wr", &wr, path);
	}
	if (ah)
		ibv_destroy_ah(ah);
}

static void sends(struct queue *q, struct ibv_ah_attr *path, const char *suffix)
{
	struct ibv_sge sge[SGES] = {
		{ (uintptr_t)memory, 100, mr->lkey }, { (uintptr_t)memory + 512, 0, mr->lkey },
		{ (uintptr_t)memory + 1024, 1, mr->lkey }, { (uintptr_t)memory + 2048, 2048, mr->lkey },
	};
	static const int sizes[] = { 1, 4, 12, 13, 28, 60, 64, 124, INLINE };
	static const unsigned int flags[] = {
		0, IBV_SEND_SIGNALED, IBV_SEND_SOLICITED, IBV_SEND_FENCE, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_FENCE,
	};
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr wr;
	char name[64];

	if (path) {
		send.wr.ud.remote_qpn = 0x123456;
		send.wr.ud.remote_qkey = 0x80010000;
	} else {
		send.wr.rdma.remote_addr = 0x1122334455667788;
		send.wr.rdma.rkey = 0x99aabbcc;
	}
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		wr = send;
		wr.send_flags = flags[i];
		snprintf(name, sizeof(name), "send-flags-%u%s", flags[i], suffix);
		post(q, name, wr, path);
	}
	for (int n = 0; n <= SGES; n++) {
		wr = send;
		wr.num_sge = n;
		snprintf(name, sizeof(name), "send-sges-%d%s", n, suffix);
		post(q, name, wr, path);
	}
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		wr = send;
		wr.send_flags |= IBV_SEND_INLINE;
		sge[0].length = sizes[i];
		snprintf(name, sizeof(name), "send-inline-%d%s", sizes[i], suffix);
		post(q, name, wr, path);
	}
	sge[0].length = 100;
	wr = send;
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htonl(0x01020304);
	snprintf(name, sizeof(name), "send-imm%s", suffix);
	post(q, name, wr, path);
}

static void remotes(struct queue *q)
{
	struct ibv_sge sge[2] = { { (uintptr_t)memory, 8, mr->lkey }, { (uintptr_t)memory + 512, 20, mr->lkey } };
	struct ibv_send_wr wr = { .sg_list = sge, .num_sge = 2, .send_flags = IBV_SEND_SIGNALED };

	wr.wr.rdma.remote_addr = 0x1122334455667788;
	wr.wr.rdma.rkey = 0x99aabbcc;
	wr.opcode = IBV_WR_RDMA_WRITE;
	post(q, "write", wr, NULL);
	wr.num_sge = 0;
	post(q, "write-empty", wr, NULL);
	wr.num_sge = 1;
	wr.send_flags |= IBV_SEND_INLINE;
	sge[0].length = INLINE;
	post(q, "write-inline", wr, NULL);
	sge[0].length = 8;
	wr.send_flags &= ~IBV_SEND_INLINE;
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	wr.imm_data = htonl(0xfffefdfc);
	post(q, "write-imm", wr, NULL);
	if (q->qp->qp_type == IBV_QPT_UC)
		return;
	wr.imm_data = 0;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.num_sge = 2;
	post(q, "read", wr, NULL);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND_WITH_INV;
	wr.invalidate_rkey = 0x0a0b0c0d;
	post(q, "send-inv", wr, NULL);
	wr.imm_data = 0;
	wr.wr.atomic.remote_addr = 0x1122334455667780;
	wr.wr.atomic.rkey = 0x99aabbcc;
	wr.wr.atomic.compare_add = 0x0102030405060708;
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	post(q, "fetch-add", wr, NULL);
	wr.wr.atomic.swap = 0xf1f2f3f4f5f6f7f8;
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	post(q, "compare-swap", wr, NULL);
}

/* Work requests of memory windows, and those after them, which wait for the change of a key. */
static void windows(struct queue *q)
{
	static const unsigned int access[] = {
		IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_ATOMIC,
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr invalidate = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = 0x0a0b0c0d };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	char name[64];

	for (unsigned int i = 0; i < sizeof(access) / sizeof(*access); i++) {
		struct ibv_send_wr bind = {
			.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
			.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = {
				.mr = mr, .addr = (uintptr_t)memory + 64 * i, .length = 4000 + i, .mw_access_flags = access[i],
			} },
		};

		snprintf(name, sizeof(name), "bind-%u", access[i]);
		post(q, name, bind, NULL);
	}
	post(q, "after-bind", send, NULL);
	post(q, "invalidate", invalidate, NULL);
	send.send_flags = IBV_SEND_FENCE;
	post(q, "fenced-after-invalidate", send, NULL);
}

/* Receive requests end at the first entry with the key 0x100, or at the stride. */
static void print_recv(const char *name, struct ibv_recv_wr *wr, const uint8_t *wqe, size_t stride, uint32_t record)
{
	printf("name=%s receive=1 stride=%zu", name, stride);
	for (int i = 0; i < wr->num_sge; i++)
		printf(" sge=%lu,%u,%u", wr->sg_list[i].addr, wr->sg_list[i].length, wr->sg_list[i].lkey);
	printf(" record=%u bytes=", record);
	hex(wqe, stride);
	printf("\n");
}

static void receives(struct queue *q)
{
	struct ibv_sge sge[SGES] = {
		{ (uintptr_t)memory, 100, mr->lkey }, { (uintptr_t)memory + 512, 0, mr->lkey },
		{ (uintptr_t)memory + 1024, 1, mr->lkey }, { (uintptr_t)memory + 2048, 2048, mr->lkey },
	};
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 16, .max_sge = 3 } };
	struct ibv_srq *srq = CHECK(ibv_create_srq(pd, &init));
	struct mlx5dv_srq dv;
	struct mlx5dv_obj obj = { .srq = { .in = srq, .out = &dv } };
	struct ibv_recv_wr *bad;
	char name[64];

	ZERO(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
	for (int n = 0; n <= SGES; n++) {
		struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = n };

		ZERO(ibv_post_recv(q->qp, &wr, &bad));
		snprintf(name, sizeof(name), "%s-recv-%d", q->transport, n);
		print_recv(name, &wr, (uint8_t *)q->dv.rq.buf + n * q->dv.rq.stride, q->dv.rq.stride, ntohl(q->dv.dbrec[MLX5_RCV_DBR]));
	}
	for (int n = 0; n < SGES; n++) {
		struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = n };

		ZERO(ibv_post_srq_recv(srq, &wr, &bad));
		snprintf(name, sizeof(name), "srq-recv-%d", n);
		print_recv(name, &wr, (uint8_t *)dv.buf + n * dv.stride, dv.stride, ntohl(*dv.dbrec));
	}
	ibv_destroy_srq(srq);
}

int main(void)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct queue rc = {}, uc = {}, ud = {}, xrc = {};
	struct ibv_ah_attr local = { .dlid = 7, .sl = 5, .src_path_bits = 3, .port_num = 1, .static_rate = IBV_RATE_40_GBPS };
	struct ibv_ah_attr global = {
		.dlid = 0x1234, .port_num = 1, .is_global = 1,
		.grh = { .sgid_index = 0, .flow_label = 0xabcde, .hop_limit = 63, .traffic_class = 0x5a },
	};

	for (int i = 0; i < 16; i++)
		global.grh.dgid.raw[i] = 0x10 + i;
	for (unsigned int i = 0; i < sizeof(memory); i++)
		memory[i] = i * 7 + i / 256;
	ctx = CHECK(ibv_open_device(devices[0]));
	ZERO(ibv_query_port(ctx, 1, &port));
	pd = CHECK(ibv_alloc_pd(ctx));
	mr = CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	mw = CHECK(ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	cq = CHECK(ibv_create_cq(ctx, 1000, NULL, NULL, 0));
	open_queue(&rc, IBV_QPT_RC, "rc");
	open_queue(&uc, IBV_QPT_UC, "uc");
	open_queue(&ud, IBV_QPT_UD, "ud");
	open_queue(&xrc, IBV_QPT_XRC_SEND, "xrc");
	sends(&rc, NULL, "");
	remotes(&rc);
	windows(&rc);
	sends(&uc, NULL, "");
	remotes(&uc);
	windows(&uc);
	sends(&ud, &local, "-local");
	sends(&ud, &global, "-global");
	receives(&rc);
	sends(&xrc, NULL, "");
	remotes(&xrc);
	return 0;
}
