/*
 * Causes errors on the first device and prints the completions, for comparison with
 * test/guest/internal/faults: cc -o faults faults.c -libverbs. With arguments, it injects
 * faults: each is a syndrome and a vendor syndrome. With the argument "windows" alone, it
 * uses memory windows; with "overrun", too small completion queues. On RoCE, no completion
 * queue is resized. The arguments "iwarp ADDRESS" are first on iWARP, where each fault
 * ends the connection at both sides.
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE 4096
#define DEPTH 4

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr, *closed;
static struct ibv_port_attr port;
static char *buffer;

/* iWARP: the address of the device, and the process with the current connection */
static const char *address;
static FILE *connection;

struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

#define CHECK(call) do { if (call) { perror(#call); exit(1); } } while (0)

static void create_with(struct side *s, int entries, int depth)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC };

	s->cq = ibv_create_cq(context, entries, NULL, NULL, 0);
	CHECK(!s->cq);
	init.send_cq = init.recv_cq = s->cq;
	init.cap.max_send_wr = init.cap.max_recv_wr = depth;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	s->qp = ibv_create_qp(pd, &init);
	CHECK(!s->qp);
	CHECK(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS));
}

static void create(struct side *s)
{
	create_with(s, 4 * DEPTH, DEPTH);
}

static void connect_to(struct side *s, struct side *peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num, .min_rnr_timer = 12, .max_dest_rd_atomic = 1,
		.ah_attr = { .dlid = port.lid, .port_num = 1 } };

	if (port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.sgid_index = 1;
		attr.ah_attr.grh.hop_limit = 1;
		CHECK(ibv_query_gid(context, 1, 1, &attr.ah_attr.grh.dgid));
	}
	CHECK(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.max_rd_atomic = 1;
	CHECK(ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Connects two sides. On iWARP, the connection manager does it for another process. */
static void join(struct side *a, struct side *b)
{
	char line[128];

	if (!address) {
		connect_to(a, b);
		connect_to(b, a);
		return;
	}
	snprintf(line, sizeof(line), "faults connect %s %u %u", address, a->qp->qp_num, b->qp->qp_num);
	connection = popen(line, "r");
	CHECK(!connection || !fgets(line, sizeof(line), connection));
}

static void destroy(struct side *s)
{
	if (s->qp)
		CHECK(ibv_destroy_qp(s->qp));
	CHECK(ibv_destroy_cq(s->cq));
}

static void receive(struct side *s, uint64_t id, uint32_t lkey, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)buffer, length, lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK(ibv_post_recv(s->qp, &wr, &bad));
}

static struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = opcode, .sg_list = sge, .num_sge = 1,
				  .send_flags = IBV_SEND_SIGNALED };

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)buffer;
		wr.wr.atomic.rkey = mr->rkey;
		return wr;
	}
	wr.wr.rdma.remote_addr = (uintptr_t)buffer;
	wr.wr.rdma.rkey = mr->rkey;
	return wr;
}

static void post(struct side *s, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad;

	CHECK(ibv_post_send(s->qp, &wr, &bad));
}

/* Waits for n completions and prints them. */
static void print(const char *fault, const char *name, struct side *s, int n)
{
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(s->cq, 1, &wc);

		if (got < 0) {
			printf("%s: %s: poll failed\n", fault, name);
			exit(1);
		}
		if (got) {
			printf("%s: %s %d: status %d vendor %#x\n", fault, name, (int)wc.wr_id,
			       wc.status, wc.status ? wc.vendor_err : 0);
			n--;
		}
	}
}

