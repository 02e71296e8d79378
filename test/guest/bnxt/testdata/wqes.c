// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Posts work requests through libbnxt_re and prints them, one a line: the parameters as
 * name=value. At the end of a queue, a line has the bytes of both rings in hex; behind the send
 * ring is the table of packet numbers. The rings have no interface, but the library allocates
 * them with mmap: release 44 each by itself, later ones both at once. The library leaves
 * reserved fields as they are, so that they are cleared before each request. The queue pairs are
 * connected to themselves, so that the requests succeed and the rings go through several
 * rounds. The test of package verbs/internal/bnxt posts the same and compares.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

#define MAX_SGES	6
#define INLINE_MAX	96
#define SLOT		16
#define STEP		8	/* slots of a static request */
#define MTU		1024
#define FIRST_PSN	0xffff00
#define RECEIVES	8192	/* offsets in memory */
#define REMOTE		16384

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_ah *ah;
static uint8_t memory[32768];

/* Arguments: the send ring's slots, the table's bytes, the receive ring's entries. */
static unsigned int slots, table, entries, variable, fetch_add;

static uint8_t *mapped[2];
static int mappings;

void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *p = (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);

	if (fd < 0 && mappings < 2)
		mapped[mappings++] = p;
	return p;
}

struct queue {
	struct ibv_qp *qp;
	uint8_t *send, *receive;
	unsigned int tail, posted;
};

static void open_queue(struct queue *q, enum ibv_qp_type type, const char *name)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq, .cap = {
			.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = MAX_SGES, .max_recv_sge = MAX_SGES, .max_inline_data = INLINE_MAX,
		},
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 0x11111111,
				    .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC };
	int ud = type == IBV_QPT_UD;
	union ibv_gid gid;

	ZERO(ibv_query_gid(ctx, 1, 1, &gid));
	mappings = 0;
	q->qp = CHECK(ibv_create_qp(pd, &init));
	CHECK(mappings);
	q->send = mapped[0];
	q->receive = mappings > 1 ? mapped[1] : q->send + ((slots * SLOT + table + 4095) & ~4095);
	mappings = 2;
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = q->qp->qp_num, .rq_psn = FIRST_PSN, .min_rnr_timer = 1,
		.max_dest_rd_atomic = 1, .ah_attr = { .port_num = 1, .is_global = 1, .grh = { .dgid = gid, .sgid_index = 1, .hop_limit = 1 } },
	};
	if (ud)
		ah = CHECK(ibv_create_ah(pd, &attr.ah_attr));
	ZERO(ibv_modify_qp(q->qp, &attr, ud ? IBV_QP_STATE :
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .sq_psn = FIRST_PSN, .timeout = 14, .max_rd_atomic = 1, .retry_cnt = 7, .rnr_retry = 7 };
	ZERO(ibv_modify_qp(q->qp, &attr, ud ? IBV_QP_STATE | IBV_QP_SQ_PSN : IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
	printf("queue=%s qpn=%u sges=%d inline=%d psn=%u mtu=%u\n", name, q->qp->qp_num, MAX_SGES, INLINE_MAX, FIRST_PSN, MTU);
}

/* Posts a receive with a number of SGEs. */
static void receive(struct queue *q, int n)
{
	struct ibv_sge sge[MAX_SGES];
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = n, .wr_id = 100 + n }, *bad;

	for (int i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)memory + RECEIVES + 1024 * i, 1000 + i, mr->lkey };
	ZERO(ibv_post_recv(q->qp, &wr, &bad));
	printf("receive=1");
	print_sges(sge, n);
	printf("\n");
}

/* Clears the slots of the next request. */
static void clear(struct queue *q, struct ibv_send_wr *wr)
{
	unsigned int size = 2 + wr->num_sge;

	if (wr->send_flags & IBV_SEND_INLINE)
		size = 2 + (wr->sg_list[0].length + SLOT - 1) / SLOT;
	for (unsigned int i = 0; i < size; i++)
		memset(q->send + (q->tail + i) % slots * SLOT, 0, SLOT);
	q->tail = (q->tail + (variable ? size : STEP)) % slots;
}

static void post(struct queue *q, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;
	int received = wr.opcode == IBV_WR_SEND || wr.opcode == IBV_WR_SEND_WITH_IMM || wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (received)
		receive(q, 1 + q->posted++ % MAX_SGES);
	printf("op=%d flags=%u imm=%u", wr.opcode, wr.send_flags, ntohl(wr.imm_data));
	if (q->qp->qp_type == IBV_QPT_UD)	/* the number of an address handle follows the structure of the interface */
		printf(" rqpn=%u qkey=%u ah=%u", wr.wr.ud.remote_qpn, wr.wr.ud.remote_qkey, *(uint32_t *)(wr.wr.ud.ah + 1));
	else if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		printf(" raddr=%lu rkey=%u compare=%lu swap=%lu", wr.wr.atomic.remote_addr, wr.wr.atomic.rkey, wr.wr.atomic.compare_add,
		       wr.wr.atomic.swap);
	else
		printf(" raddr=%lu rkey=%u", wr.wr.rdma.remote_addr, wr.wr.rdma.rkey);
	if (wr.send_flags & IBV_SEND_INLINE) {
		printf(" inline=");
		hex((void *)wr.sg_list[0].addr, wr.sg_list[0].length);
	} else {
		print_sges(wr.sg_list, wr.num_sge);
	}
	printf("\n");
	clear(q, &wr);
	ZERO(ibv_post_send(q->qp, &wr, &bad));
	wait_for(cq, received + !!(wr.send_flags & IBV_SEND_SIGNALED));
}

