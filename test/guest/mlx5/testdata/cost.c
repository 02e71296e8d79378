// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Measures the processor time of the C library: of posting writes of 64 bytes, of posting
 * receives and of polling, in ns per message. It prints "name batch ns" for the median of
 * all rounds. Program cost, in Go, does the same with ibkit.
 * With an argument, ibv_post_send is measured only. On an adapter that has datagrams only
 * (efa), it sends datagrams, which the peer drops.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define DEPTH	1024
#define ROUNDS	40
#define SIZE	64

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq[2];
static struct ibv_qp *qp[2];
static struct ibv_mr *mr;
static struct ibv_port_attr port;
static struct ibv_ah *ah;	/* of datagrams */
static uint8_t memory[2][SIZE] __attribute__((aligned(64)));

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int order(const void *a, const void *b)
{
	double x = *(double *)a, y = *(double *)b;

	return x < y ? -1 : x > y;
}

static void report(const char *name, int batch, double *ns)
{
	qsort(ns, ROUNDS, sizeof(*ns), order);
	printf("%s %d %.1f\n", name, batch, ns[ROUNDS / 2]);
}

static int datagrams(void)
{
	return port.link_layer == IBV_LINK_LAYER_UNSPECIFIED;
}

static void start_pair(void)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };

		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_QKEY));
		attr.qp_state = IBV_QPS_RTR;
		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE));
		attr.qp_state = IBV_QPS_RTS;
		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
	}
	if (!ah) {
		struct ibv_ah_attr to = { .port_num = 1, .is_global = 1 };

		ZERO(ibv_query_gid(ctx, 1, 0, &to.grh.dgid));
		ah = CHECK(ibv_create_ah(pd, &to));
	}
}

static void connect_pair(void)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
		int roce = port.link_layer == IBV_LINK_LAYER_ETHERNET;

		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE));
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
		attr = (struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp[!i]->qp_num, .min_rnr_timer = 1,
			.max_dest_rd_atomic = 1, .ah_attr = { .dlid = port.lid, .port_num = 1 },
		};
		if (roce) {
			attr.ah_attr.is_global = 1;
			attr.ah_attr.grh.sgid_index = 1;
			attr.ah_attr.grh.hop_limit = 1;
			ZERO(ibv_query_gid(ctx, 1, 1, &attr.ah_attr.grh.dgid));
		}
		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
		attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1 };
		ZERO(ibv_modify_qp(qp[i], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC));
	}
}

static void open_pair(void)
{
	for (int i = 0; i < 2; i++) {
		struct ibv_qp_init_attr_ex init = {
			.qp_type = IBV_QPT_RC, .pd = pd, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
			.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
		};

		if (datagrams()) {
			init.qp_type = IBV_QPT_UD;
			init.send_ops_flags = IBV_QP_EX_WITH_SEND;
		}
		init.send_cq = init.recv_cq = cq[i] = CHECK(ibv_create_cq(ctx, 2 * DEPTH, NULL, NULL, 0));
		qp[i] = ibv_create_qp_ex(ctx, &init);
		if (!qp[i]) {	/* a library without ibv_wr_start */
			init.comp_mask = IBV_QP_INIT_ATTR_PD;
			qp[i] = CHECK(ibv_create_qp_ex(ctx, &init));
		}
	}
	if (datagrams())
		start_pair();
	else
		connect_pair();
}

/* New queue pairs: after RESET, the rings of libirdma do not begin again. */
static void reopen_pair(void)
{
	for (int i = 0; i < 2; i++) {
		ZERO(ibv_destroy_qp(qp[i]));
		ZERO(ibv_destroy_cq(cq[i]));
	}
	open_pair();
}

static void post_list(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	ZERO(ibv_post_send(qp[0], wr, &bad));
}

