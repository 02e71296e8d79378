// SPDX-License-Identifier: GPL-2.0
/*
 * A network device dcb0 that drops all packets, with the data center bridging settings and
 * the statistics of an adapter for RoCE. Settings can be changed with the program dcb; the
 * statistics are a module parameter.
 */
#include <linux/dcbnl.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>

static const char names[][ETH_GSTRING_LEN] = {
	"rx_packets_phy", "tx_packets_phy", "rx_prio3_pause", "tx_prio3_pause",
	"rx_prio3_pause_duration", "tx_prio3_pause_duration", "rx_prio3_discards",
	"rx_prio3_bytes",
};

static unsigned long stats[ARRAY_SIZE(names)] = { 1000, 2000, 3, 4, 50, 60, 7, 80 };
module_param_array(stats, ulong, NULL, 0644);
MODULE_PARM_DESC(stats, "values of the statistics");

struct settings {
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct dcbnl_buffer buffer;
	u8 dcbx;
};

static int getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct settings *s = netdev_priv(dev);

	*ets = s->ets;
	return 0;
}

static int setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct settings *s = netdev_priv(dev);

	s->ets = *ets;
	s->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	return 0;
}

static int getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct settings *s = netdev_priv(dev);

	*pfc = s->pfc;
	return 0;
}

static int setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct settings *s = netdev_priv(dev);

	s->pfc.pfc_en = pfc->pfc_en;
	return 0;
}

static int peerpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	pfc->pfc_en = 1 << 3;
	return 0;
}

static int getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct settings *s = netdev_priv(dev);

	*buffer = s->buffer;
	return 0;
}

static int setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct settings *s = netdev_priv(dev);
	u32 total = s->buffer.total_size;

	s->buffer = *buffer;
	s->buffer.total_size = total;
	return 0;
}

static u8 getdcbx(struct net_device *dev)
{
	struct settings *s = netdev_priv(dev);

	return s->dcbx;
}

static const struct dcbnl_rtnl_ops dcbnl = {
	.ieee_getets = getets, .ieee_setets = setets, .ieee_getpfc = getpfc, .ieee_setpfc = setpfc,
	.ieee_peer_getpfc = peerpfc, .dcbnl_getbuffer = getbuffer, .dcbnl_setbuffer = setbuffer,
	.getdcbx = getdcbx,
};

static int count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? ARRAY_SIZE(names) : -EOPNOTSUPP;
}

static void strings(struct net_device *dev, u32 set, u8 *data)
{
	if (set == ETH_SS_STATS)
		memcpy(data, names, sizeof(names));
}

static void values(struct net_device *dev, struct ethtool_stats *unused, u64 *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		data[i] = stats[i];
}

static void pause(struct net_device *dev, struct ethtool_pauseparam *p)
{
	p->rx_pause = 1;
}

static const struct ethtool_ops ethtool = {
	.get_sset_count = count, .get_strings = strings, .get_ethtool_stats = values,
	.get_pauseparam = pause,
};

static netdev_tx_t drop(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev = { .ndo_start_xmit = drop };

static struct net_device *dev;

static int __init start(void)
{
	struct settings *s;
	int err;

	dev = alloc_netdev(sizeof(*s), "dcb0", NET_NAME_PREDICTABLE, ether_setup);
	if (!dev)
		return -ENOMEM;
	eth_hw_addr_random(dev);
	dev->netdev_ops = &netdev;
	dev->ethtool_ops = &ethtool;
	dev->dcbnl_ops = &dcbnl;
	s = netdev_priv(dev);
	s->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	s->pfc.pfc_cap = IEEE_8021QAZ_MAX_TCS;
	s->pfc.requests[3] = 11;
	s->pfc.indications[3] = 12;
	s->buffer.buffer_size[0] = 128 << 10;
	s->buffer.total_size = 256 << 10;
	s->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
	err = register_netdev(dev);
	if (err)
		free_netdev(dev);
	return err;
}

static void __exit stop(void)
{
	unregister_netdev(dev);
	free_netdev(dev);
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Network device with data center bridging and statistics, for tests");
