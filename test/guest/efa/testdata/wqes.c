// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Posts work requests through libefa and prints them, one a line: the parameters as
 * name=value. At the end of a queue, a line has the bytes of both rings in hex. The rings have
 * no interface, but the library maps them. The queue pairs send to themselves, so that the
 * requests succeed and the rings go through several rounds. The test of package
 * verbs/internal/efa posts the same and compares. Arguments: the limit of inline data, and
 * "write" if the library has writes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "record.h"

#define PASSES		9	/* more than a round */
#define QKEY		0x11111111
#define MAX_SGES	2
#define SENDS		128
#define RECEIVES	512	/* of two descriptors: the mapping is longer than that of sends */
#define RQ_SIZE		(RECEIVES * MAX_SGES * 16)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_ah *ah;
static uint16_t ahn;
static uint8_t memory[16384];
static int inline_max = 32, writes;

struct queue {
	struct ibv_qp *qp;
	struct ibv_qp_ex *ex;	/* for SRD */
	uint8_t *send, *receive;
	size_t send_size, wqe;
};

/* Finds the rings among the mappings since a number of them: registers have a page. */
static void find_rings(struct queue *q, int since)
{
	for (int i = since; i < mapped; i++) {
		if (maps[i].length == RQ_SIZE) {
			q->receive = maps[i].at;
		} else if (maps[i].length > 4096) {
			q->send = maps[i].at;
			q->send_size = maps[i].length;
		}
	}
	CHECK(q->send);
	CHECK(q->receive);
}

static void open_queue(struct queue *q, int srd)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = srd ? IBV_QPT_DRIVER : IBV_QPT_UD, .send_cq = cq, .recv_cq = cq, .sq_sig_all = 0, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = MAX_SGES, .max_recv_sge = MAX_SGES, .max_inline_data = inline_max },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct efadv_qp_init_attr efa = { .driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD };
	int since = mapped;

	q->wqe = inline_max > 32 ? 128 : 64;
	if (srd) {
		init.send_ops_flags |= IBV_QP_EX_WITH_RDMA_READ;
		if (writes)
			init.send_ops_flags |= IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
		q->qp = CHECK(efadv_create_qp_ex(ctx, &init, &efa, sizeof(efa)));
		q->ex = CHECK(ibv_qp_to_qp_ex(q->qp));
	} else {
		q->qp = CHECK(ibv_create_qp_ex(ctx, &init));
	}
	find_rings(q, since);
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	printf("queue=%s sends=%d receives=%d sges=%d inline=%d\n", srd ? "srd" : "ud", SENDS, RECEIVES, MAX_SGES, inline_max);
}

/* Posts a receive with a number of SGEs. */
static void receive(struct queue *q, int n)
{
	struct ibv_sge sge[MAX_SGES];
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = n, .wr_id = 100 + n }, *bad;

	for (int i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)memory + 8192 + 2048 * i, 1000 + i, mr->lkey };
	ZERO(ibv_post_recv(q->qp, &wr, &bad));
	printf("receive=1");
	print_sges(sge, n);
	printf("\n");
}

