// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Toggles of queues: a word of the driver that changes with each event, and which the doorbell
 * for the next one has to repeat (<rdma/bnxt_re-abi.h>, BNXT_RE_OBJECT_GET_TOGGLE_MEM).
 */
#include <linux/mm.h>
#include <rdma/uverbs_ioctl.h>
#define UVERBS_MODULE_NAME verbstest
#include <rdma/uverbs_named_ioctl.h>
#include "bnxt.h"

/* Names of a newer <rdma/bnxt_re-abi.h>. */
enum {
	BX_OBJECT_TOGGLE = (1U << UVERBS_ID_NS_SHIFT) + 2,
	BX_METHOD_GET = 1U << UVERBS_ID_NS_SHIFT,
	BX_METHOD_RELEASE,
	BX_GET_HANDLE = 1U << UVERBS_ID_NS_SHIFT,
	BX_GET_TYPE,
	BX_GET_NUMBER,
	BX_GET_PAGE,
	BX_GET_OFFSET,
	BX_GET_LENGTH,
	BX_RELEASE_HANDLE = 1U << UVERBS_ID_NS_SHIFT,
};

enum toggle_type { TOGGLE_CQ, TOGGLE_SRQ };

/* Pages of the device file: this bit, the type and the number of the queue. */
#define PAGES		BIT(26)
#define TYPE_SHIFT	25
#define NUMBER_MASK	0xfffff

static u32 *find(unsigned int type, u32 number)
{
	struct ts_srq *srq;
	struct ts_cq *cq;

	if (type == TOGGLE_SRQ) {
		srq = xa_load(&ts_srqs, number);
		return srq ? srq->toggle : NULL;
	}
	cq = xa_load(&ts_cqs, number);
	return cq ? cq->toggle : NULL;
}

/* Maps the toggle of a queue, which user space only reads. */
int bx_map_toggle(struct vm_area_struct *vma)
{
	int err = -EINVAL;
	u32 *toggle;

	if (!(vma->vm_pgoff & PAGES) || vma->vm_flags & VM_WRITE)
		return err;
	mutex_lock(&ts_lock);
	toggle = find(vma->vm_pgoff >> TYPE_SHIFT & 1, vma->vm_pgoff & NUMBER_MASK);
	if (toggle)
		err = vm_insert_page(vma, vma->vm_start, virt_to_page(toggle));
	mutex_unlock(&ts_lock);
	return err;
}

static int release(struct ib_uobject *uobj, enum rdma_remove_reason why, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

static int UVERBS_HANDLER(BX_METHOD_GET)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, BX_GET_HANDLE);
	u32 number, length = PAGE_SIZE, offset = 0;
	enum toggle_type type;
	u64 page;
	int err;

	err = uverbs_get_const(&type, attrs, BX_GET_TYPE);
	if (!err)
		err = uverbs_copy_from(&number, attrs, BX_GET_NUMBER);
	if (err)
		return err;
	uobj->object = find(type, number);
	if (!uobj->object)
		return -EINVAL;
	page = (u64)(PAGES | type << TYPE_SHIFT | number) << PAGE_SHIFT;
	uverbs_finalize_uobj_create(attrs, BX_GET_HANDLE);
	err = uverbs_copy_to(attrs, BX_GET_PAGE, &page, sizeof(page));
	if (!err)
		err = uverbs_copy_to(attrs, BX_GET_LENGTH, &length, sizeof(length));
	if (!err)
		err = uverbs_copy_to(attrs, BX_GET_OFFSET, &offset, sizeof(offset));
	return err;
}

DECLARE_UVERBS_NAMED_METHOD(BX_METHOD_GET,
	UVERBS_ATTR_IDR(BX_GET_HANDLE, BX_OBJECT_TOGGLE, UVERBS_ACCESS_NEW, UA_MANDATORY),
	UVERBS_ATTR_CONST_IN(BX_GET_TYPE, enum toggle_type, UA_MANDATORY),
	UVERBS_ATTR_PTR_IN(BX_GET_NUMBER, UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(BX_GET_PAGE, UVERBS_ATTR_TYPE(u64), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(BX_GET_OFFSET, UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
	UVERBS_ATTR_PTR_OUT(BX_GET_LENGTH, UVERBS_ATTR_TYPE(u32), UA_MANDATORY));
DECLARE_UVERBS_NAMED_METHOD_DESTROY(BX_METHOD_RELEASE,
	UVERBS_ATTR_IDR(BX_RELEASE_HANDLE, BX_OBJECT_TOGGLE, UVERBS_ACCESS_DESTROY, UA_MANDATORY));
DECLARE_UVERBS_NAMED_OBJECT(BX_OBJECT_TOGGLE, UVERBS_TYPE_ALLOC_IDR(release),
	&UVERBS_METHOD(BX_METHOD_GET), &UVERBS_METHOD(BX_METHOD_RELEASE));

const struct uapi_definition bx_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(BX_OBJECT_TOGGLE),
	{},
};