static void payloads(struct queue *q, enum ibv_wr_opcode op, struct ibv_send_wr wr)
{
	static const int sizes[] = { 1, 8, 15, 16, 17, 32, 33, 95, 96 };
	struct ibv_sge sge[MAX_SGES], all = { .addr = (uintptr_t)memory };

	wr.opcode = op;
	for (int i = 0; i < MAX_SGES; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)memory + 64 * i, 8 + i, mr->lkey };
	for (int n = 0; n <= MAX_SGES; n++) {
		wr.num_sge = n;
		wr.sg_list = n ? sge : NULL;
		post(q, wr);
	}
	wr.send_flags |= IBV_SEND_INLINE;
	wr.sg_list = &all;
	wr.num_sge = 1;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		all.length = sizes[i];
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

/* Messages of several packets. */
static void large(struct queue *q, struct ibv_send_wr wr)
{
	static const unsigned int lengths[] = { MTU - 1, MTU, MTU + 1, 3 * MTU, 3 * MTU + 1 };
	struct ibv_sge sge = { (uintptr_t)memory, 0, mr->lkey };

	wr.sg_list = &sge;
	wr.num_sge = 1;
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		sge.length = lengths[i];
		wr.opcode = IBV_WR_RDMA_WRITE;
		post(q, wr);
		wr.opcode = IBV_WR_RDMA_READ;
		post(q, wr);
	}
}

static void atomics(struct queue *q)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1 };

	wr.wr.atomic.remote_addr = (uintptr_t)memory + REMOTE;
	wr.wr.atomic.rkey = mr->rkey;
	wr.wr.atomic.compare_add = 0x0102030405060708;
	wr.wr.atomic.swap = 0xf1f2f3f4f5f6f7f8;
	post(q, wr);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.swap = 0;
	if (fetch_add)	/* release 44 has the operand in the wrong place */
		post(q, wr);
}

static void connected(struct queue *q)
{
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED };

	wr.wr.rdma.remote_addr = (uintptr_t)memory + REMOTE;
	wr.wr.rdma.rkey = mr->rkey;
	payloads(q, IBV_WR_SEND, wr);
	payloads(q, IBV_WR_RDMA_WRITE, wr);
	flags(q, wr);
	large(q, wr);
	wr.imm_data = htonl(0x01020304);
	payloads(q, IBV_WR_SEND_WITH_IMM, wr);
	payloads(q, IBV_WR_RDMA_WRITE_WITH_IMM, wr);
	atomics(q);
}

static void datagrams(struct queue *q)
{
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED };

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = q->qp->qp_num;
	wr.wr.ud.remote_qkey = 0x11111111;
	payloads(q, IBV_WR_SEND, wr);
	flags(q, wr);
	wr.imm_data = htonl(0xfffefdfc);
	payloads(q, IBV_WR_SEND_WITH_IMM, wr);
}

/* Removes the module's marks of requests that it has taken. */
static void clear_marks(uint8_t *ring, unsigned int n)
{
	for (unsigned int i = 0; i < n; i += STEP)
		ring[i * SLOT + 3] = 0;
}

static void print_rings(struct queue *q)
{
	if (!variable)
		clear_marks(q->send, slots);
	clear_marks(q->receive, entries * STEP);
	print_ring("send", q->send, slots * SLOT);
	if (q->qp->qp_type == IBV_QPT_RC)
		print_ring(" table", q->send + slots * SLOT, table);
	print_ring(" receives", q->receive, entries * STEP * SLOT);
	printf("\n");
}

int main(int argc, char **argv)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct queue rc = {}, ud = {};

	CHECK(argc == 8);
	slots = atoi(argv[3]);
	table = atoi(argv[4]);
	entries = atoi(argv[5]);
	variable = atoi(argv[6]);
	fetch_add = atoi(argv[7]);
	mappings = 2;
	for (unsigned int i = 0; i < sizeof(memory); i++)
		memory[i] = i * 7 + i / 256;
	ctx = CHECK(ibv_open_device(devices[0]));
	pd = CHECK(ibv_alloc_pd(ctx));
	mr = CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_ATOMIC));
	cq = CHECK(ibv_create_cq(ctx, 100, NULL, NULL, 0));
	printf("chip=%s properties=%s\n", argv[1], argv[2]);
	open_queue(&rc, IBV_QPT_RC, "rc");
	for (int i = 0; i < 4; i++)
		connected(&rc);
	print_rings(&rc);
	open_queue(&ud, IBV_QPT_UD, "ud");
	datagrams(&ud);
	print_rings(&ud);
	return 0;
}