/* Posts a request through the interface of SRD. */
static void post_srd(struct queue *q, struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *x = q->ex;

	ibv_wr_start(x);
	x->wr_id = wr->wr_id;
	x->wr_flags = wr->send_flags;
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(x);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(x, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(x, mr->rkey, (uintptr_t)memory + 4096);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(x, mr->rkey, (uintptr_t)memory + 4096);
		break;
	default:
		ibv_wr_rdma_write_imm(x, mr->rkey, (uintptr_t)memory + 4096, wr->imm_data);
	}
	if (wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data(x, (void *)wr->sg_list->addr, wr->sg_list->length);
	else
		ibv_wr_set_sge_list(x, wr->num_sge, wr->sg_list);
	ibv_wr_set_ud_addr(x, ah, q->qp->qp_num, QKEY);
	ZERO(ibv_wr_complete(x));
}

static void post(struct queue *q, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;
	static int receives;
	int received = wr.opcode == IBV_WR_SEND || wr.opcode == IBV_WR_SEND_WITH_IMM || wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	wr.send_flags |= IBV_SEND_SIGNALED;
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = q->qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	if (received)
		receive(q, 1 + receives++ % MAX_SGES);
	printf("op=%d flags=%u imm=%u raddr=%lu rkey=%u rqpn=%u qkey=%u ah=%u", wr.opcode, wr.send_flags, ntohl(wr.imm_data),
	       (uintptr_t)memory + 4096, mr->rkey, q->qp->qp_num, QKEY, ahn);
	if (wr.send_flags & IBV_SEND_INLINE) {
		printf(" inline=");
		hex((void *)wr.sg_list->addr, wr.sg_list->length);
	} else {
		print_sges(wr.sg_list, wr.num_sge);
	}
	printf("\n");
	if (q->ex)
		post_srd(q, &wr);
	else
		ZERO(ibv_post_send(q->qp, &wr, &bad));
	wait_for(cq, received + 1);
}

static void payloads(struct queue *q, enum ibv_wr_opcode op, int sges, int with_inline)
{
	static const int sizes[] = { 1, 8, 9, 16, 31, 32, 33, 63, 64, 80 };
	struct ibv_sge sge[MAX_SGES], all = { (uintptr_t)memory };
	struct ibv_send_wr wr = { .opcode = op, .sg_list = sge };

	if (op == IBV_WR_SEND_WITH_IMM || op == IBV_WR_RDMA_WRITE_WITH_IMM)
		wr.imm_data = htonl(0x01020304);
	for (int i = 0; i < sges; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)memory + 64 * i, 8 + i, mr->lkey };
	for (wr.num_sge = 1; wr.num_sge <= sges; wr.num_sge++)
		post(q, wr);
	if (!with_inline)
		return;
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = &all;
	wr.num_sge = 1;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		all.length = sizes[i];
		if (sizes[i] <= inline_max)
			post(q, wr);
	}
}

/* The ring begins within a page: the first work request has its first bytes there. */
static void print_rings(struct queue *q)
{
	size_t at = 0;

	while (at + SENDS * q->wqe < q->send_size && !q->send[at + 2])
		at += 64;
	print_ring("send", q->send + at, SENDS * q->wqe);
	print_ring(" receive", q->receive, RQ_SIZE);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct ibv_ah_attr to = { .port_num = 1, .is_global = 1 };
	struct efadv_ah_attr number;
	struct queue srd = {}, ud = {};

	if (argc > 1)
		inline_max = atoi(argv[1]);
	writes = argc > 2 && !strcmp(argv[2], "write");
	for (unsigned int i = 0; i < sizeof(memory); i++)
		memory[i] = i * 7 + i / 256;
	ctx = CHECK(ibv_open_device(devices[0]));
	pd = CHECK(ibv_alloc_pd(ctx));
	mr = CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | (writes ? IBV_ACCESS_REMOTE_WRITE : 0)));
	cq = CHECK(ibv_create_cq(ctx, 100, NULL, NULL, 0));
	ZERO(ibv_query_gid(ctx, 1, 0, &to.grh.dgid));
	ah = CHECK(ibv_create_ah(pd, &to));
	ZERO(efadv_query_ah(ah, &number, sizeof(number)));
	ahn = number.ahn;
	open_queue(&srd, 1);
	for (int i = 0; i < PASSES; i++) {
		payloads(&srd, IBV_WR_SEND, MAX_SGES, 1);
		payloads(&srd, IBV_WR_SEND_WITH_IMM, MAX_SGES, 1);
		payloads(&srd, IBV_WR_RDMA_READ, 1, 0);
		if (writes) {
			payloads(&srd, IBV_WR_RDMA_WRITE, 1, 0);
			payloads(&srd, IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0);
		}
	}
	print_rings(&srd);
	open_queue(&ud, 0);
	for (int i = 0; i < PASSES; i++) {
		payloads(&ud, IBV_WR_SEND, MAX_SGES, 1);
		payloads(&ud, IBV_WR_SEND_WITH_IMM, MAX_SGES, 1);
	}
	print_rings(&ud);
	return 0;
}
