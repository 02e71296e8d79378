// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory of user space: regions, and lists of pieces of them. */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "engine.h"

DEFINE_XARRAY_ALLOC(ts_mrs);
static u32 next_key;

void ts_unmap(struct ts_mem *m)
{
	if (m->map)
		vunmap(m->map);
	if (!IS_ERR_OR_NULL(m->umem))
		ib_umem_release(m->umem);
	memset(m, 0, sizeof(*m));
}

int ts_map(struct ib_device *dev, struct ts_mem *m, u64 addr, u64 len, int access)
{
	struct sg_page_iter it;
	struct page **pages;
	size_t n, i = 0;

	memset(m, 0, sizeof(*m));
	m->umem = ib_umem_get(dev, addr, len, access);
	if (IS_ERR(m->umem)) {
		int err = PTR_ERR(m->umem);

		m->umem = NULL;
		return err;
	}
	n = ib_umem_num_pages(m->umem);
	pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	if (pages) {
		for_each_sgtable_page(&m->umem->sgt_append.sgt, &it, 0)
			if (i < n)
				pages[i++] = sg_page_iter_page(&it);
		m->map = vmap(pages, i, VM_MAP, PAGE_KERNEL);
		kvfree(pages);
	}
	if (!m->map) {
		ts_unmap(m);
		return -ENOMEM;
	}
	m->p = m->map + (addr & ~PAGE_MASK);
	return 0;
}

/* The bytes of a memory region that a key names, or NULL. */
void *ts_region(u32 key, u64 addr, u32 len, struct ib_pd *pd, int access)
{
	struct ts_mr *mr = xa_load(&ts_mrs, key >> 8);

	if (!mr || mr->ib.lkey != key || mr->pd != pd || (mr->access & access) != access)
		return NULL;
	if (addr < mr->iova || len > mr->len || addr - mr->iova > mr->len - len)
		return NULL;
	return mr->mem.p + (addr - mr->iova);
}

void ts_clear(struct ts_list *l)
{
	l->n = 0;
	l->len = 0;
}

void ts_add_seg(struct ts_list *l, void *p, u32 len)
{
	if (len && l->n < TS_MAX_SEGS) {
		l->seg[l->n++] = (struct ts_seg){ p, len };
		l->len += len;
	}
}

/* Copies the first len bytes. */
void ts_move(struct ts_list *to, struct ts_list *from, u64 len)
{
	unsigned int t = 0, f = 0;
	u32 to_off = 0, from_off = 0;

	while (len && t < to->n && f < from->n) {
		u32 n = min3((u64)(to->seg[t].len - to_off), (u64)(from->seg[f].len - from_off), len);

		memcpy(to->seg[t].p + to_off, from->seg[f].p + from_off, n);
		len -= n;
		to_off += n;
		from_off += n;
		if (to_off == to->seg[t].len) {
			t++;
			to_off = 0;
		}
		if (from_off == from->seg[f].len) {
			f++;
			from_off = 0;
		}
	}
}

struct ib_mr *ts_reg_user_mr(struct ib_pd *pd, u64 start, u64 len, u64 iova, int access,
			     struct ib_udata *udata)
{
	struct ts_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	u32 index;
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = ts_map(pd->device, &mr->mem, start, len, access);
	if (err)
		goto no_mem;
	mr->iova = iova;
	mr->len = len;
	mr->access = access;
	mr->pd = pd;
	mutex_lock(&ts_lock);
	err = ts_give_id(&ts_mrs, &index, mr, 0x10, 0xffffff, &next_key);
	if (!err)
		mr->ib.lkey = mr->ib.rkey = index << 8 | (index & 0xff);
	mutex_unlock(&ts_lock);
	if (!err)
		return &mr->ib;
	ts_unmap(&mr->mem);
no_mem:
	kfree(mr);
	return ERR_PTR(err);
}

int ts_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct ts_mr *mr = to_ts_mr(ib);

	if (mr->kernel) {
		kfree(mr);
		return 0;
	}
	mutex_lock(&ts_lock);
	xa_erase(&ts_mrs, ib->lkey >> 8);
	mutex_unlock(&ts_lock);
	ts_unmap(&mr->mem);
	kfree(mr);
	return 0;
}
