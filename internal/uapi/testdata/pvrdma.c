// Prints what pvrdma_test.go compares with, on a machine with linux-libc-dev:
// cc pvrdma.c && ./a.out >pvrdma.txt
#include <rdma/vmw_pvrdma-abi.h>
#include <stddef.h>
#include <stdio.h>

#define S(s) printf("%s %zu\n", #s, sizeof(struct s))
#define F(s, f) printf("%s.%s %zu\n", #s, #f, offsetof(struct s, f))
#define U(u, f) printf("%s.%s %zu\n", #u, #f, offsetof(struct pvrdma_sq_wqe_hdr, wr.u.f) - offsetof(struct pvrdma_sq_wqe_hdr, wr))
#define N(n) printf("%s %llu\n", #n, (unsigned long long)(unsigned int)(n))

int main(void)
{
	S(pvrdma_alloc_ucontext_resp);
	F(pvrdma_alloc_ucontext_resp, qp_tab_size);
	S(pvrdma_create_cq);
	F(pvrdma_create_cq, buf_addr);
	F(pvrdma_create_cq, buf_size);
	S(pvrdma_create_cq_resp);
	F(pvrdma_create_cq_resp, cqn);
	S(pvrdma_create_srq);
	F(pvrdma_create_srq, buf_addr);
	F(pvrdma_create_srq, buf_size);
	S(pvrdma_create_srq_resp);
	F(pvrdma_create_srq_resp, srqn);
	S(pvrdma_create_qp);
	F(pvrdma_create_qp, rbuf_addr);
	F(pvrdma_create_qp, sbuf_addr);
	F(pvrdma_create_qp, rbuf_size);
	F(pvrdma_create_qp, sbuf_size);
	F(pvrdma_create_qp, qp_addr);
	S(pvrdma_create_qp_resp);
	F(pvrdma_create_qp_resp, qpn);
	F(pvrdma_create_qp_resp, qp_handle);
	S(pvrdma_av);
	F(pvrdma_av, port_pd);
	F(pvrdma_av, sl_tclass_flowlabel);
	F(pvrdma_av, dgid);
	F(pvrdma_av, src_path_bits);
	F(pvrdma_av, gid_index);
	F(pvrdma_av, stat_rate);
	F(pvrdma_av, hop_limit);
	F(pvrdma_av, dmac);
	S(pvrdma_sge);
	F(pvrdma_sge, addr);
	F(pvrdma_sge, length);
	F(pvrdma_sge, lkey);
	S(pvrdma_rq_wqe_hdr);
	F(pvrdma_rq_wqe_hdr, wr_id);
	F(pvrdma_rq_wqe_hdr, num_sge);
	F(pvrdma_rq_wqe_hdr, total_len);
	S(pvrdma_sq_wqe_hdr);
	F(pvrdma_sq_wqe_hdr, wr_id);
	F(pvrdma_sq_wqe_hdr, num_sge);
	F(pvrdma_sq_wqe_hdr, total_len);
	F(pvrdma_sq_wqe_hdr, opcode);
	F(pvrdma_sq_wqe_hdr, send_flags);
	F(pvrdma_sq_wqe_hdr, ex);
	F(pvrdma_sq_wqe_hdr, wr);
	S(pvrdma_cqe);
	F(pvrdma_cqe, wr_id);
	F(pvrdma_cqe, qp);
	F(pvrdma_cqe, opcode);
	F(pvrdma_cqe, status);
	F(pvrdma_cqe, byte_len);
	F(pvrdma_cqe, imm_data);
	F(pvrdma_cqe, src_qp);
	F(pvrdma_cqe, wc_flags);
	F(pvrdma_cqe, vendor_err);
	F(pvrdma_cqe, pkey_index);
	F(pvrdma_cqe, slid);
	F(pvrdma_cqe, sl);
	F(pvrdma_cqe, dlid_path_bits);
	F(pvrdma_cqe, port_num);
	F(pvrdma_cqe, smac);
	F(pvrdma_cqe, network_hdr_type);
	printf("rdma %zu\n", sizeof(((struct pvrdma_sq_wqe_hdr *)0)->wr.rdma));
	U(rdma, remote_addr);
	U(rdma, rkey);
	printf("atomic %zu\n", sizeof(((struct pvrdma_sq_wqe_hdr *)0)->wr.atomic));
	U(atomic, remote_addr);
	U(atomic, compare_add);
	U(atomic, swap);
	U(atomic, rkey);
	printf("ud %zu\n", sizeof(((struct pvrdma_sq_wqe_hdr *)0)->wr.ud));
	U(ud, remote_qpn);
	U(ud, remote_qkey);
	U(ud, av);
	N(PVRDMA_UAR_QP_OFFSET);
	N(PVRDMA_UAR_QP_SEND);
	N(PVRDMA_UAR_QP_RECV);
	N(PVRDMA_UAR_CQ_OFFSET);
	N(PVRDMA_UAR_CQ_ARM_SOL);
	N(PVRDMA_UAR_CQ_ARM);
	N(PVRDMA_UAR_CQ_POLL);
	N(PVRDMA_UAR_SRQ_OFFSET);
	N(PVRDMA_UAR_SRQ_RECV);
	N(PVRDMA_WC_GRH);
	N(PVRDMA_WC_WITH_IMM);
	return 0;
}
