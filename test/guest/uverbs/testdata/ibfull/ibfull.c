// SPDX-License-Identifier: GPL-2.0
/*
 * An RDMA device that does nothing but tell what it can do: each capability that
 * Soft-RoCE has not. Unlike Soft-RoCE it can be removed while it is open.
 */
#include <linux/file.h>
#include <linux/module.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

struct full_device { struct ib_device ib; };
struct full_ucontext { struct ib_ucontext ib; };
struct full_pd { struct ib_pd ib; };
struct full_cq { struct ib_cq ib; };
struct full_qp { struct ib_qp ib; };
struct full_ah { struct ib_ah ib; };
struct full_mr { struct ib_mr ib; struct file *file; };

static int full_query_device(struct ib_device *d, struct ib_device_attr *a, struct ib_udata *u)
{
	memset(a, 0, sizeof(*a));
	a->fw_ver = 1ULL << 32 | 2 << 16 | 3;
	a->sys_image_guid = cpu_to_be64(0x0002c90300001235ULL);
	a->vendor_id = 0x1405;
	a->max_qp = 16;
	a->max_qp_wr = 1024;
	a->max_send_sge = 4;
	a->max_recv_sge = 4;
	a->max_cq = 16;
	a->max_cqe = 1024;
	a->max_pd = 16;
	a->max_pkeys = 1;
	a->device_cap_flags = IB_DEVICE_PORT_ACTIVE_EVENT | IB_DEVICE_PCI_WRITE_END_PADDING;
	a->odp_caps.general_caps = IB_ODP_SUPPORT;
	a->odp_caps.per_transport_caps.rc_odp_caps = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_READ;
	a->odp_caps.per_transport_caps.uc_odp_caps = IB_ODP_SUPPORT_RECV;
	a->odp_caps.per_transport_caps.ud_odp_caps = IB_ODP_SUPPORT_WRITE;
	a->odp_caps.per_transport_caps.xrc_odp_caps = IB_ODP_SUPPORT_SRQ_RECV;
	a->timestamp_mask = 0x7fffffffffffffffULL;
	a->hca_core_clock = 156250;
	a->rss_caps.supported_qpts = 1 << IB_QPT_RAW_PACKET;
	a->rss_caps.max_rwq_indirection_tables = 101;
	a->rss_caps.max_rwq_indirection_table_size = 102;
	a->max_wq_type_rq = 103;
	a->raw_packet_caps = IB_RAW_PACKET_CAP_SCATTER_FCS;
	a->tm_caps.max_rndv_hdr_size = 104;
	a->tm_caps.max_num_tags = 105;
	a->tm_caps.flags = IB_TM_CAP_RNDV_RC;
	a->tm_caps.max_ops = 106;
	a->tm_caps.max_sge = 107;
	a->cq_caps.max_cq_moderation_count = 108;
	a->cq_caps.max_cq_moderation_period = 109;
	a->max_dm_size = 110;
	return 0;
}

static int full_query_port(struct ib_device *d, u32 port, struct ib_port_attr *a)
{
	a->state = IB_PORT_ACTIVE;
	a->max_mtu = IB_MTU_4096;
	a->active_mtu = IB_MTU_2048;
	a->gid_tbl_len = 1;
	a->pkey_tbl_len = 1;
	a->max_msg_sz = 1 << 20;
	a->active_width = IB_WIDTH_4X;
	a->active_speed = IB_SPEED_NDR;
	a->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	a->lid = 7;
	a->sm_lid = 1;
	a->lmc = 2;
	a->max_vl_num = 4;
	a->port_cap_flags2 = 0x1234;
	return 0;
}

