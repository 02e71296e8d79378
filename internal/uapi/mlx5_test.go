package uapi

import (
	"testing"
	"unsafe"
)

// mlx5's queues have the layouts of a C compiler with the headers of
// linux-libc-dev 6.1, printed by testdata/mlx5.c.
func TestMLX5(t *testing.T) {
	l := layouts{}
	{
		var x MLX5CreateCQ
		l.add("mlx5_ib_create_cq", unsafe.Sizeof(x), map[string]uintptr{
			"buf_addr":            unsafe.Offsetof(x.BufAddr),
			"db_addr":             unsafe.Offsetof(x.DBAddr),
			"cqe_size":            unsafe.Offsetof(x.CQESize),
			"cqe_comp_en":         unsafe.Offsetof(x.CQECompEn),
			"cqe_comp_res_format": unsafe.Offsetof(x.CQECompResFormat),
			"flags":               unsafe.Offsetof(x.Flags),
			"uar_page_index":      unsafe.Offsetof(x.UARPageIndex),
		})
	}
	{
		var x MLX5CreateCQResp
		l.add("mlx5_ib_create_cq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"cqn": unsafe.Offsetof(x.CQN),
		})
	}
	{
		var x MLX5ResizeCQ
		l.add("mlx5_ib_resize_cq", unsafe.Sizeof(x), map[string]uintptr{
			"buf_addr": unsafe.Offsetof(x.BufAddr),
			"cqe_size": unsafe.Offsetof(x.CQESize),
		})
	}
	{
		var x MLX5CreateSRQ
		l.add("mlx5_ib_create_srq", unsafe.Sizeof(x), map[string]uintptr{
			"buf_addr": unsafe.Offsetof(x.BufAddr),
			"db_addr":  unsafe.Offsetof(x.DBAddr),
			"flags":    unsafe.Offsetof(x.Flags),
			"uidx":     unsafe.Offsetof(x.UIdx),
		})
	}
	{
		var x MLX5CreateSRQResp
		l.add("mlx5_ib_create_srq_resp", unsafe.Sizeof(x), map[string]uintptr{
			"srqn": unsafe.Offsetof(x.SRQN),
		})
	}
	{
		var x MLX5CreateQP
		l.add("mlx5_ib_create_qp", unsafe.Sizeof(x), map[string]uintptr{
			"buf_addr":     unsafe.Offsetof(x.BufAddr),
			"db_addr":      unsafe.Offsetof(x.DBAddr),
			"sq_wqe_count": unsafe.Offsetof(x.SQWQECount),
			"rq_wqe_count": unsafe.Offsetof(x.RQWQECount),
			"rq_wqe_shift": unsafe.Offsetof(x.RQWQEShift),
			"flags":        unsafe.Offsetof(x.Flags),
			"uidx":         unsafe.Offsetof(x.UIdx),
			"bfreg_index":  unsafe.Offsetof(x.BFRegIndex),
			"sq_buf_addr":  unsafe.Offsetof(x.SQBufAddr),
			"ece_options":  unsafe.Offsetof(x.ECEOptions),
		})
	}
	{
		var x MLX5CreateQPResp
		l.add("mlx5_ib_create_qp_resp", unsafe.Sizeof(x), map[string]uintptr{
			"bfreg_index":  unsafe.Offsetof(x.BFRegIndex),
			"ece_options":  unsafe.Offsetof(x.ECEOptions),
			"comp_mask":    unsafe.Offsetof(x.CompMask),
			"tirn":         unsafe.Offsetof(x.TIRN),
			"tisn":         unsafe.Offsetof(x.TISN),
			"rqn":          unsafe.Offsetof(x.RQN),
			"sqn":          unsafe.Offsetof(x.SQN),
			"tir_icm_addr": unsafe.Offsetof(x.TIRICMAddr),
		})
	}
	{
		var x MLX5CreateAHResp
		l.add("mlx5_ib_create_ah_resp", unsafe.Sizeof(x), map[string]uintptr{
			"response_length": unsafe.Offsetof(x.ResponseLength),
			"dmac":            unsafe.Offsetof(x.DMAC),
		})
	}
	l["MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX"] = MLX5CQUARPageIndex
	l["MLX5_QP_FLAG_UAR_PAGE_INDEX"] = MLX5QPUARPageIndex
	l["MLX5_IB_OBJECT_UAR"] = MLX5ObjectUAR
	l["MLX5_IB_METHOD_UAR_OBJ_ALLOC"] = MLX5MethodUARAlloc
	l["MLX5_IB_METHOD_UAR_OBJ_DESTROY"] = MLX5MethodUARDestroy
	l["MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE"] = MLX5AttrUARDestroyHandle
	l["MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE"] = MLX5AttrUARHandle
	l["MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE"] = MLX5AttrUARType
	l["MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET"] = MLX5AttrUAROffset
	l["MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH"] = MLX5AttrUARLength
	l["MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID"] = MLX5AttrUARPageID
	l["MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF"] = MLX5UARTypeBF
	l["MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC"] = MLX5UARTypeNC
	compare(t, l, "testdata/mlx5.txt")
}
