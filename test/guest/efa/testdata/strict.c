// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Violates the ABI of efa in each way that module verbstest has to detect, by stores to the
 * queues of libefa. It prints "case: description", with the description by the module.
 */
#define _GNU_SOURCE
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "maps.h"
#include "violations.h"

#define QKEY		0x11111111
#define SENDS		128
#define RECEIVES	512	/* the mapping is longer than that of sends */
#define SIZE		4096
#define TIMEOUT_S	30

/* Offsets that the module chooses. */
#define LLQ		0x100
#define SQ_DB		0x40
#define RQ_DB		0x80

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_ah *ah;
static uint16_t ahn;
static uint8_t *buffer;

/* A queue pair of SRD that is its own peer. */
struct queue {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t *sq, *rq, *bells;
};

struct segment {
	uint32_t length, key;
	uint64_t address;
};

/* A send request (struct efa_io_tx_wqe of libefa). */
struct wqe {
	uint16_t req_id;
	uint8_t ctrl1, ctrl2;
	uint16_t qpn, length;
	uint32_t imm;
	uint16_t ah, reserved;
	uint32_t qkey;
	uint8_t reserved2[12];
	struct segment sge[2];
};

/* A segment of a receive (struct efa_io_rx_desc). */
struct rqe {
	uint64_t address;
	uint16_t req_id, length;
	uint32_t key;
};