static void run(const char *fault)
{
	struct side a = {}, b = {};
	struct ibv_sge sge = { (uintptr_t)buffer, 64, mr->lkey };
	int received = 0;

	create(&a);
	create(&b);
	join(&a, &b);
	if (!strcmp(fault, "invalid remote key")) {
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge);

		wr.wr.rdma.rkey = closed->rkey;
		receive(&b, 7, mr->lkey, 64);
		post(&a, wr);
		wr.wr_id = 2;
		post(&a, wr);
		print(fault, "requester", &a, 2);
		received = 1;
	} else if (!strcmp(fault, "no right to read")) {
		post(&a, request(IBV_WR_RDMA_READ, &sge));
		print(fault, "requester", &a, 1);
	} else if (!strcmp(fault, "range")) {
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge);

		wr.wr.rdma.remote_addr += SIZE - 63;
		post(&a, wr);
		print(fault, "requester", &a, 1);
	} else if (!strcmp(fault, "unaligned atomic")) {
		struct ibv_send_wr wr;

		sge.length = 8;
		wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);
		wr.wr.atomic.remote_addr += 4;
		post(&a, wr);
		print(fault, "requester", &a, 1);
	} else if (!strcmp(fault, "no receive")) {
		post(&a, request(IBV_WR_SEND, &sge));
		print(fault, "requester", &a, 1);
	} else if (!strcmp(fault, "no peer")) {
		CHECK(ibv_destroy_qp(b.qp));
		b.qp = NULL;
		post(&a, request(IBV_WR_SEND, &sge));
		print(fault, "requester", &a, 1);
	} else if (!strcmp(fault, "receive too short")) {
		receive(&b, 7, mr->lkey, 63);
		post(&a, request(IBV_WR_SEND, &sge));
		print(fault, "requester", &a, 1);
		received = 1;
	} else if (!strcmp(fault, "invalid key of a receive")) {
		receive(&b, 7, closed->lkey, 64);
		post(&a, request(IBV_WR_SEND, &sge));
		print(fault, "requester", &a, 1);
		received = 1;
	} else if (!strcmp(fault, "invalid local key")) {
		sge.lkey = closed->lkey;
		post(&a, request(IBV_WR_RDMA_WRITE, &sge));
		print(fault, "requester", &a, 1);
	} else if (!strcmp(fault, "flush")) {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

		receive(&b, 7, mr->lkey, 64);
		receive(&b, 8, mr->lkey, 64);
		CHECK(ibv_modify_qp(b.qp, &attr, IBV_QP_STATE));
		post(&b, request(IBV_WR_SEND, &sge));
		received = 3;
	} else {	/* injected by the module */
		post(&a, request(IBV_WR_RDMA_WRITE, &sge));
		print(fault, "requester", &a, 1);
	}
	print(fault, "responder", &b, received);
	if (address)
		CHECK(pclose(connection));	/* after the end at both sides */
	destroy(&a);
	destroy(&b);
}

/* Changes the size of a completion queue that has entries. */
static void resize(void)
{
	static const int sizes[] = { 40, 7, 100 };
	struct side a = {}, b = {};
	struct ibv_sge sge = { (uintptr_t)buffer, 64, mr->lkey };
	size_t i;

	create(&a);
	create(&b);
	join(&a, &b);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge);

		post(&a, wr);
		wr.wr_id = 2;
		post(&a, wr);
		wr.wr_id = 3;
		post(&a, wr);
		print("resize", "requester", &a, 1);
		CHECK(ibv_resize_cq(a.cq, sizes[i]));
		printf("resize: %d entries\n", a.cq->cqe);
		print("resize", "requester", &a, 2);
	}
	destroy(&a);
	destroy(&b);
}

/* Binds a memory window with the next key. */
static void bind(const char *name, struct side *s, struct ibv_mw *mw, struct ibv_mr *of)
{
	struct ibv_send_wr wr = {
		.wr_id = 5, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = {
			.mr = of, .addr = (uintptr_t)buffer, .length = 64,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		} },
	};

	post(s, wr);
	print(name, "bind", s, 1);
	mw->rkey = wr.bind_mw.rkey;
}

static void access_window(const char *name, struct side *s, enum ibv_wr_opcode opcode,
			  struct ibv_mw *mw, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)buffer, length, mr->lkey };
	struct ibv_send_wr wr = request(opcode, &sge);

	wr.wr.rdma.rkey = mw->rkey;
	post(s, wr);
	print(name, "requester", s, 1);
}

static void invalidate(const char *name, struct side *s, struct ibv_mw *mw)
{
	struct ibv_send_wr wr = {
		.wr_id = 6, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = mw->rkey,
	};

	post(s, wr);
	print(name, "invalidate", s, 1);
}

static void windows(void)
{
	static const char *const cases[] = {
		"region without the right", "write", "read", "longer write", "bound twice",
		"invalidated", "invalidated by the peer", "unbound", "other queue pair",
	};
	struct ibv_mr *of = ibv_reg_mr(pd, buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	size_t i;

	CHECK(!of);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *name = cases[i];
		struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		struct side a = {}, b = {};

		CHECK(!mw);
		create(&a);
		create(&b);
		join(&a, &b);
		if (!strcmp(name, "unbound")) {
			invalidate(name, &b, mw);
		} else if (!strcmp(name, "other queue pair")) {
			bind(name, &a, mw, of);
			access_window(name, &a, IBV_WR_RDMA_WRITE, mw, 64);
		} else {
			bind(name, &b, mw, i ? of : mr);
		}
		if (!strcmp(name, "write")) {
			access_window(name, &a, IBV_WR_RDMA_WRITE, mw, 64);
		} else if (!strcmp(name, "read")) {
			access_window(name, &a, IBV_WR_RDMA_READ, mw, 64);
		} else if (!strcmp(name, "longer write")) {
			access_window(name, &a, IBV_WR_RDMA_WRITE, mw, 65);
		} else if (!strcmp(name, "bound twice")) {
			bind(name, &b, mw, of);
		} else if (!strcmp(name, "invalidated")) {
			invalidate(name, &b, mw);
			access_window(name, &a, IBV_WR_RDMA_WRITE, mw, 64);
		} else if (!strcmp(name, "invalidated by the peer")) {
			struct ibv_sge sge = { (uintptr_t)buffer, 64, mr->lkey };
			struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, &sge);

			wr.invalidate_rkey = mw->rkey;
			receive(&b, 7, mr->lkey, 64);
			post(&a, wr);
			print(name, "requester", &a, 1);
			print(name, "responder", &b, 1);
			access_window(name, &a, IBV_WR_RDMA_WRITE, mw, 64);
		}
		destroy(&a);
		destroy(&b);
		CHECK(ibv_dealloc_mw(mw));
	}
}

