// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * An RDMA device for tests that has a driver's user ABI and plays the adapter in
 * software: user space (libmlx5, or another provider of the driver) builds work requests
 * in its own memory and rings doorbells in mapped pages; a kernel thread reads them, moves the data between the memory regions of queue pairs of these devices
 * and writes completions.
 *
 * Everything is under one mutex. The thread holds it for a pass over all objects, the
 * verbs hold it to add and to remove objects.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <rdma/ib_mad.h>
#include "engine.h"

int ts_strict = 1;
module_param_named(strict, ts_strict, int, 0644);
MODULE_PARM_DESC(strict,
		 "0: run what the doorbell records have; 1: start requests only when their doorbell has rung, as an adapter does, and count violations of the ABI; 2: count also reserved bytes that libmlx5 does not clear");

const struct ts_abi *ts_abi = &ts_mlx5;

static int set_abi(const char *s, const struct kernel_param *kp)
{
	if (sysfs_streq(s, "pvrdma"))
		ts_abi = &ts_pvrdma;
	else if (sysfs_streq(s, "efa"))
		ts_abi = &ts_efa;
	else if (sysfs_streq(s, "irdma"))
		ts_abi = &ts_irdma;
	else if (sysfs_streq(s, "bnxt"))
		ts_abi = &ts_bnxt;
	else if (!sysfs_streq(s, "mlx5"))
		return -EINVAL;
	return 0;
}

static const struct kernel_param_ops abi_ops = { .set = set_abi };
module_param_cb(abi, &abi_ops, NULL, 0);
MODULE_PARM_DESC(abi, "the user ABI: mlx5, efa, or bnxt, irdma or pvrdma, which need netdev");

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of devices, 1 or 2, which are connected to each other");

static char *netdev[TS_MAX_DEVICES];
static unsigned int netdevs;
module_param_array(netdev, charp, &netdevs, 0444);
MODULE_PARM_DESC(netdev, "names of network devices: the ports are RoCE then, else InfiniBand");

bool ts_cm;
module_param_named(cm, ts_cm, bool, 0444);
MODULE_PARM_DESC(cm, "RoCE ports have a queue pair 1, for the connection manager");

static struct ts_dev *all[TS_MAX_DEVICES];
static struct task_struct *thread;

static int query_device(struct ib_device *ib, struct ib_device_attr *a, struct ib_udata *udata)
{
	memset(a, 0, sizeof(*a));
	a->fw_ver = 20ULL << 32 | 38ULL << 16 | 1002;
	a->sys_image_guid = ib->node_guid;
	a->vendor_id = 0x02c9;
	a->vendor_part_id = 4123;	/* ConnectX-6 */
	a->max_mr_size = ~0ULL;
	a->page_size_cap = 0xfffff000;
	a->max_qp = 1 << 18;
	a->max_qp_wr = 32768;
	a->device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_XRC;
	if (ib->ops.alloc_mw) {
		a->max_mw = 1 << 24;
		a->device_cap_flags |= IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B;
	}
	a->max_send_sge = 30;
	a->max_recv_sge = 32;
	a->max_sge_rd = 30;
	a->max_cq = 1 << 24;
	a->max_cqe = (1 << 22) - 1;
	a->max_mr = 1 << 24;
	a->max_pd = 1 << 24;
	a->max_qp_rd_atom = 16;
	a->max_qp_init_rd_atom = 16;
	a->max_res_rd_atom = 16 << 18;
	a->atomic_cap = IB_ATOMIC_HCA;
	a->max_ah = INT_MAX;
	a->max_srq = 1 << 23;
	a->max_srq_wr = 32767;
	a->max_srq_sge = 31;
	a->max_pkeys = 128;
	a->timestamp_mask = ~0ULL;
	a->hca_core_clock = 1000000;	/* kHz: timestamps are nanoseconds */
	a->cq_caps.max_cq_moderation_count = U16_MAX;
	a->cq_caps.max_cq_moderation_period = U16_MAX;
	if (ts_abi->query_device)
		ts_abi->query_device(a);
	return ts_abi->reply_device ? ts_abi->reply_device(udata) : 0;
}

static uint grh;
module_param(grh, uint, 0444);
MODULE_PARM_DESC(grh, "the devices, one bit each, whose packets on InfiniBand need a GRH, as those of virtual functions may");

bool ts_needs_grh(const struct ts_dev *dev)
{
	return !dev->ndev && grh >> (dev->lid - TS_LID) & 1;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *a)
{
	struct ts_dev *dev = to_ts_dev(ib);

	a->state = IB_PORT_ACTIVE;
	a->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	a->max_mtu = IB_MTU_4096;
	a->active_mtu = dev->ndev ? IB_MTU_1024 : IB_MTU_4096;
	a->gid_tbl_len = dev->ndev && !ts_iwarp ? 16 : 1;
	a->ip_gids = dev->ndev && !ts_iwarp;
	a->pkey_tbl_len = 1;
	a->max_msg_sz = 1 << 30;
	a->max_vl_num = 1;
	a->active_width = IB_WIDTH_4X;
	a->active_speed = IB_SPEED_HDR;
	if (!dev->ndev) {
		a->lid = dev->lid;
		a->sm_lid = 1;
	}
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	if (ts_iwarp) {	/* a MAC address */
		memset(gid, 0, sizeof(*gid));
		memcpy(gid->raw, to_ts_dev(ib)->ndev->dev_addr, ETH_ALEN);
		return 0;
	}
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid->global.interface_id = ib->node_guid;
	return 0;
}

