// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Violates the ABI of bnxt_re in each way that module verbstest has to detect, by stores to the
 * queues of libbnxt_re 44 on Thor, and to its doorbell. It prints "case: description", with the
 * description by the module. The library allocates rings with mmap, and maps the doorbell.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "violations.h"

#define DEPTH		16
#define ENTRIES		256	/* of the send queue: DEPTH and 129 more, a power of 2 */
#define ENTRY		128	/* bytes */
#define TIMEOUT_S	30
#define QKEY		0x11111111

/* Types of doorbells. */
enum { SQ, RQ, SRQ, CQ = 4, CQ_ARM = 6 };

enum { SEND = 0, WRITE = 4, READ = 6, RECEIVE = 0x80, SIGNALED = 1 << 8, INLINE = 1 << 12 };
#define SLOTS(n)	((n) << 16)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static volatile uint64_t *bell;
static uint8_t memory[4096];
static uint8_t *rings[4];
static int count;

void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *p = (void *)syscall(SYS_mmap, addr, length, prot, flags, fd, offset);

	if (fd >= 0 && offset)
		bell = p;
	if (fd < 0 && count < 4)
		rings[count++] = p;
	return p;
}

static void open_queue(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	int ud = type == IBV_QPT_UD;

	count = 0;
	qp = CHECK(ibv_create_qp(pd, &init));
	ZERO(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num, .min_rnr_timer = 1, .max_dest_rd_atomic = 1,
		.ah_attr = { .port_num = 1, .is_global = 1, .grh = { .sgid_index = 1, .hop_limit = 1 } },
	};
	ZERO(ibv_query_gid(ctx, 1, 1, &attr.ah_attr.grh.dgid));
	ZERO(ibv_modify_qp(qp, &attr, ud ? IBV_QP_STATE : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1 };
	ZERO(ibv_modify_qp(qp, &attr, ud ? IBV_QP_STATE | IBV_QP_SQ_PSN : IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void ring(uint64_t type, uint32_t id, uint32_t index)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*bell = (type << 28 | 1 << 26 | id) << 32 | index;
}

static void segment(uint32_t *w, uint32_t length)
{
	*(uint64_t *)w = (uintptr_t)memory;
	w[2] = mr->lkey;
	w[3] = length;
}

static uint32_t *entry(int ring, uint32_t n)
{
	return (uint32_t *)(rings[ring] + n * ENTRY);
}

/* The packet numbers of a request: first, next, slot. */
static uint32_t *packets(uint32_t n)
{
	return (uint32_t *)(rings[0] + ENTRIES * ENTRY + n * 16);
}

/* A valid request of 8 bytes, the first one. */
static uint32_t *request(uint32_t op)
{
	uint32_t *w = entry(0, 0);

	memset(w, 0, ENTRY);
	w[0] = op | SIGNALED | SLOTS(3);
	w[2] = 8;
	if (op != SEND) {
		*(uint64_t *)(w + 4) = (uintptr_t)memory + 64;
		w[6] = mr->rkey;
	}
	segment(w + 8, 8);
	packets(0)[1] = 1;
	return w;
}

static void send_it(void)
{
	ring(SQ, qp->qp_num, 1);
}

/* A valid receive of 8 bytes, the first one. */
static uint32_t *receive(void)
{
	uint32_t *w = entry(1, 0);

	w[0] = RECEIVE | SLOTS(3);
	segment(w + 8, 8);
	return w;
}

static void receive_it(void)
{
	ring(RQ, qp->qp_num, 1);
	request(SEND);
	send_it();
}

static void small_bell(void) { *(volatile uint32_t *)bell = 1; }
static void far_bell(void) { bell[1] = 1; }
static void reserved_bell(void) { ring(SQ, qp->qp_num | 1 << 27, 0); }
static void unknown_bell(void) { ring(15, qp->qp_num, 0); }
static void no_qp(void) { ring(SQ, 1, 0); }
static void no_cq(void) { ring(CQ, 1, 0); }
static void no_srq(void) { ring(SRQ, 1, 0); }
static void no_index(void) { ring(SQ, qp->qp_num, ENTRIES); }
static void epoch(void) { ring(SQ, qp->qp_num, 1 << 24); }
static void too_many(void) { ring(SQ, qp->qp_num, DEPTH + 112); }
static void ahead(void) { send_it(); }
static void toggle(void) { ring(CQ_ARM, *(uint32_t *)(cq + 1), 1 << 25); }
static void cq_ahead(void) { ring(CQ, *(uint32_t *)(cq + 1), 3); }
static void arm_ahead(void) { ring(CQ_ARM, *(uint32_t *)(cq + 1), 3); }

static void reserved_byte(void) { request(WRITE)[0] |= 1 << 24; send_it(); }
static void unknown_op(void) { request(WRITE)[0] |= 0x40; send_it(); }
static void reserved_flag(void) { request(WRITE)[0] |= 1 << 13; send_it(); }
static void few_slots(void) { request(WRITE)[0] ^= SLOTS(2); send_it(); }
static void many_slots(void) { request(WRITE)[0] |= SLOTS(15); send_it(); }
static void wrong_length(void) { request(WRITE)[2] = 9; send_it(); }
static void high_length(void) { request(WRITE)[3] = 1; send_it(); }
static void inline_read(void) { request(READ)[0] |= INLINE; send_it(); }
static void inline_slots(void) { request(WRITE)[0] |= INLINE | SLOTS(4); send_it(); }
static void first_packet(void) { request(WRITE); packets(0)[0] = 1; send_it(); }
static void next_packet(void) { request(WRITE); packets(0)[1] = 2; send_it(); }
static void first_slot(void) { request(WRITE); packets(0)[2] = 3; send_it(); }
static void ud_write(void) { request(WRITE); send_it(); }
static void ud_handle(void) { request(SEND)[5] = 0xffff; send_it(); }

/* The second request is that of an earlier round: its packet numbers are old. */
static void old_request(void)
{
	volatile uint8_t *written = memory + 64;

	memory[0] = ++*written;
	memory[0]++;
	request(WRITE);
	send_it();
	while (*written != memory[0])
		;
	memcpy(entry(0, 1), entry(0, 0), ENTRY);
	entry(0, 1)[0] &= 0xffffff;
	ring(SQ, qp->qp_num, 2);
}

static void receive_number(void) { receive()[2] = 5; receive_it(); }
static void receive_type(void) { receive()[0] = SEND | SLOTS(3); receive_it(); }
static void receive_flag(void) { receive()[0] |= SIGNALED; receive_it(); }
static void receive_slots(void) { receive()[0] |= SLOTS(15); receive_it(); }
static void receive_ahead(void) { receive()[0] = 0; receive_it(); }

static const struct { const char *name; void (*violate)(void); enum ibv_qp_type type; } cases[] = {
	{ "doorbell of 4 bytes", small_bell, IBV_QPT_RC },
	{ "doorbell at another offset", far_bell, IBV_QPT_RC },
	{ "doorbell with a reserved bit", reserved_bell, IBV_QPT_RC },
	{ "doorbell of an unknown type", unknown_bell, IBV_QPT_RC },
	{ "doorbell of no queue pair", no_qp, IBV_QPT_RC },
	{ "doorbell of no completion queue", no_cq, IBV_QPT_RC },
	{ "doorbell of no shared receive queue", no_srq, IBV_QPT_RC },
	{ "index behind the ring", no_index, IBV_QPT_RC },
	{ "wrong epoch", epoch, IBV_QPT_RC },
	{ "too many requests", too_many, IBV_QPT_RC },
	{ "doorbell ahead of its request", ahead, IBV_QPT_RC },
	{ "request of an earlier round", old_request, IBV_QPT_RC },
	{ "reserved byte", reserved_byte, IBV_QPT_RC },
	{ "unknown operation", unknown_op, IBV_QPT_RC },
	{ "reserved flag", reserved_flag, IBV_QPT_RC },
	{ "too few slots", few_slots, IBV_QPT_RC },
	{ "too many slots", many_slots, IBV_QPT_RC },
	{ "length of other segments", wrong_length, IBV_QPT_RC },
	{ "length of more than 32 bits", high_length, IBV_QPT_RC },
	{ "read with inline data", inline_read, IBV_QPT_RC },
	{ "inline data in too many slots", inline_slots, IBV_QPT_RC },
	{ "wrong first packet", first_packet, IBV_QPT_RC },
	{ "wrong next packet", next_packet, IBV_QPT_RC },
	{ "wrong first slot", first_slot, IBV_QPT_RC },
	{ "datagram with a write", ud_write, IBV_QPT_UD },
	{ "datagram without an address handle", ud_handle, IBV_QPT_UD },
	{ "receive with a wrong number", receive_number, IBV_QPT_RC },
	{ "receive of another type", receive_type, IBV_QPT_RC },
	{ "receive with a flag", receive_flag, IBV_QPT_RC },
	{ "receive of too many slots", receive_slots, IBV_QPT_RC },
	{ "doorbell ahead of its receive", receive_ahead, IBV_QPT_RC },
	{ "toggle without an event", toggle, IBV_QPT_RC },
	{ "completion queue ahead", cq_ahead, IBV_QPT_RC },
	{ "event ahead", arm_ahead, IBV_QPT_RC },
};

/* Runs a case and prints the module's description, which has to come in time. */
static void run(unsigned int i)
{
	char text[160] = "";
	time_t end;
	unsigned long before;
	FILE *f;

	cq = CHECK(ibv_create_cq(ctx, 31, NULL, NULL, 0));
	open_queue(cases[i].type);
	before = violations();
	clear_violation();
	cases[i].violate();
	for (end = time(NULL) + TIMEOUT_S; violations() == before && time(NULL) < end;)
		usleep(1000);
	if (violations() == before) {
		printf("%s: not detected\n", cases[i].name);
	} else {
		f = CHECK(fopen(PARAMETERS "violation", "r"));
		CHECK(fgets(text, sizeof(text), f));
		fclose(f);
		printf("%s: %s", cases[i].name, text);
	}
	ZERO(ibv_destroy_qp(qp));
	ZERO(ibv_destroy_cq(cq));
}

int main(void)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));

	ctx = CHECK(ibv_open_device(devices[0]));
	pd = CHECK(ibv_alloc_pd(ctx));
	mr = CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE));
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		run(i);
	return 0;
}
