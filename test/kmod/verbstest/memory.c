// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Memory of user space: regions, windows, and lists of pieces of them. */
#include <linux/dma-buf.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "engine.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define dma_buf_vmap_unlocked	dma_buf_vmap
#define dma_buf_vunmap_unlocked	dma_buf_vunmap
#endif

MODULE_IMPORT_NS(DMA_BUF);

DEFINE_XARRAY_ALLOC(ts_mrs);
static u32 next_key;

void ts_unmap(struct ts_mem *m)
{
	if (m->dmabuf) {
		dma_buf_vunmap_unlocked(m->dmabuf, &m->view);
		dma_buf_put(m->dmabuf);
	}
	if (m->map)
		vunmap(m->map);
	if (m->area)
		efa_free_area(m->area);
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

/* The exporter maps a dma-buf: this device has no DMA addresses. */
static int map_dmabuf(struct ts_mem *m, int fd, u64 offset, u64 len)
{
	struct dma_buf *buf = dma_buf_get(fd);
	int err = -EINVAL;

	memset(m, 0, sizeof(*m));
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	if (offset <= buf->size && len <= buf->size - offset)
		err = dma_buf_vmap_unlocked(buf, &m->view);
	if (err) {
		dma_buf_put(buf);
		return err;
	}
	m->dmabuf = buf;
	m->p = m->view.vaddr + offset;
	return 0;
}

static bool contains(const struct ts_mr *mr, u64 addr, u64 len)
{
	return addr >= mr->iova && len <= mr->len && addr - mr->iova <= mr->len - len;
}

/* The region or window that a key of a protection domain names, or NULL. */
static struct ts_mr *find(u32 key, struct ib_pd *pd)
{
	struct ts_mr *mr = xa_load(&ts_mrs, key >> 8);

	return mr && mr->ib.lkey == key && mr->pd == pd ? mr : NULL;
}

/* The bytes of a memory region that a local key names, or NULL. */
void *ts_region(u32 key, u64 addr, u32 len, struct ib_pd *pd, int access)
{
	struct ts_mr *mr = find(key, pd);

	if (!mr || mr->window || (mr->access & access) != access || !contains(mr, addr, len))
		return NULL;
	return mr->mem.p + (addr - mr->iova);
}

/* The bytes of a region or window that a key of the peer of a queue pair names, or NULL. */
void *ts_remote_region(u32 key, u64 addr, u32 len, struct ib_pd *pd, int access, u32 qpn)
{
	struct ts_mr *mr = find(key, pd);

	if (!mr || !mr->window)
		return ts_region(key, addr, len, pd, access);
	if (!mr->of || mr->qpn != qpn || (mr->access & access) != access ||
	    !contains(mr, addr, len))
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

/* A region of mapped memory, or of the error of its mapping. */
static struct ib_mr *region_of(struct ts_mr *mr, int err, struct ib_pd *pd, u64 len, u64 iova,
			       int access)
{
	u32 index;

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

struct ib_mr *ts_reg_user_mr(struct ib_pd *pd, u64 start, u64 len, u64 iova, int access,
			     struct ib_udata *udata)
{
	struct ts_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	return region_of(mr, ts_map(pd->device, &mr->mem, start, len, access), pd, len, iova, access);
}

struct ib_mr *ts_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 len, u64 iova, int fd,
				    int access, struct ts_attrs *attrs)
{
	struct ts_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	return region_of(mr, map_dmabuf(&mr->mem, fd, offset, len), pd, len, iova, access);
}

int ts_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct ts_mr *mr = to_ts_mr(ib), *other;
	unsigned long i;

	if (mr->kernel) {
		kfree(mr);
		return 0;
	}
	mutex_lock(&ts_lock);
	xa_erase(&ts_mrs, ib->lkey >> 8);
	xa_for_each(&ts_mrs, i, other)
		if (other->of == mr)
			other->of = NULL;
	mutex_unlock(&ts_lock);
	ts_unmap(&mr->mem);
	kfree(mr);
	return 0;
}

/*
 * Memory windows of type 2.
 */

int ts_alloc_mw(struct ib_mw *ib, struct ib_udata *udata)
{
	struct ts_mr *view = &container_of(ib, struct ts_mw, ib)->view;
	u32 index;
	int err;

	if (ib->type != IB_MW_TYPE_2)
		return -EOPNOTSUPP;
	view->window = true;
	view->pd = ib->pd;
	mutex_lock(&ts_lock);
	err = ts_give_id(&ts_mrs, &index, view, 0x10, 0xffffff, &next_key);
	if (!err)
		ib->rkey = view->ib.lkey = index << 8;
	mutex_unlock(&ts_lock);
	return err;
}

int ts_dealloc_mw(struct ib_mw *ib)
{
	mutex_lock(&ts_lock);
	xa_erase(&ts_mrs, ib->rkey >> 8);
	mutex_unlock(&ts_lock);
	return 0;
}

/* Carries out a request to bind a window. */
enum ib_wc_status ts_bind(struct ts_qp *qp, const struct ts_send *s)
{
	const int writes = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	struct ts_mr *view = find(s->rkey, qp->ib.pd);
	struct ts_mr *mr = find(s->lkey, qp->ib.pd);

	if (!view || !view->window || view->of)	/* a bound one has to be invalidated */
		return IB_WC_MW_BIND_ERR;
	if (!mr || mr->window || !(mr->access & IB_ACCESS_MW_BIND) ||
	    !contains(mr, s->addr, s->len) ||
	    ((s->access & writes) && !(mr->access & IB_ACCESS_LOCAL_WRITE)))
		return IB_WC_MW_BIND_ERR;
	view->of = mr;
	view->qpn = qp->ib.qp_num;
	view->iova = s->addr;
	view->len = s->len;
	view->access = s->access;
	view->mem.p = mr->mem.p + (s->addr - mr->iova);
	view->ib.lkey = (s->rkey & ~0xff) | s->new_key;
	return IB_WC_SUCCESS;
}

/* Ends the access through a window that is bound to a queue pair. */
enum ib_wc_status ts_invalidate(u32 key, u32 qpn, struct ib_pd *pd)
{
	struct ts_mr *view = find(key, pd);

	if (!view || !view->window || !view->of || view->qpn != qpn)
		return IB_WC_MW_BIND_ERR;
	view->of = NULL;
	return IB_WC_SUCCESS;
}