/* Prints an event of a side. */
static void event(const char *name, struct side *s)
{
	struct ibv_async_event e;

	CHECK(ibv_get_async_event(context, &e));
	if (e.event_type == IBV_EVENT_CQ_ERR)
		printf("%s: event %d, of the CQ: %d\n", name, e.event_type, e.element.cq == s->cq);
	else
		printf("%s: event %d, of the QP: %d\n", name, e.event_type, e.element.qp == s->qp);
	ibv_ack_async_event(&e);
}

/* Has more messages than a completion queue has room for. */
static void overrun(int send)
{
	const char *name = send ? "overrun by receives" : "overrun by sends";
	struct ibv_sge sge = { (uintptr_t)buffer, 64, mr->lkey };
	struct ibv_send_wr wr = request(send ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, &sge), *bad;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct side a = {}, b = {}, *full = send ? &b : &a;
	struct ibv_wc wc;
	int i;

	create_with(&a, send ? 16 : 3, 8);
	create_with(&b, send ? 3 : 16, 8);
	join(&a, &b);
	for (i = 1; i <= 6; i++)
		receive(&b, i, mr->lkey, 64);
	for (i = 1; i <= 6; i++) {
		wr.wr_id = i;
		post(&a, wr);
	}
	event(name, full);
	event(name, full);
	CHECK(ibv_query_qp(full->qp, &attr, IBV_QP_STATE, &init));
	printf("%s: state %d\n", name, attr.qp_state);
	if (send)
		print(name, "requester", &a, 6);
	print(name, "full", full, 4);
	printf("%s: resize %d\n", name, !!ibv_resize_cq(full->cq, 50));
	for (i = 0; !ibv_post_send(full->qp, &wr, &bad); i++)
		;
	printf("%s: %d more requests, %d completions\n", name, i, ibv_poll_cq(full->cq, 1, &wc));
	destroy(&a);
	destroy(&b);
}

static void inject(const char *codes)
{
	FILE *f = fopen("/sys/module/verbstest/parameters/fault", "w");

	CHECK(!f);
	fprintf(f, "0 %s", codes);
	CHECK(fclose(f));
	run(codes);
}

int main(int argc, char **argv)
{
	static const char *const faults[] = {
		"invalid remote key", "no right to read", "range", "unaligned atomic",
		"no receive", "no peer", "receive too short", "invalid key of a receive",
		"invalid local key", "flush",
	};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device_attr device;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[1], "iwarp")) {
		address = argv[2];
		argc -= 2;
		argv += 2;
	}
	CHECK(!list || !list[0]);
	context = ibv_open_device(list[0]);
	CHECK(!context);
	CHECK(ibv_query_port(context, 1, &port));
	pd = ibv_alloc_pd(context);
	CHECK(!pd);
	CHECK(posix_memalign((void **)&buffer, SIZE, SIZE));
	memset(buffer, 0, SIZE);
	mr = ibv_reg_mr(pd, buffer, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_ATOMIC);
	CHECK(!mr);
	closed = ibv_reg_mr(ibv_alloc_pd(context), buffer, SIZE, IBV_ACCESS_LOCAL_WRITE |
			    IBV_ACCESS_REMOTE_WRITE);
	CHECK(!closed);
	if (argc == 2 && !strcmp(argv[1], "windows")) {
		windows();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "overrun")) {
		overrun(0);
		overrun(1);
		return 0;
	}
	CHECK(ibv_query_device(context, &device));
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (device.atomic_cap != IBV_ATOMIC_NONE || strcmp(faults[i], "unaligned atomic"))
			run(faults[i]);
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET)
		resize();
	for (i = 1; i < (size_t)argc; i++)
		inject(argv[i]);
	return 0;
}
