// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Runs each operation of each transport with libmlx5 and compares all bytes of the memory of
 * both sides, and the fields of the completions. It prints a line for each operation with the
 * number of messages. With an argument, the memory is dma-bufs from that DRM device.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define SIZE	8192
#define GUARD	64	/* bytes before the payload, which do not change */
#define GRH	40
#define INLINE	200
#define QKEY	0x1234

enum variant { PLAIN, LIST, IN_LINE, VARIANTS };

static const char *const variants[] = { "plain", "list of SGEs", "inline" };

struct transport {
	const char *name;
	enum ibv_qp_type type;
	int shared;
};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_port_attr port;
static struct ibv_cq *cq[2];	/* of sends and of receives */
static struct ibv_qp *qp[2];	/* the sender and its peer */
static struct ibv_srq *srq;
static struct ibv_xrcd *xrcd;
static struct ibv_ah *ah;
static struct ibv_mr *mr[2];
static struct ibv_mr *bound;	/* to windows, which dma-bufs do not support */
static uint8_t *memory[2], want[2][SIZE], window[64];
static unsigned int seed;

static void fail(const char *test, const char *text, unsigned long got, unsigned long wanted)
{
	printf("%s: %s: got %#lx, want %#lx\n", test, text, got, wanted);
	exit(1);
}

static void equal(const char *test, const char *text, unsigned long got, unsigned long wanted)
{
	if (got != wanted)
		fail(test, text, got, wanted);
}

static void compare(const char *test)
{
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < SIZE; i++)
			if (memory[side][i] != want[side][i]) {
				printf("%s: byte %d of side %d: got %#x, want %#x\n", test, i, side, memory[side][i], want[side][i]);
				exit(1);
			}
}

/* Fills the memory of both sides with bytes that differ in each message. */
static void fill(void)
{
	seed++;
	for (int side = 0; side < 2; side++)
		for (unsigned int i = 0; i < SIZE; i++)
			memory[side][i] = want[side][i] = (i * 31 + i / 251 + seed * 7 + side * 101) ^ 0x5a;
}

static void create_qps(const struct transport *t)
{
	int rights = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	int ud = t->type == IBV_QPT_UD, xrc = t->type == IBV_QPT_XRC_SEND, rc = t->type == IBV_QPT_RC || xrc;

	srq = NULL;
	if (xrc) {
		struct ibv_srq_init_attr_ex init = {
			.attr = { .max_wr = 8, .max_sge = 3 }, .srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = xrcd, .cq = cq[1],
			.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		};

		srq = CHECK(ibv_create_srq_ex(ctx, &init));
	} else if (t->shared) {
		struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 3 } };

		srq = CHECK(ibv_create_srq(pd, &init));
	}
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr_ex init = {
			.qp_type = t->type, .send_cq = cq[0], .recv_cq = cq[1], .srq = xrc ? NULL : srq, .pd = pd,
			.comp_mask = IBV_QP_INIT_ATTR_PD,
			.cap = { .max_send_wr = 4, .max_recv_wr = srq ? 0 : 4, .max_send_sge = 3, .max_recv_sge = srq ? 0 : 3,
				 .max_inline_data = INLINE },
		};
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY, .qp_access_flags = rights };

		if (xrc && i)
			init = (struct ibv_qp_init_attr_ex){
				.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd,
			};
		qp[i] = CHECK(ibv_create_qp_ex(ctx, &init));
		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
	}
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr attr = {
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp[!i]->qp_num, .min_rnr_timer = 12,
			.max_dest_rd_atomic = 1, .ah_attr = { .dlid = port.lid, .port_num = 1 },
		};
		int responder = rc && !(xrc && !i), requester = rc && !(xrc && i);

		ZERO(ibv_modify_qp(qp[i], &attr, ud ? IBV_QP_STATE : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | (responder ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)));
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1 };
		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | (rc ? IBV_QP_TIMEOUT : 0) |
				   (requester ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0)));
	}
}

static void destroy_qps(void)
{
	for (int i = 0; i < 2; i++)
		ZERO(ibv_destroy_qp(qp[i]));
	if (srq)
		ZERO(ibv_destroy_srq(srq));
}

/* Divides a range into SGEs of different sizes. Returns their number. */
static int divide(struct ibv_sge *sge, int side, uint32_t offset, uint32_t length, enum variant v)
{
	uint32_t first = length / 3, second = length / 2 - first;

	sge[0] = (struct ibv_sge){ (uintptr_t)memory[side] + offset, length, mr[side]->lkey };
	if (v != LIST || length < 8)
		return 1;
	sge[1] = sge[2] = sge[0];
	sge[0].length = first;
	sge[1].addr += first;
	sge[1].length = second;
	sge[2].addr += first + second;
	sge[2].length = length - first - second;
	return 3;
}

static struct ibv_wc await(const char *test, int which)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq[which], 1, &wc)))
		;
	equal(test, "poll", n, 1);
	equal(test, "status", wc.status, IBV_WC_SUCCESS);
	return wc;
}