static int full_query_pkey(struct ib_device *d, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static int full_query_gid(struct ib_device *d, u32 port, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid->global.interface_id = d->node_guid;
	return 0;
}

static int full_immutable(struct ib_device *d, u32 port, struct ib_port_immutable *i)
{
	i->pkey_tbl_len = 1;
	i->gid_tbl_len = 1;
	i->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	i->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer full_link_layer(struct ib_device *d, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

/* Contexts, which can be taken away. */
static int full_alloc_ucontext(struct ib_ucontext *c, struct ib_udata *u) { return 0; }
static void full_dealloc_ucontext(struct ib_ucontext *c) { }
static void full_disassociate(struct ib_ucontext *c) { }

/* Objects: the core wants all of these, and makes some of its own. */
static int full_alloc_pd(struct ib_pd *p, struct ib_udata *u) { return 0; }
static int full_dealloc_pd(struct ib_pd *p, struct ib_udata *u) { return 0; }
static int full_create_cq(struct ib_cq *c, const struct ib_cq_init_attr *a, struct ib_udata *u)
{
	c->cqe = a->cqe;
	return 0;
}
static int full_destroy_cq(struct ib_cq *c, struct ib_udata *u) { return 0; }
static int full_poll_cq(struct ib_cq *c, int n, struct ib_wc *w) { return 0; }
static int full_notify_cq(struct ib_cq *c, enum ib_cq_notify_flags f) { return 0; }
static int full_create_qp(struct ib_qp *q, struct ib_qp_init_attr *a, struct ib_udata *u)
{
	q->qp_num = a->qp_type == IB_QPT_SMI ? 0 : a->qp_type == IB_QPT_GSI ? 1 : 2;
	return 0;
}
static int full_modify_qp(struct ib_qp *q, struct ib_qp_attr *a, int mask, struct ib_udata *u) { return 0; }
static int full_destroy_qp(struct ib_qp *q, struct ib_udata *u) { return 0; }
static int full_post_send(struct ib_qp *q, const struct ib_send_wr *w, const struct ib_send_wr **bad) { return 0; }
static int full_post_recv(struct ib_qp *q, const struct ib_recv_wr *w, const struct ib_recv_wr **bad) { return 0; }
static struct ib_mr *full_dma_mr(struct ib_pd *p, int access)
{
	struct full_mr *m = kzalloc(sizeof(*m), GFP_KERNEL);

	return m ? &m->ib : ERR_PTR(-ENOMEM);
}
/* Takes any file for a dma-buf, and tells by the keys what it was given. */
static struct ib_mr *full_reg_dmabuf(struct ib_pd *p, u64 offset, u64 len, u64 addr, int fd, int access, struct ib_udata *u)
{
	struct full_mr *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return ERR_PTR(-ENOMEM);
	m->file = fget(fd);
	if (!m->file) {
		kfree(m);
		return ERR_PTR(-EBADF);
	}
	m->ib.lkey = offset >> 12 | len >> 12 << 16;
	m->ib.rkey = addr >> 12 | access << 16;
	return &m->ib;
}
static struct ib_mr *full_reg_mr(struct ib_pd *p, u64 start, u64 len, u64 addr, int access, struct ib_udata *u)
{
	return ERR_PTR(-EOPNOTSUPP);
}
static int full_dereg_mr(struct ib_mr *m, struct ib_udata *u)
{
	struct full_mr *full = container_of(m, struct full_mr, ib);

	if (full->file)
		fput(full->file);
	kfree(full);
	return 0;
}
static int full_create_ah(struct ib_ah *a, struct rdma_ah_init_attr *i, struct ib_udata *u) { return 0; }
static int full_destroy_ah(struct ib_ah *a, u32 flags) { return 0; }

static const struct ib_device_ops full_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,
	.query_device = full_query_device,
	.query_port = full_query_port,
	.query_pkey = full_query_pkey,
	.query_gid = full_query_gid,
	.get_port_immutable = full_immutable,
	.get_link_layer = full_link_layer,
	.alloc_ucontext = full_alloc_ucontext,
	.dealloc_ucontext = full_dealloc_ucontext,
	.disassociate_ucontext = full_disassociate,
	.alloc_pd = full_alloc_pd,
	.dealloc_pd = full_dealloc_pd,
	.create_cq = full_create_cq,
	.destroy_cq = full_destroy_cq,
	.poll_cq = full_poll_cq,
	.req_notify_cq = full_notify_cq,
	.create_qp = full_create_qp,
	.modify_qp = full_modify_qp,
	.destroy_qp = full_destroy_qp,
	.post_send = full_post_send,
	.post_recv = full_post_recv,
	.get_dma_mr = full_dma_mr,
	.reg_user_mr = full_reg_mr,
	.reg_user_mr_dmabuf = full_reg_dmabuf,
	.dereg_mr = full_dereg_mr,
	.create_ah = full_create_ah,
	.destroy_ah = full_destroy_ah,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, full_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, full_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, full_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, full_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_ah, full_ah, ib),
};

static struct full_device *full;

static int __init full_init(void)
{
	int err;

	full = ib_alloc_device(full_device, ib);
	if (!full)
		return -ENOMEM;
	full->ib.node_type = RDMA_NODE_IB_CA;
	full->ib.phys_port_cnt = 1;
	full->ib.num_comp_vectors = 5;
	full->ib.node_guid = cpu_to_be64(0x0002c90300001234ULL);
	strscpy(full->ib.node_desc, "ibfull", sizeof(full->ib.node_desc));
	ib_set_device_ops(&full->ib, &full_ops);
	err = ib_register_device(&full->ib, "ibfull%d", NULL);
	if (err)
		ib_dealloc_device(&full->ib);
	return err;
}

static void __exit full_exit(void)
{
	ib_unregister_device(&full->ib);
	ib_dealloc_device(&full->ib);
}

module_init(full_init);
module_exit(full_exit);
MODULE_LICENSE("GPL");
