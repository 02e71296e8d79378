// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Address handles of drivers whose requests have a handle's number. */
#include "engine.h"

static DEFINE_XARRAY_ALLOC(ahs);
static u32 next_ah;

struct ts_ah *ts_find_ah(u32 id)
{
	return xa_load(&ahs, id);
}

/* Takes the path, which has to have a GID, and gives the handle a number. */
int ts_init_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(init->ah_attr);
	struct ts_ah *ah = container_of(ib, struct ts_ah, ib);
	int err;

	if (!(rdma_ah_get_ah_flags(init->ah_attr) & IB_AH_GRH))
		return -EINVAL;
	ah->dgid = grh->dgid;
	ah->sgid_index = grh->sgid_index;
	ah->tclass = grh->traffic_class;
	ah->hop = grh->hop_limit;
	ah->flow = grh->flow_label;
	mutex_lock(&ts_lock);
	err = ts_give_id(&ahs, &ah->id, ah, 1, 0xfffe, &next_ah);
	mutex_unlock(&ts_lock);
	return err;
}

/* Sets the destination of a datagram. */
void ts_send_to(struct ts_send *s, struct ts_ah *ah)
{
	s->grh = true;
	s->sgid_index = ah->sgid_index;
	s->tclass = ah->tclass;
	s->flow = ah->flow;
	s->hop = ah->hop;
	s->dgid = ah->dgid.raw;
}

int ts_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	return -EOPNOTSUPP;
}

int ts_destroy_ah(struct ib_ah *ib, u32 flags)
{
	struct ts_ah *ah = container_of(ib, struct ts_ah, ib);

	mutex_lock(&ts_lock);
	if (ah->id)
		xa_erase(&ahs, ah->id);
	mutex_unlock(&ts_lock);
	return 0;
}