static int receives(enum ibv_wr_opcode op)
{
	return op == IBV_WR_SEND || op == IBV_WR_SEND_WITH_IMM || op == IBV_WR_SEND_WITH_INV || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static int writes(enum ibv_wr_opcode op)
{
	return op == IBV_WR_RDMA_WRITE || op == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* Sets what the memory and the completion of a message have to be, and runs it. */
static void message(const struct transport *t, const char *name, enum ibv_wr_opcode op, uint32_t length, enum variant v)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE, [IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND, [IBV_WR_SEND_WITH_INV] = IBV_WC_SEND, [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP, [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	};
	int ud = t->type == IBV_QPT_UD, atomic = op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD;
	uint32_t from = GUARD + 3, to = GUARD + (atomic ? 0 : 5);
	struct ibv_sge sge[3], into[3];
	struct ibv_send_wr wr = { .wr_id = seed, .opcode = op, .sg_list = sge, .send_flags = IBV_SEND_SIGNALED }, *bad_send;
	struct ibv_recv_wr recv = { .wr_id = seed + 1, .sg_list = into }, *bad_recv;
	uint64_t operand = 0x1122334455667788, old, new;
	struct ibv_mw *mw = NULL;
	char test[128];
	struct ibv_wc wc;

	snprintf(test, sizeof(test), "%s %s, %u bytes, %s", t->name, name, length, variants[v]);
	fill();
	wr.num_sge = divide(sge, 0, from, length, v);
	if (v == IN_LINE)
		wr.send_flags |= IBV_SEND_INLINE;
	if (ud) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = qp[1]->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	} else if (atomic) {
		memcpy(&old, memory[1] + to, 8);
		wr.wr.atomic.remote_addr = (uintptr_t)memory[1] + to;
		wr.wr.atomic.rkey = mr[1]->rkey;
		wr.wr.atomic.compare_add = op == IBV_WR_ATOMIC_FETCH_AND_ADD ? operand : seed & 1 ? old : old + 1;
		wr.wr.atomic.swap = operand;
		new = op == IBV_WR_ATOMIC_FETCH_AND_ADD ? old + operand : seed & 1 ? operand : old;
		memcpy(want[0] + from, &old, 8);
		memcpy(want[1] + to, &new, 8);
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)memory[1] + to;
		wr.wr.rdma.rkey = mr[1]->rkey;
	}
	if (t->type == IBV_QPT_XRC_SEND)
		ZERO(ibv_get_srq_num(srq, &wr.qp_type.xrc.remote_srqn));
	if (op == IBV_WR_SEND_WITH_INV) {
		/* A window of the peer, which the message unbinds. */
		struct ibv_send_wr bind = {
			.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
			.bind_mw.bind_info = { .mr = bound, .addr = (uintptr_t)bound->addr, .length = sizeof(window), .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
		};

		bind.bind_mw.mw = mw = CHECK(ibv_alloc_mw(pd, IBV_MW_TYPE_2));
		wr.invalidate_rkey = bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
		ZERO(ibv_post_send(qp[1], &bind, &bad_send));
		await(test, 0);
	} else {
		wr.imm_data = htonl(0xcafe0000 + seed);
	}
	if (receives(op)) {
		recv.num_sge = divide(into, 1, to, length + (ud ? GRH : 0) + 16, v);
		ZERO(srq ? ibv_post_srq_recv(srq, &recv, &bad_recv) : ibv_post_recv(qp[1], &recv, &bad_recv));
	}
	if (op == IBV_WR_RDMA_READ)
		memcpy(want[0] + from, want[1] + to, length);
	else if (!atomic)
		memcpy(want[1] + to + (ud ? GRH : 0), want[0] + from, length);
	ZERO(ibv_post_send(qp[0], &wr, &bad_send));
	wc = await(test, 0);
	equal(test, "ID", wc.wr_id, wr.wr_id);
	equal(test, "opcode", wc.opcode, opcodes[op]);
	equal(test, "queue pair", wc.qp_num, qp[0]->qp_num);
	if (receives(op)) {
		wc = await(test, 1);
		equal(test, "ID of the receive", wc.wr_id, recv.wr_id);
		equal(test, "opcode of the receive", wc.opcode, writes(op) ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
		equal(test, "length", wc.byte_len, length + (ud ? GRH : 0));
		equal(test, "flags", wc.wc_flags, op == IBV_WR_SEND ? 0 : op == IBV_WR_SEND_WITH_INV ? IBV_WC_WITH_INV : IBV_WC_WITH_IMM);
		if (op == IBV_WR_SEND_WITH_INV)
			equal(test, "invalidated key", wc.invalidated_rkey, wr.invalidate_rkey);
		else if (op != IBV_WR_SEND)
			equal(test, "immediate data", wc.imm_data, wr.imm_data);
	} else if (op == IBV_WR_RDMA_READ || atomic) {
		equal(test, "length", wc.byte_len, length);
	}
	if (ud)	/* without a GRH, its bytes are undefined */
		memcpy(want[1] + to, memory[1] + to, GRH);
	compare(test);
	if (mw)
		ZERO(ibv_dealloc_mw(mw));
}

static void operation(const struct transport *t, const char *name, enum ibv_wr_opcode op)
{
	static const uint32_t sizes[] = { 1, 12, 64, 200, 1000, 5000 };
	int atomic = op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD, count = 0;

	if (atomic) {
		for (; count < 4; count++)
			message(t, name, op, 8, PLAIN);
	} else {
		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			for (enum variant v = PLAIN; v < VARIANTS; v++) {
				if (v == IN_LINE && (op == IBV_WR_RDMA_READ || sizes[i] > INLINE))
					continue;
				if (t->type == IBV_QPT_UD && sizes[i] > 4096)
					continue;
				message(t, name, op, sizes[i], v);
				count++;
			}
	}
	printf("%s %s: %d\n", t->name, name, count);
}

/* Structures and requests of <drm/drm_mode.h> and <drm/drm.h>, which libdrm-dev has. */
struct dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct prime {
	uint32_t handle, flags;
	int32_t fd;
};

#define CREATE_DUMB	_IOWR('d', 0xb2, struct dumb)
#define PRIME_TO_FD	_IOWR('d', 0x2d, struct prime)

/* Registers memory of a dma-buf, which begins in the middle of it. */
static struct ibv_mr *register_dmabuf(const char *driver, uint8_t **mapped, int rights)
{
	struct dumb dumb = { .width = SIZE, .height = 2, .bpp = 8 };
	struct prime prime = { .flags = O_CLOEXEC | O_RDWR };
	int card = open(driver, O_RDWR);

	CHECK(card >= 0);
	ZERO(ioctl(card, CREATE_DUMB, &dumb));
	prime.handle = dumb.handle;
	ZERO(ioctl(card, PRIME_TO_FD, &prime));
	/* Linux 6.1 maps the beginning, whatever the offset. */
	*mapped = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
	CHECK(*mapped != MAP_FAILED);
	*mapped += SIZE;
	return CHECK(ibv_reg_dmabuf_mr(pd, SIZE, SIZE, (uintptr_t)*mapped, prime.fd, rights));
}

int main(int argc, char **argv)
{
	static const struct transport transports[] = {
		{ "RC", IBV_QPT_RC, 0 }, { "RC with SRQ", IBV_QPT_RC, 1 }, { "UC", IBV_QPT_UC, 0 }, { "UD", IBV_QPT_UD, 0 },
		{ "UD with SRQ", IBV_QPT_UD, 1 }, { "XRC", IBV_QPT_XRC_SEND, 1 },
	};
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT,
	};
	struct ibv_ah_attr path = { .port_num = 1 };
	int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

	ctx = CHECK(ibv_open_device(CHECK(devices[0])));
	ZERO(ibv_query_port(ctx, 1, &port));
	pd = CHECK(ibv_alloc_pd(ctx));
	xrcd = CHECK(ibv_open_xrcd(ctx, &domain));
	bound = CHECK(ibv_reg_mr(pd, window, sizeof(window), rights | IBV_ACCESS_MW_BIND));
	path.dlid = port.lid;
	ah = CHECK(ibv_create_ah(pd, &path));
	for (int i = 0; i < 2; i++) {
		if (argc > 1) {
			mr[i] = register_dmabuf(argv[1], &memory[i], rights);
		} else {
			ZERO(posix_memalign((void **)&memory[i], 4096, SIZE));
			mr[i] = CHECK(ibv_reg_mr(pd, memory[i], SIZE, rights));
		}
		cq[i] = CHECK(ibv_create_cq(ctx, 31, NULL, NULL, 0));
	}
	for (unsigned int i = 0; i < sizeof(transports) / sizeof(*transports); i++) {
		const struct transport *t = &transports[i];

		create_qps(t);
		operation(t, "send", IBV_WR_SEND);
		operation(t, "send with immediate", IBV_WR_SEND_WITH_IMM);
		if (t->type == IBV_QPT_RC)
			operation(t, "send with invalidate", IBV_WR_SEND_WITH_INV);
		if (t->type != IBV_QPT_UD) {
			operation(t, "write", IBV_WR_RDMA_WRITE);
			operation(t, "write with immediate", IBV_WR_RDMA_WRITE_WITH_IMM);
		}
		if (t->type == IBV_QPT_RC || t->type == IBV_QPT_XRC_SEND) {
			operation(t, "read", IBV_WR_RDMA_READ);
			operation(t, "compare and swap", IBV_WR_ATOMIC_CMP_AND_SWP);
			operation(t, "fetch and add", IBV_WR_ATOMIC_FETCH_AND_ADD);
		}
		destroy_qps();
	}
	return 0;
}