static void post_calls(int batch)
{
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp[0]);

	ibv_wr_start(x);
	for (int i = 0; i < batch; i++) {
		x->wr_id = i;
		x->wr_flags = IBV_SEND_SIGNALED;
		if (ah) {
			ibv_wr_send(x);
			ibv_wr_set_ud_addr(x, ah, qp[1]->qp_num, 1);
		} else {
			ibv_wr_rdma_write(x, mr->rkey, (uintptr_t)memory[1]);
		}
		ibv_wr_set_sge(x, mr->lkey, (uintptr_t)memory[0], SIZE);
	}
	ZERO(ibv_wr_complete(x));
}

static void sends(int batch, int calls)
{
	static struct ibv_send_wr wr[64];
	static struct ibv_wc wc[64];
	struct ibv_sge sge = { (uintptr_t)memory[0], SIZE, mr->lkey };
	double post[ROUNDS], poll[ROUNDS];

	for (int i = 0; i < batch; i++) {
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .next = i + 1 < batch ? &wr[i + 1] : NULL, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
		};
		wr[i].wr.rdma.remote_addr = (uintptr_t)memory[1];
		wr[i].wr.rdma.rkey = mr->rkey;
		if (ah) {
			wr[i].opcode = IBV_WR_SEND;
			wr[i].wr.ud.ah = ah;
			wr[i].wr.ud.remote_qpn = qp[1]->qp_num;
			wr[i].wr.ud.remote_qkey = 1;
		}
	}
	for (int r = 0; r < ROUNDS; r++) {
		uint64_t begin;
		int done = 0;

		begin = now();
		for (int n = 0; n < DEPTH; n += batch) {
			if (calls)
				post_calls(batch);
			else
				post_list(wr);
		}
		post[r] = (double)(now() - begin) / DEPTH;
		usleep(20000);	/* the adapter executes all */
		begin = now();
		for (int n = 0; n < DEPTH; n += batch) {
			int got = ibv_poll_cq(cq[0], batch, wc);

			CHECK(got >= 0);
			for (int i = 0; i < got; i++)
				ZERO(wc[i].status);
			done += got;
		}
		poll[r] = (double)(now() - begin) / DEPTH;
		if (done < DEPTH) {	/* the adapter was late: it does not count */
			while (done < DEPTH) {
				int got = ibv_poll_cq(cq[0], 64, wc);

				CHECK(got >= 0);
				done += got;
			}
			r--;
		}
	}
	report(calls ? "ibv_wr" : "ibv_post_send", batch, post);
	if (!calls)
		report("ibv_poll_cq", batch, poll);
}

static void receives(int batch)
{
	static struct ibv_recv_wr wr[64];
	struct ibv_recv_wr *bad;
	struct ibv_sge sge = { (uintptr_t)memory[0], SIZE, mr->lkey };
	double post[ROUNDS];

	for (int i = 0; i < batch; i++)
		wr[i] = (struct ibv_recv_wr){ .wr_id = i, .next = i + 1 < batch ? &wr[i + 1] : NULL, .sg_list = &sge, .num_sge = 1 };
	for (int r = 0; r < ROUNDS; r++) {
		uint64_t begin;

		reopen_pair();
		begin = now();
		for (int n = 0; n < DEPTH; n += batch)
			ZERO(ibv_post_recv(qp[0], wr, &bad));
		post[r] = (double)(now() - begin) / DEPTH;
	}
	report("ibv_post_recv", batch, post);
}

int main(int argc, char **argv)
{
	static const int batches[] = { 1, 16, 64 };
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));

	ctx = CHECK(ibv_open_device(devices[0]));
	ZERO(ibv_query_port(ctx, 1, &port));
	pd = CHECK(ibv_alloc_pd(ctx));
	mr = CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	open_pair();
	for (int i = 0; i < 3; i++) {
		sends(batches[i], 0);
		if (argc == 1)
			sends(batches[i], 1);
	}
	for (int i = 0; i < 3; i++)
		receives(batches[i]);
	return 0;
}
