// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Violates the ABI of mlx5 in each way that module verbstest has to detect, by stores to the
 * queues of libmlx5. It prints "case: description", with the description by the module.
 */
#include <arpa/inet.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "violations.h"

#define BB		64
#define SIZE		4096
#define DEPTH		16
#define TIMEOUT_S	30

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_xrcd *xrcd;
static struct ibv_port_attr port;
static uint8_t *buffer;

/* A queue pair that is its own peer. */
struct queue {
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct mlx5dv_cq dcq;
	struct mlx5dv_srq dsrq;
	struct mlx5dv_qp dv;
};

static void open_queue(struct queue *q, enum ibv_qp_type type, int shared)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 3, .max_sge = 1 } };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .cap = { .max_send_wr = DEPTH, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct mlx5dv_obj obj = {};
	int all = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1, .qp_access_flags = all };
	int ud = type == IBV_QPT_UD;

	memset(q, 0, sizeof(*q));
	q->cq = CHECK(ibv_create_cq(ctx, 31, NULL, NULL, 0));
	obj.cq.in = q->cq;
	obj.cq.out = &q->dcq;
	ZERO(mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	init.send_cq = init.recv_cq = q->cq;
	if (shared) {
		init.srq = q->srq = CHECK(ibv_create_srq(pd, &srq));
		obj.srq.in = q->srq;
		obj.srq.out = &q->dsrq;
		ZERO(mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
	}
	if (type == IBV_QPT_XRC_SEND)
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	q->qp = CHECK(ibv_create_qp_ex(ctx, &init));
	obj.qp.in = q->qp;
	obj.qp.out = &q->dv;
	ZERO(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = q->qp->qp_num, .min_rnr_timer = 1,
		.max_dest_rd_atomic = 1, .ah_attr = { .dlid = port.lid, .port_num = 1 },
	};
	ZERO(ibv_modify_qp(q->qp, &attr, ud ? IBV_QP_STATE : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | (type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1 };
	ZERO(ibv_modify_qp(q->qp, &attr, ud ? IBV_QP_STATE | IBV_QP_SQ_PSN : IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void close_queue(struct queue *q)
{
	ZERO(ibv_destroy_qp(q->qp));
	if (q->srq)
		ZERO(ibv_destroy_srq(q->srq));
	ZERO(ibv_destroy_cq(q->cq));
}

/* Writes a control segment with n segments of 16 bytes in all. Returns the block. */
static uint32_t *control(struct queue *q, uint32_t index, uint8_t opcode, uint32_t n)
{
	uint32_t *w = (uint32_t *)((uint8_t *)q->dv.sq.buf + index * BB);

	w[0] = htonl(index << 8 | opcode);
	w[1] = htonl(q->qp->qp_num << 8 | n);
	w[2] = htonl(MLX5_WQE_CTRL_CQ_UPDATE);
	w[3] = 0;
	return w;
}

static void put64(uint32_t *w, uint64_t v)
{
	w[0] = htonl(v >> 32);
	w[1] = htonl(v);
}

static void data(uint32_t *w, uint32_t length)
{
	w[0] = htonl(length);
	w[1] = htonl(mr->lkey);
	put64(w + 2, (uintptr_t)buffer);
}

/* A valid write of 8 bytes. */
static uint32_t *valid_write(struct queue *q, uint32_t index)
{
	uint32_t *w = control(q, index, MLX5_OPCODE_RDMA_WRITE, 3);

	put64(w + 4, (uintptr_t)buffer + 64);
	w[6] = htonl(mr->rkey);
	w[7] = 0;
	data(w + 8, 8);
	return w;
}

/* A valid send of 8 bytes. */
static uint32_t *valid_send(struct queue *q)
{
	uint32_t *w = control(q, 0, MLX5_OPCODE_SEND, 2);

	data(w + 4, 8);
	return w;
}

static void store_record(__be32 *record, uint32_t value)
{
	__atomic_store_n(record, htonl(value), __ATOMIC_RELEASE);
}

/* Writes two words to a doorbell register. */
static void ring_register(void *reg, const uint32_t *w)
{
	uint64_t v;

	memcpy(&v, w, sizeof(v));
	__sync_synchronize();
	*(volatile uint64_t *)reg = v;
}

/* Writes a control segment to the doorbell register. */
static void ring(struct queue *q, const uint32_t *w)
{
	ring_register(q->dv.bf.reg, w);
}

static void post(struct queue *q, const uint32_t *w, uint32_t posted)
{
	store_record(&q->dv.dbrec[MLX5_SND_DBR], posted);
	ring(q, w);
}

/* Creates a completion queue in this memory, which only the command CREATE_CQ of the kernel does. */
static void create_cq(uint8_t *ring_memory, uint32_t *record)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq core;
		struct mlx5_ib_create_cq driver;
	} cmd = {
		.hdr = { IB_USER_VERBS_CMD_CREATE_CQ, sizeof(cmd) / 4, 0 },
		.core = { .cqe = 3, .comp_channel = -1 },
		.driver = {
			.buf_addr = (uintptr_t)ring_memory, .db_addr = (uintptr_t)record, .cqe_size = 64,
			.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		},
	};
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct mlx5_ib_create_cq_resp driver;
	} resp = {};

	cmd.hdr.out_words = sizeof(resp) / 4;
	cmd.core.response = (uintptr_t)&resp;
	/* The library does not tell the numbers of its doorbell pages. */
	for (int i = 0; i < 64; i++) {
		cmd.driver.uar_page_index = i;
		if (write(ctx->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd))
			return;
		CHECK(errno == EINVAL);
	}
	fprintf(stderr, "create CQ: no page of doorbells\n");
	exit(1);
}

/* The violations of work requests: they are written to a queue pair of a type. */
static const char *const requests[] = {
	"valid", "queue pair", "no segments", "reserved control", "reserved stream", "immediate of a send", "opcode",
	"segment too many", "segment too few", "atomic too short", "reserved remote address", "no inline data", "inline data too long",
	"short UMR", "fields of UMR", "index", "doorbell ahead of its request", "doorbell ahead of its record",
	"record ahead of its doorbell", "record ahead of the queue",
	"consumer index", "consumer index of 25 bits", "arm word", "doorbell of a CQ", "receives", "receive without length",
	"receives of an SRQ", "reserved entry of an SRQ", "reserved address vector", "short address vector", "reserved XRC", "XRC number",
	"short XRC", NULL
};

static void violate(struct queue *q, const char *name)
{
	uint32_t *w;

#define IS(s)	(!strcmp(name, s))
	if (IS("receives") || IS("receive without length") || IS("receives of an SRQ") || IS("reserved entry of an SRQ")) {
		if (IS("receives"))
			store_record(&q->dv.dbrec[MLX5_RCV_DBR], q->dv.rq.wqe_cnt + 1);
		else if (IS("receive without length"))
			store_record(&q->dv.dbrec[MLX5_RCV_DBR], 1);
		else if (IS("receives of an SRQ"))
			store_record(q->dsrq.dbrec, 0x4000);
		else {
			((uint8_t *)q->dsrq.buf)[9] = 1;
			data((uint32_t *)q->dsrq.buf + 4, 8);
			store_record(q->dsrq.dbrec, 1);
		}
		post(q, valid_send(q), 1);
		return;
	}
	if (IS("arm word")) {
		store_record(&q->dcq.dbrec[1], 1 << 26);
		return;
	}
	if (IS("doorbell of a CQ")) {
		uint32_t v[2] = { 0, htonl(1 << 24 | q->dcq.cqn) };

		ring_register((uint8_t *)q->dcq.cq_uar + 0x20, v);
		return;
	}
	if (q->qp->qp_type == IBV_QPT_UD) {
		w = control(q, 0, MLX5_OPCODE_SEND, IS("short address vector") ? 3 : 5);
		memset(w + 4, 0, 48);
		w[4] = htonl(1);
		w[6] = htonl(1U << 31 | q->qp->qp_num);
		w[7] = htonl(port.lid);
		if (IS("reserved address vector"))
			w[5] = htonl(1);
		data(w + 16, 8);
		post(q, w, IS("short address vector") ? 1 : 2);
		return;
	}
	if (q->qp->qp_type == IBV_QPT_XRC_SEND) {
		w = control(q, 0, MLX5_OPCODE_SEND, IS("short XRC") ? 1 : 3);
		memset(w + 4, 0, 16);
		if (IS("reserved XRC"))
			w[7] = htonl(1);
		if (IS("XRC number"))
			w[4] = htonl(1 << 24);
		data(w + 8, 8);
		post(q, w, 1);
		return;
	}
	if (IS("immediate of a send")) {
		w = valid_send(q);
		w[3] = htonl(1);
		post(q, w, 1);
		return;
	}
	if (IS("short UMR") || IS("fields of UMR")) {
		int whole = IS("fields of UMR");

		w = control(q, 0, MLX5_OPCODE_UMR, whole ? 12 : 11);
		memset(w + 4, 0, 12 * 16 - 16);
		post(q, w, 3);
		return;
	}
	w = valid_write(q, 0);
	/* The doorbell of these has the right values: the request in memory counts. */
	if (IS("queue pair"))
		w[1] = htonl((q->qp->qp_num + 1) << 8 | 3);
	else if (IS("no segments"))
		w[1] = htonl(q->qp->qp_num << 8);
	else if (IS("reserved control"))
		w[2] |= htonl(0x10);
	else if (IS("reserved stream"))
		w[2] |= htonl(1 << 8);
	else if (IS("opcode"))
		w[0] = htonl(0x0d);
	else if (IS("segment too many")) {
		w[1] = htonl(q->qp->qp_num << 8 | 4);
		memset(w + 12, 0, 16);
	} else if (IS("segment too few"))
		w[1] = htonl(q->qp->qp_num << 8 | 1);
	else if (IS("atomic too short")) {
		w[0] = htonl(MLX5_OPCODE_ATOMIC_FA);
		w[1] = htonl(q->qp->qp_num << 8 | 2);
	} else if (IS("reserved remote address"))
		w[7] = htonl(1);
	else if (IS("no inline data"))
		w[8] = htonl(MLX5_INLINE_SEG);
	else if (IS("inline data too long"))
		w[8] = htonl(MLX5_INLINE_SEG | 13);
	else if (IS("index"))
		w[0] = htonl(5 << 8 | MLX5_OPCODE_RDMA_WRITE);
	else if (IS("consumer index"))
		store_record(q->dcq.dbrec, 1);
	else if (IS("consumer index of 25 bits"))
		store_record(q->dcq.dbrec, 1 << 24);

	if (IS("queue pair") || IS("index")) {
		uint32_t right[2] = { htonl(MLX5_OPCODE_RDMA_WRITE), htonl(q->qp->qp_num << 8 | 3) };

		store_record(&q->dv.dbrec[MLX5_SND_DBR], 1);
		ring(q, right);
	} else if (IS("doorbell ahead of its request")) {
		uint32_t next[2] = { htonl(1 << 8 | MLX5_OPCODE_RDMA_WRITE), w[1] };

		memset(w + BB / 4, 0, BB);
		store_record(&q->dv.dbrec[MLX5_SND_DBR], 2);
		ring(q, next);
	} else if (IS("doorbell ahead of its record"))
		ring(q, w);
	else if (IS("record ahead of its doorbell"))
		post(q, w, q->dv.sq.wqe_cnt + 2);
	else if (IS("record ahead of the queue"))
		post(q, valid_write(q, 1), q->dv.sq.wqe_cnt + 1);
	else
		post(q, w, 1);
}

static void expect(const char *name, unsigned long before)
{
	time_t end = time(NULL) + TIMEOUT_S;
	char line[256];
	FILE *f;

	while (violations() == before) {
		if (time(NULL) >= end) {
			printf("%s: not detected\n", name);
			return;
		}
		usleep(100);
	}
	f = CHECK(fopen(PARAMETERS "violation", "r"));
	CHECK(fgets(line, sizeof(line), f));
	fclose(f);
	printf("%s: %s", name, line);
}

static void run_case(const char *name)
{
	unsigned long before = violations();
	enum ibv_qp_type type = strstr(name, "address vector") ? IBV_QPT_UD : strstr(name, "XRC") ? IBV_QPT_XRC_SEND : IBV_QPT_RC;
	struct queue q;
	struct ibv_wc wc;
	int n;

	open_queue(&q, type, !!strstr(name, "SRQ"));
	clear_violation();
	violate(&q, name);
	if (strcmp(name, "valid")) {
		expect(name, before);
	} else {
		memset(buffer, 0, SIZE);
		while (!(n = ibv_poll_cq(q.cq, 1, &wc)))
			;
		CHECK(n == 1);
		printf("%s: status %d, %lu violations\n", name, wc.status, violations() - before);
	}
	close_queue(&q);
}

int main(void)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT,
	};
	unsigned long before;
	uint8_t *memory;

	setvbuf(stdout, NULL, _IOLBF, 0);
	ctx = CHECK(ibv_open_device(CHECK(devices[0])));
	ZERO(ibv_query_port(ctx, 1, &port));
	pd = CHECK(ibv_alloc_pd(ctx));
	xrcd = CHECK(ibv_open_xrcd(ctx, &domain));
	ZERO(posix_memalign((void **)&buffer, SIZE, SIZE));
	ZERO(posix_memalign((void **)&memory, SIZE, 2 * SIZE));
	mr = CHECK(ibv_reg_mr(pd, buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	for (int i = 0; requests[i]; i++)
		run_case(requests[i]);
	/* A completion queue keeps the pages of doorbells of the library in use. */
	struct queue q;

	open_queue(&q, IBV_QPT_RC, 0);
	memset(memory, 0, 2 * SIZE);
	before = violations();
	clear_violation();
	create_cq(memory, (uint32_t *)(memory + SIZE));
	expect("owner", before);
	memset(memory, 0xf0, SIZE);
	memory[SIZE + 64] = 1;
	before = violations();
	clear_violation();
	create_cq(memory, (uint32_t *)(memory + SIZE + 64));
	expect("record of a new CQ", before);
	close_queue(&q);
	return 0;
}
