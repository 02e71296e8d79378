/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What goes through the character devices of the module ibtest. Each read gives
 * one struct ibtest_record, each write takes one. Numbers have the host's byte
 * order where nothing else is said.
 */
#ifndef IBTEST_H
#define IBTEST_H

#include <linux/types.h>

enum ibtest_kind {
	/* From the kernel. */
	IBTEST_SENT	= 1,	/* mad: a datagram that leaves the port */
	IBTEST_QUERY	= 2,	/* mad: a request to the port's own agents; wants an ANSWER */
	IBTEST_CAPS	= 3,	/* caps: what the host has changed of the capability mask */

	/* To the kernel. */
	IBTEST_ARRIVED	= 16,	/* mad: a datagram that comes in at the port */
	IBTEST_ANSWER	= 17,	/* mad: the reply to the QUERY of the same cookie */
	IBTEST_DECLINE	= 18,	/* nothing: the QUERY of the same cookie is for programs */
	IBTEST_PORT	= 19,	/* attr: what the port is like from now on */
	IBTEST_NODE	= 20,	/* node: what the device is like from now on */
};

#define IBTEST_PERMISSIVE 0xffff	/* the LID of directed-route datagrams */
#define IBTEST_GIDS	8	/* entries of a port's GID table */
#define IBTEST_PKEYS	32	/* entries of a port's P_Key table */

/* A datagram with what the headers in front of it say. */
struct ibtest_mad {
	__u32 dest_qp;		/* 0 or 1 */
	__u32 src_qp;
	__u32 qkey;
	__u16 slid;		/* with the path bits in it */
	__u16 dlid;
	__u16 pkey_index;
	__u8 sl;
	__u8 has_grh;
	__u8 grh[40];		/* as on the wire */
	__u8 data[256];		/* as on the wire */
	__u32 reserved;
};

/* Fields of struct ib_port_attr, in its units. */
struct ibtest_port {
	__be64 gid_prefix;
	__be64 guids[IBTEST_GIDS];	/* 0: no entry */
	__u16 pkeys[IBTEST_PKEYS];
	__u32 cap_mask;			/* without what the host added */
	__u16 cap_mask2;
	__u16 lid;
	__u16 sm_lid;
	__u16 active_speed;		/* enum ib_port_speed */
	__u8 active_width;		/* enum ib_port_width */
	__u8 state;
	__u8 phys_state;
	__u8 lmc;
	__u8 sm_sl;
	__u8 max_mtu;			/* enum ib_mtu */
	__u8 active_mtu;
	__u8 max_vl_num;
	__u8 subnet_timeout;
	__u8 reregister;		/* the subnet manager wants clients to register again */
	__u8 reserved[10];
};

struct ibtest_node {
	__be64 node_guid;
	__be64 sys_image_guid;
	__u32 vendor_id;
	__u32 part_id;
	__u32 hw_ver;
	__u32 reserved;
	char description[64];		/* not always terminated */
};

struct ibtest_caps {
	__u32 added;			/* bits that the host has set and not cleared */
	__u32 reserved;
};

struct ibtest_record {
	__u32 kind;		/* enum ibtest_kind */
	__u32 port;		/* from 1; 0 for NODE */
	__u64 cookie;		/* of QUERY, ANSWER and DECLINE */
	union {
		struct ibtest_mad mad;
		struct ibtest_port attr;
		struct ibtest_node node;
		struct ibtest_caps caps;
	};
};

#endif
