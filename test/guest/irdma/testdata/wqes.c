// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Posts work requests through libirdma and prints them, one a line: the parameters as
 * name=value. At the end of a queue, a line has the bytes of both rings in hex. The rings have
 * no interface, but the library allocates them with memalign. The queue pairs are connected to
 * themselves, so that the requests succeed and the rings go through several rounds. The test
 * of package verbs/internal/irdma posts the same and compares.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define PASSES		(sges > 3 ? 3 : 10)	/* more than a round */
#define SQ_QUANTA	512	/* of a queue pair with few requests */
#define RQ_QUANTA	128	/* of 16 requests of 4 quanta */
#define MAX_SGES	6

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static uint8_t memory[16384];
static int sges, inline_max, imm, atomics;

static uint8_t *newest;		/* page-aligned allocation */

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size)
{
	void *p = NULL;

	if (posix_memalign(&p, align, size))
		return NULL;
	if (align == 4096)
		newest = p;
	return p;
}

struct queue {
	struct ibv_qp *qp;
	uint8_t *ring;
};

static void open_queue(struct queue *q, enum ibv_qp_type type, const char *name)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = sges, .max_recv_sge = sges, .max_inline_data = inline_max },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111,
				    .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC };
	int ud = type == IBV_QPT_UD;
	union ibv_gid gid;

	ZERO(ibv_query_gid(ctx, 1, 1, &gid));
	q->qp = CHECK(ibv_create_qp(pd, &init));
	q->ring = newest;
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = q->qp->qp_num, .min_rnr_timer = 1, .max_dest_rd_atomic = 1,
		.ah_attr = { .port_num = 1, .is_global = 1, .grh = { .dgid = gid, .sgid_index = 1, .hop_limit = 1 } },
	};
	if (ud)
		ah = CHECK(ibv_create_ah(pd, &attr.ah_attr));
	ZERO(ibv_modify_qp(q->qp, &attr, ud ? IBV_QP_STATE :
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1, .retry_cnt = 7, .rnr_retry = 7 };
	ZERO(ibv_modify_qp(q->qp, &attr, ud ? IBV_QP_STATE | IBV_QP_SQ_PSN : IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
	printf("queue=%s qpn=%u sges=%d inline=%d\n", name, q->qp->qp_num, sges, inline_max);
}

/* Posts a receive with a number of SGEs. */
static void receive(struct queue *q, int n)
{
	struct ibv_sge sge[MAX_SGES];
	struct ibv_recv_wr wr = { .sg_list = n ? sge : NULL, .num_sge = n, .wr_id = 100 + n }, *bad;

	for (int i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)memory + 8192 + 1024 * i, 1000 + i, mr->lkey };
	ZERO(ibv_post_recv(q->qp, &wr, &bad));
	printf("receive=1");
	print_sges(sge, n);
	printf("\n");
}

static int consumes(struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return 1;
	default:
		return 0;
	}
}

static void post(struct queue *q, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;
	static int receives;
	int received = consumes(&wr);
	int ud = q->qp->qp_type == IBV_QPT_UD;

	if (received)
		receive(q, 1 + receives++ % sges);
	printf("op=%d flags=%u", wr.opcode, wr.send_flags);
	if (wr.opcode == IBV_WR_BIND_MW)
		printf(" window=%u newkey=%u bindkey=%u bindaddr=%lu bindlen=%lu access=%u", wr.bind_mw.mw->rkey, wr.bind_mw.rkey,
		       wr.bind_mw.bind_info.mr->lkey, wr.bind_mw.bind_info.addr, wr.bind_mw.bind_info.length,
		       wr.bind_mw.bind_info.mw_access_flags);
	else if (wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV)
		printf(" invalidate=%u", wr.invalidate_rkey);
	else
		printf(" imm=%u", ntohl(wr.imm_data));
	if (ud)	/* the number of an address handle follows the structure of the interface */
		printf(" rqpn=%u qkey=%u ah=%u", wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey, *(uint32_t *)(wr.wr.ud.ah + 1));
	else if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		printf(" raddr=%lu rkey=%u compare=%lu swap=%lu", wr.wr.atomic.remote_addr, wr.wr.atomic.rkey, wr.wr.atomic.compare_add,
		       wr.wr.atomic.swap);
	else
		printf(" raddr=%lu rkey=%u", wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
	if (wr.send_flags & IBV_SEND_INLINE) {
		printf(" inline=");
		for (int i = 0; i < wr.num_sge; i++)
			hex((void *)wr.sg_list[i].addr, wr.sg_list[i].length);
	} else {
		print_sges(wr.sg_list, wr.num_sge);
	}
	printf("\n");
	ZERO(ibv_post_send(q->qp, &wr, &bad));
	wait_for(cq, received + !!(wr.send_flags & IBV_SEND_SIGNALED));
}

static void payloads(struct queue *q, enum ibv_wr_opcode op, struct ibv_send_wr wr)
{
	static const int sizes[] = { 1, 8, 9, 16, 17, 39, 40, 48, 70, 71, 101 };
	struct ibv_sge sge[MAX_SGES], all = { (uintptr_t)memory };

	wr.opcode = op;
	for (int i = 0; i < sges; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)memory + 64 * i, 8 + i, mr->lkey };
	for (int n = 0; n <= sges; n++) {
		wr.num_sge = n;
		wr.sg_list = n ? sge : NULL;
		if (n || op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM)
			post(q, wr);
	}
	wr.send_flags |= IBV_SEND_INLINE;
	wr.sg_list = &all;
	wr.num_sge = 1;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		all.length = sizes[i];
		if (sizes[i] <= inline_max)
			post(q, wr);
	}
}