static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *i)
{
	struct ts_dev *dev = to_ts_dev(ib);

	i->gid_tbl_len = dev->ndev ? 16 : 1;
	i->pkey_tbl_len = 1;
	i->core_cap_flags = RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_AF_IB;
	if (ts_needs_grh(dev))
		i->core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	if (dev->ndev)
		i->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP | RDMA_CORE_CAP_ETH_AH;
	if (ts_iwarp) {
		i->gid_tbl_len = 1;
		i->core_cap_flags = RDMA_CORE_PORT_IWARP;
	} else if (dev->ndev && ts_cm) {
		i->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
		i->max_mad_size = IB_MGMT_MAD_SIZE;
	}
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return to_ts_dev(ib)->ndev ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

static void get_fw(struct ib_device *ib, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "20.38.1002");
}

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.get_dev_fw_str = get_fw,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.query_device = query_device,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_port = query_port,
};

static const struct ib_device_ops roce_ops = { .add_gid = add_gid, .del_gid = del_gid };

static int add_device(unsigned int n)
{
	struct ts_dev *dev = ib_alloc_device(ts_dev, ib);
	int err = 0;

	if (!dev)
		return -ENOMEM;
	dev->ib.node_type = ts_abi->node_type ?: ts_iwarp ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	dev->ib.phys_port_cnt = 1;
	dev->ib.num_comp_vectors = 1;
	dev->ib.node_guid = cpu_to_be64(0x0214050000000100ULL + n);
	dev->ib.driver_def = ts_abi->definitions;
	dev->lid = TS_LID + n;
	strscpy(dev->ib.node_desc, "verbstest", sizeof(dev->ib.node_desc));
	/* The connection manager needs a device with all verbs of the kernel. */
	if ((ts_cm || ts_iwarp) && n < netdevs)	/* first: later operations do not replace them */
		ib_set_device_ops(&dev->ib, &ts_gsi_ops);
	if (ts_counters)
		ib_set_device_ops(&dev->ib, &ts_stat_ops);
	ib_set_device_ops(&dev->ib, ts_abi->ops);
	ib_set_device_ops(&dev->ib, &device_ops);
	ib_set_device_ops(&dev->ib, &ts_object_ops);
	if (n < netdevs) {
		ib_set_device_ops(&dev->ib, ts_iwarp ? &ts_iw_ops : &roce_ops);
		dev->lid = 0;
		strscpy(dev->ib.iw_ifname, netdev[n], sizeof(dev->ib.iw_ifname));
		dev->ndev = dev_get_by_name(&init_net, netdev[n]);
		err = dev->ndev ? ib_device_set_netdev(&dev->ib, dev->ndev, 1) : -ENODEV;
	}
	if (!err)
		err = ib_register_device(&dev->ib, ts_abi->name, NULL);
	if (!err) {
		all[n] = dev;
		return 0;
	}
	if (dev->ndev)
		dev_put(dev->ndev);
	ib_dealloc_device(&dev->ib);
	return err;
}

static void remove_devices(void)
{
	unsigned int i;

	for (i = 0; i < TS_MAX_DEVICES; i++) {
		struct ts_dev *dev = all[i];
		struct net_device *ndev;

		if (!dev)
			continue;
		all[i] = NULL;
		ndev = dev->ndev;
		ib_unregister_device(&dev->ib);
		ib_dealloc_device(&dev->ib);
		if (ndev)
			dev_put(ndev);
	}
}

bool ts_removed;

static int set_remove(const char *s, const struct kernel_param *kp)
{
	WRITE_ONCE(ts_removed, true);
	remove_devices();
	return 0;
}

/* Mappings of doorbells that trap keep the module, so that it cannot be unloaded. */
static const struct kernel_param_ops remove_ops = { .set = set_remove };
module_param_cb(remove, &remove_ops, NULL, 0200);
MODULE_PARM_DESC(remove, "a write removes the devices, also while processes use them");

static int __init start(void)
{
	unsigned int i;
	int err = 0;

	if (!devices || devices > TS_MAX_DEVICES)
		return -EINVAL;
	if (ts_iwarp && (!ts_abi->start_stream || devices != 1 || netdevs != 1))
		return -EINVAL;
	thread = kthread_run(ts_engine, NULL, "verbstest");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	for (i = 0; i < devices && !err; i++)
		err = add_device(i);
	if (err) {
		remove_devices();
		kthread_stop(thread);
	}
	return err;
}

static void __exit stop(void)
{
	remove_devices();
	kthread_stop(thread);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("RDMA device for tests with the user ABI of another driver");
MODULE_LICENSE("Dual MIT/GPL");
