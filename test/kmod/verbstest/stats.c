// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Port counters: one that always counts, and optional ones, as mlx5 has for congestion control. */
#include "engine.h"

bool ts_counters;
module_param_named(counters, ts_counters, bool, 0444);
MODULE_PARM_DESC(counters, "ports have counters");

static const struct rdma_stat_desc descs[] = {
	{ .name = "np_cnp_sent" },
	{ .name = "cc_rx_ce_pkts", .flags = IB_STAT_FLAG_OPTIONAL },
	{ .name = "cc_rx_cnp_pkts", .flags = IB_STAT_FLAG_OPTIONAL },
	{ .name = "cc_tx_cnp_pkts", .flags = IB_STAT_FLAG_OPTIONAL },
};

static struct rdma_hw_stats *alloc_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int get_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index)
{
	int i;

	for (i = 0; i < stats->num_counters; i++)
		stats->value[i] = 10 + i;
	return stats->num_counters;
}

static int modify_stat(struct ib_device *ib, u32 port, unsigned int index, bool enable)
{
	return 0;
}

const struct ib_device_ops ts_stat_ops = {
	.alloc_hw_port_stats = alloc_stats,
	.get_hw_stats = get_stats,
	.modify_hw_stat = modify_stat,
};