static void flags(struct queue *q, struct ibv_send_wr wr)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	static const unsigned int all[] = { IBV_SEND_SOLICITED, IBV_SEND_FENCE, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_FENCE };

	wr.sg_list = &sge;
	wr.num_sge = 1;
	for (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++) {
		wr.opcode = IBV_WR_SEND;
		wr.send_flags = all[i];
		post(q, wr);
		wr.opcode = IBV_WR_RDMA_WRITE;
		if (q->qp->qp_type != IBV_QPT_UD)
			post(q, wr);
	}
}

/* Binds a window, invalidates it and binds it again. */
static void windows(struct queue *q)
{
	struct ibv_send_wr bind = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = {
			.mr = mr, .addr = (uintptr_t)memory + 64, .length = 4000, .mw_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
		} },
	};

	post(q, bind);
	post(q, (struct ibv_send_wr){ .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED, .invalidate_rkey = mw->rkey });
	bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	post(q, bind);
}

static void connected(struct queue *q)
{
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED };
	wr.wr.rdma.remote_addr = (uintptr_t)memory + 4096;
	wr.wr.rdma.rkey = mr->rkey;
	payloads(q, IBV_WR_SEND, wr);
	payloads(q, IBV_WR_RDMA_WRITE, wr);
	flags(q, wr);
	if (imm) {
		wr.imm_data = htonl(0x01020304);
		payloads(q, IBV_WR_SEND_WITH_IMM, wr);
		payloads(q, IBV_WR_RDMA_WRITE_WITH_IMM, wr);
		wr.imm_data = 0;
	}
	for (int n = 1; n <= (imm ? sges : 1); n++) {
		struct ibv_sge sge[MAX_SGES];

		for (int i = 0; i < n; i++)
			sge[i] = (struct ibv_sge){ (uintptr_t)memory + 64 * i, 8 + i, mr->lkey };
		wr.opcode = IBV_WR_RDMA_READ;
		wr.sg_list = sge;
		wr.num_sge = n;
		post(q, wr);
	}
	if (mw)
		windows(q);
	wr.invalidate_rkey = mw ? mw->rkey : 0x0a0b0c0d;
	payloads(q, IBV_WR_SEND_WITH_INV, wr);
	if (atomics) {
		struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
		struct ibv_send_wr atomic = { .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1 };

		atomic.wr.atomic.remote_addr = (uintptr_t)memory + 4096;
		atomic.wr.atomic.rkey = mr->rkey;
		atomic.wr.atomic.compare_add = 0x0102030405060708;
		atomic.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		post(q, atomic);
		atomic.wr.atomic.swap = 0xf1f2f3f4f5f6f7f8;
		atomic.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
		post(q, atomic);
	}
}

static void datagrams(struct queue *q)
{
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED };

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = q->qp->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	payloads(q, IBV_WR_SEND, wr);
	flags(q, wr);
	if (imm) {
		wr.imm_data = htonl(0xfffefdfc);
		payloads(q, IBV_WR_SEND_WITH_IMM, wr);
	}
}

static void print_rings(struct queue *q)
{
	print_ring("send", q->ring, SQ_QUANTA * 32);
	print_ring(" receive", q->ring + SQ_QUANTA * 32, RQ_QUANTA * 32);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	int generation = argc > 1 ? atoi(argv[1]) : 2;
	struct queue rc = {}, ud = {};

	sges = generation == 1 ? 3 : MAX_SGES;
	inline_max = generation == 1 ? 48 : 101;
	imm = generation > 1;
	atomics = generation > 2;
	for (unsigned int i = 0; i < sizeof(memory); i++)
		memory[i] = i * 7 + i / 256;
	ctx = CHECK(ibv_open_device(devices[0]));
	pd = CHECK(ibv_alloc_pd(ctx));
	mr = CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND));
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);	/* NULL: before release 45 */
	cq = CHECK(ibv_create_cq(ctx, 100, NULL, NULL, 0));
	printf("generation=%d\n", generation);
	open_queue(&rc, IBV_QPT_RC, "rc");
	for (int i = 0; i < PASSES; i++)
		connected(&rc);
	print_rings(&rc);
	open_queue(&ud, IBV_QPT_UD, "ud");
	datagrams(&ud);
	print_rings(&ud);
	return 0;
}
