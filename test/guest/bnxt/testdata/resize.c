// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Resizes a completion queue with libbnxt_re, each time with completions that are not polled
 * yet: they come in order, and others after them.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t memory[128];
static uint64_t posted, polled;

static void post(int n)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };

	while (n--) {
		struct ibv_send_wr *bad, wr = { .wr_id = posted++, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
						.send_flags = IBV_SEND_SIGNALED };

		wr.wr.rdma.remote_addr = (uintptr_t)memory + 64;
		wr.wr.rdma.rkey = mr->rkey;
		ZERO(ibv_post_send(qp, &wr, &bad));
	}
}

static void poll(int n)
{
	struct ibv_wc wc;

	while (n) {
		int got = ibv_poll_cq(cq, 1, &wc);

		CHECK(got >= 0);
		if (got) {
			CHECK(!wc.status && wc.wr_id == polled++);
			n--;
		}
	}
}

int main(void)
{
	struct ibv_device **devices = CHECK(ibv_get_device_list(NULL));
	struct ibv_context *ctx = CHECK(ibv_open_device(devices[0]));
	struct ibv_pd *pd = CHECK(ibv_alloc_pd(ctx));
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { .max_send_wr = 64, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	mr = CHECK(ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	cq = CHECK(ibv_create_cq(ctx, 10, NULL, NULL, 0));
	init.send_cq = init.recv_cq = cq;
	qp = CHECK(ibv_create_qp(pd, &init));
	ZERO(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num, .min_rnr_timer = 1, .max_dest_rd_atomic = 1,
		.ah_attr = { .port_num = 1, .is_global = 1, .grh = { .sgid_index = 1, .hop_limit = 1 } },
	};
	ZERO(ibv_query_gid(ctx, 1, 1, &attr.ah_attr.grh.dgid));
	ZERO(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .max_rd_atomic = 1 };
	ZERO(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
	post(2);
	poll(2);
	for (int size = 20; size < 60; size += 13) {
		post(5);
		ZERO(ibv_resize_cq(cq, size));
		post(4);
		poll(9);
		for (int i = 0; i < 30; i++) {
			post(7);
			poll(7);
		}
	}
	ZERO(ibv_destroy_qp(qp));
	ZERO(ibv_destroy_cq(cq));
	return 0;
}
