// Prints what mlx5_test.go compares with, on a machine with linux-libc-dev:
// cc mlx5.c && ./a.out >mlx5.txt
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <stddef.h>
#include <stdio.h>

#define S(s) printf("%s %zu\n", #s, sizeof(struct s))
#define F(s, f) printf("%s.%s %zu\n", #s, #f, offsetof(struct s, f))
#define N(n) printf("%s %llu\n", #n, (unsigned long long)(n))

int main(void)
{
	S(mlx5_ib_create_cq);
	F(mlx5_ib_create_cq, buf_addr);
	F(mlx5_ib_create_cq, db_addr);
	F(mlx5_ib_create_cq, cqe_size);
	F(mlx5_ib_create_cq, cqe_comp_en);
	F(mlx5_ib_create_cq, cqe_comp_res_format);
	F(mlx5_ib_create_cq, flags);
	F(mlx5_ib_create_cq, uar_page_index);
	S(mlx5_ib_create_cq_resp);
	F(mlx5_ib_create_cq_resp, cqn);
	S(mlx5_ib_create_srq);
	F(mlx5_ib_create_srq, buf_addr);
	F(mlx5_ib_create_srq, db_addr);
	F(mlx5_ib_create_srq, flags);
	F(mlx5_ib_create_srq, uidx);
	S(mlx5_ib_resize_cq);
	F(mlx5_ib_resize_cq, buf_addr);
	F(mlx5_ib_resize_cq, cqe_size);
	S(mlx5_ib_create_srq_resp);
	F(mlx5_ib_create_srq_resp, srqn);
	S(mlx5_ib_create_qp);
	F(mlx5_ib_create_qp, buf_addr);
	F(mlx5_ib_create_qp, db_addr);
	F(mlx5_ib_create_qp, sq_wqe_count);
	F(mlx5_ib_create_qp, rq_wqe_count);
	F(mlx5_ib_create_qp, rq_wqe_shift);
	F(mlx5_ib_create_qp, flags);
	F(mlx5_ib_create_qp, uidx);
	F(mlx5_ib_create_qp, bfreg_index);
	F(mlx5_ib_create_qp, sq_buf_addr);
	F(mlx5_ib_create_qp, ece_options);
	S(mlx5_ib_create_qp_resp);
	F(mlx5_ib_create_qp_resp, bfreg_index);
	F(mlx5_ib_create_qp_resp, ece_options);
	F(mlx5_ib_create_qp_resp, comp_mask);
	F(mlx5_ib_create_qp_resp, tirn);
	F(mlx5_ib_create_qp_resp, tisn);
	F(mlx5_ib_create_qp_resp, rqn);
	F(mlx5_ib_create_qp_resp, sqn);
	F(mlx5_ib_create_qp_resp, tir_icm_addr);
	S(mlx5_ib_create_ah_resp);
	F(mlx5_ib_create_ah_resp, response_length);
	F(mlx5_ib_create_ah_resp, dmac);
	N(MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX);
	N(MLX5_QP_FLAG_UAR_PAGE_INDEX);
	N(MLX5_IB_OBJECT_UAR);
	N(MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	N(MLX5_IB_METHOD_UAR_OBJ_DESTROY);
	N(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);
	N(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	N(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
	N(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET);
	N(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH);
	N(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID);
	N(MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	N(MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
}
