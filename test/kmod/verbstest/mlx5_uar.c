// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The pages of doorbell registers of mlx5 (UAR). */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#define UVERBS_MODULE_NAME verbstest
#include <rdma/uverbs_named_ioctl.h>
#include "engine.h"

#define BF_REG_SIZE	512
#define UAR_CQ_DB	0x20
#define UAR_BF		0x800

struct uar {
	struct rdma_user_mmap_entry entry;
	void *page;
	u32 id;
};

static DEFINE_XARRAY_ALLOC(uars);
static u32 next_uar;

bool mlx5_uar_exists(u32 id)
{
	return xa_load(&uars, id);
}

/* A doorbell of a completion queue. The arm word in the record is what counts. */
static void hear_arm(u64 value)
{
	__be32 word[2];
	struct ts_cq *cq;

	memcpy(word, &value, 8);
	cq = xa_load(&ts_cqs, be32_to_cpu(word[1]) & 0xffffff);
	if (ts_strict)
		ts_expect(!(be32_to_cpu(word[1]) >> 24), "doorbell of CQ %08x",
			  be32_to_cpu(word[1]));
	/* A queue may be gone before its last doorbell is heard. */
	if (cq)
		cq->bells++;
	else
		pr_info_ratelimited("verbstest: a doorbell of no CQ: %08x %08x\n",
				    be32_to_cpu(word[0]), be32_to_cpu(word[1]));
}

/* A doorbell of a queue pair: the first 8 bytes of the last request of a list. */
static void hear_send(struct uar *uar, u64 value)
{
	__be32 word[2];
	struct ts_qp *qp;
	u16 end, record;
	u32 op, qpn_ds;

	memcpy(word, &value, 8);
	op = be32_to_cpu(word[0]);
	qpn_ds = be32_to_cpu(word[1]);
	qp = xa_load(&ts_qps, qpn_ds >> 8);
	/* A queue pair may be gone before the doorbell of its last request is heard. */
	if (!qp || qp->uar != uar->id) {
		pr_info_ratelimited("verbstest: a doorbell of no queue pair: %08x %08x\n", op,
				    qpn_ds);
		return;
	}
	record = be32_to_cpu(smp_load_acquire(&qp->db[1]));
	end = (op >> 8) + max(DIV_ROUND_UP(qpn_ds & 0x3f, 4), 1U);
	if (ts_strict) {
		/* The record is written before the doorbell, and may have moved on since. */
		ts_expect((u16)(record - end) <= qp->sq_size,
			  "QP %#x: doorbell of request %#x, %u segments, the record has %#x",
			  qp->ib.qp_num, op >> 8 & 0xffff, qpn_ds & 0x3f, record);
		ts_expect((u16)(record - qp->sq_ci) <= qp->sq_size,
			  "QP %#x: %u blocks posted, the queue has %u", qp->ib.qp_num,
			  (u16)(record - qp->sq_ci), qp->sq_size);
	}
	qp->bells++;
	qp->sq_limit = record;
}

/*
 * The doorbells that were rung in a page. What another ring overwrites before it is
 * seen is lost: that matters only when queue pairs share a register.
 */
static bool hear_page(struct uar *uar)
{
	u64 *arm = uar->page + UAR_CQ_DB;
	unsigned int i;
	bool any = false;

	if (READ_ONCE(*arm))
		hear_arm(xchg(arm, 0));
	for (i = 0; i < 4; i++) {
		u64 *reg = uar->page + UAR_BF + i * BF_REG_SIZE / 2;

		if (!READ_ONCE(*reg))
			continue;
		hear_send(uar, xchg(reg, 0));
		any = true;
	}
	return any;
}

bool mlx5_hear_bells(void)
{
	struct uar *uar;
	unsigned long i;
	bool any = false;

	xa_for_each(&uars, i, uar)
		any |= hear_page(uar);
	return any;
}

int mlx5_mmap(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(uc, vma);
	struct uar *uar;
	int err;

	if (!entry)
		return -EINVAL;
	uar = container_of(entry, struct uar, entry);
	err = rdma_user_mmap_io(uc, vma, virt_to_phys(uar->page) >> PAGE_SHIFT, PAGE_SIZE,
				vma->vm_page_prot, entry);
	rdma_user_mmap_entry_put(entry);
	return err;
}

static void drop(struct uar *uar)
{
	mutex_lock(&ts_lock);
	xa_erase(&uars, uar->id);
	mutex_unlock(&ts_lock);
	free_page((unsigned long)uar->page);
	kfree(uar);
}

void mlx5_mmap_free(struct rdma_user_mmap_entry *entry)
{
	drop(container_of(entry, struct uar, entry));
}

static int destroy_uar(struct ib_uobject *uobj, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs)
{
	struct uar *uar = uobj->object;

	rdma_user_mmap_entry_remove(&uar->entry);
	return 0;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_UAR_OBJ_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	enum mlx5_ib_uapi_uar_alloc_type type;
	struct ib_ucontext *uc;
	struct uar *uar;
	u32 length = PAGE_SIZE;
	u64 offset;
	int err;

	uc = ib_uverbs_get_ucontext(attrs);
	if (IS_ERR(uc))
		return PTR_ERR(uc);
	err = uverbs_get_const(&type, attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
	if (err)
		return err;
	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return -EOPNOTSUPP;
	uar = kzalloc(sizeof(*uar), GFP_KERNEL);
	if (!uar)
		return -ENOMEM;
	uar->page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!uar->page) {
		kfree(uar);
		return -ENOMEM;
	}
	mutex_lock(&ts_lock);
	err = ts_give_id(&uars, &uar->id, uar, 1, 0xffff, &next_uar);
	mutex_unlock(&ts_lock);
	if (err) {
		free_page((unsigned long)uar->page);
		kfree(uar);
		return err;
	}
	err = rdma_user_mmap_entry_insert(uc, &uar->entry, PAGE_SIZE);
	if (err) {
		drop(uar);
		return err;
	}
	offset = rdma_user_mmap_get_offset(&uar->entry);
	uobj->object = uar;
	uverbs_finalize_uobj_create(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset,
			     sizeof(offset));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->id,
				     sizeof(uar->id));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length,
				     sizeof(length));
	return err;
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, MLX5_IB_OBJECT_UAR,
			UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, enum mlx5_ib_uapi_uar_alloc_type,
			     UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, UVERBS_ATTR_TYPE(u64),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, UVERBS_ATTR_TYPE(u32),
			    UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, UVERBS_ATTR_TYPE(u32),
			    UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD_DESTROY(MLX5_IB_METHOD_UAR_OBJ_DESTROY,
	UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, MLX5_IB_OBJECT_UAR,
			UVERBS_ACCESS_DESTROY, UA_MANDATORY));
DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_UAR, UVERBS_TYPE_ALLOC_IDR(destroy_uar),
	&UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC),
	&UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_DESTROY));

const struct uapi_definition mlx5_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_UAR),
	{},
};