static void open_queue(struct queue *q)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct efadv_qp_init_attr efa = { .driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_DRIVER, .pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ,
		.cap = { .max_send_wr = SENDS, .max_recv_wr = RECEIVES, .max_send_sge = 2, .max_recv_sge = 1 },
	};

	init.send_cq = init.recv_cq = q->cq = CHECK(ibv_create_cq(ctx, 16, NULL, NULL, 0));
	mapped = 0;
	q->qp = CHECK(efadv_create_qp_ex(ctx, &init, &efa, sizeof(efa)));
	for (int i = 0; i < mapped; i++) {
		if (maps[i].length <= SIZE)
			q->bells = maps[i].at;
		else if (maps[i].length == RECEIVES * sizeof(struct rqe))
			q->rq = maps[i].at;
		else
			q->sq = maps[i].at + LLQ;
	}
	CHECK(q->bells && q->rq && q->sq);
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	ZERO(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void close_queue(struct queue *q)
{
	ZERO(ibv_destroy_qp(q->qp));
	ZERO(ibv_destroy_cq(q->cq));
}

static void ring(struct queue *q, unsigned int reg, uint32_t value)
{
	__sync_synchronize();
	*(volatile uint32_t *)(q->bells + reg) = value;
}

/* A valid send of 8 bytes. */
static struct wqe valid_send(struct queue *q)
{
	return (struct wqe){
		.ctrl1 = 0x80, .ctrl2 = 0x1c, .qpn = q->qp->qp_num, .length = 1, .ah = ahn, .qkey = QKEY,
		.sge[0] = { 8, mr->lkey, (uintptr_t)buffer },
	};
}

/* A valid read of 8 bytes. */
static struct wqe valid_read(struct queue *q)
{
	struct wqe w = valid_send(q);

	w.ctrl1 |= 1;
	w.sge[1] = w.sge[0];
	return w;
}

static void post(struct queue *q, struct wqe w)
{
	memcpy(q->sq, &w, sizeof(w));
	ring(q, SQ_DB, 1);
}

/* Posts a receive, and a message for it. */
static void receive(struct queue *q, uint32_t key)
{
	struct rqe r = { (uintptr_t)buffer + 64, 0, 8, key };

	memcpy(q->rq, &r, sizeof(r));
	ring(q, RQ_DB, 1);
	post(q, valid_send(q));
}

static const char *const cases[] = {
	"valid", "batch", "doorbell ahead of its request", "doorbell twice", "doorbell of 32 bits", "store of 64 bits",
	"register", "phase", "extension", "reserved control", "first", "last", "reserved bytes", "reserved word",
	"inline data too long", "segments", "key of a segment", "operation", "read with inline data", "read with immediate",
	"lengths of a read", "receives", "receive that is not first", "receive that is not last", "reserved key of a receive", NULL
};

static void violate(struct queue *q, const char *name)
{
	uint32_t key = mr->lkey | 3U << 30;	/* first, last */
	struct wqe w = valid_send(q);

#define IS(s)	(!strcmp(name, s))
	if (strstr(name, "receive")) {
		if (IS("receives"))
			ring(q, RQ_DB, RECEIVES + 1);
		else
			receive(q, IS("receive that is not first") ? key & ~(1U << 30) : IS("receive that is not last") ? key & ~(1U << 31) :
				key | 1 << 24);
		return;
	}
	if (IS("valid")) {
		receive(q, key);
		return;
	}
	if (strstr(name, "read"))
		w = valid_read(q);
	if (IS("batch")) {
		for (int i = 0; i < 17; i++)
			memcpy(q->sq + i * sizeof(w), &w, sizeof(w));
		ring(q, SQ_DB, 17);
	} else if (IS("doorbell ahead of its request")) {
		memcpy(q->sq, &w, sizeof(w));
		ring(q, SQ_DB, 2);
	} else if (IS("doorbell twice")) {
		post(q, w);
		ring(q, SQ_DB, 1);
	} else if (IS("doorbell of 32 bits")) {
		memcpy(q->sq, &w, sizeof(w));
		ring(q, SQ_DB, 1 << 16 | 1);
	} else if (IS("store of 64 bits")) {
		memcpy(q->sq, &w, sizeof(w));
		__sync_synchronize();
		*(volatile uint64_t *)(q->bells + SQ_DB) = 1;
	} else if (IS("register")) {
		ring(q, SQ_DB + 4, 1);
	} else if (IS("phase")) {
		memcpy(q->sq, &w, sizeof(w));
		w.ctrl2 ^= 1;
		memcpy(q->sq + sizeof(w), &w, sizeof(w));
		ring(q, SQ_DB, 2);
	} else {
		if (IS("extension"))
			w.ctrl1 |= 0x40;
		else if (IS("reserved control"))
			w.ctrl2 |= 0x20;
		else if (IS("first"))
			w.ctrl2 &= ~4;
		else if (IS("last"))
			w.ctrl2 &= ~8;
		else if (IS("reserved bytes"))
			w.reserved2[11] = 1;
		else if (IS("reserved word"))
			w.reserved = 1;
		else if (IS("segments"))
			w.length = 3;
		else if (IS("key of a segment"))
			w.sge[0].key |= 1 << 24;
		else if (IS("operation"))
			w.ctrl1 |= 3;
		else if (IS("read with immediate"))
			w.ctrl1 |= 0x10;
		else if (IS("lengths of a read"))
			w.sge[0].length = 7;
		else
			w.ctrl1 |= 0x20;	/* inline data */
		if (IS("inline data too long"))
			w.length = 33;
		post(q, w);
	}
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
	struct queue q = {};

	open_queue(&q);
	clear_violation();
	violate(&q, name);
	if (strcmp(name, "valid")) {
		expect(name, before);
	} else {
		/* The library does not know the requests: it must not poll. */
		while (((volatile uint8_t *)buffer)[64 + 7] != 0x5a)
			;
		printf("%s: %lu violations\n", name, violations() - before);
	}
	close_queue(&q);
}

int main(void)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct ibv_ah_attr to = { .port_num = 1, .is_global = 1 };
	struct efadv_ah_attr number;

	setvbuf(stdout, NULL, _IOLBF, 0);
	ctx = CHECK(ibv_open_device(CHECK(devices[0])));
	pd = CHECK(ibv_alloc_pd(ctx));
	ZERO(posix_memalign((void **)&buffer, SIZE, SIZE));
	memset(buffer, 0, SIZE);
	memset(buffer, 0x5a, 8);
	mr = CHECK(ibv_reg_mr(pd, buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	ZERO(ibv_query_gid(ctx, 1, 0, &to.grh.dgid));
	ah = CHECK(ibv_create_ah(pd, &to));
	ZERO(efadv_query_ah(ah, &number, sizeof(number)));
	ahn = number.ahn;
	for (int i = 0; cases[i]; i++)
		run_case(cases[i]);
	return 0;
}
