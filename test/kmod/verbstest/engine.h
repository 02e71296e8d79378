/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The engine of a device for tests: queue pairs, memory and the movement of data.
 * It knows no layout of queues: struct ts_abi does, which reads requests from the
 * memory of user space and writes completions to it.
 */
#ifndef VERBSTEST_ENGINE_H
#define VERBSTEST_ENGINE_H

#include <linux/completion.h>
#include <linux/iosys-map.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/version.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/* Linux 6.12 passes all attributes where Linux 6.1 passes those of the driver. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define ts_attrs	ib_udata
#define ts_udata(attrs)	(attrs)
#else
#define ts_attrs	uverbs_attr_bundle
#define ts_udata(attrs)	((attrs) ? &(attrs)->driver_udata : NULL)
#endif

#define TS_LID		7	/* of the first device */
#define TS_MAX_SEGS	66
#define TS_GRH_LEN	40
#define TS_MAX_DEVICES	2

/* User memory, pinned and mapped, or a dma-buf. */
struct ts_mem {
	struct ib_umem *umem;
	void *map;
	struct dma_buf *dmabuf;
	struct iosys_map view;
	void *p;
	u32 area;			/* efa: memory of the kernel that the process maps, or 0 */
};

struct ts_dev {
	struct ib_device ib;
	struct net_device *ndev;	/* the port is RoCE; NULL: InfiniBand */
	u16 lid;
	struct ts_qp *gsi;		/* queue pair 1, or NULL */
};

struct ts_ucontext {
	struct ib_ucontext ib;
};

struct ts_pd {
	struct ib_pd ib;
	u32 pdn;
};

struct ts_ah {
	struct ib_ah ib;
	union ib_gid sgid, dgid;	/* of the kernel's datagrams */
	u32 id;				/* the number in requests, and the path (ah.c) */
	u32 flow;
	u8 sgid_index, tclass, hop;
};

struct ts_xrcd {
	struct ib_xrcd ib;
};

struct ts_mr {
	struct ib_mr ib;
	struct ts_mem mem;
	u64 iova, len;
	int access;
	struct ib_pd *pd;
	bool kernel;			/* no memory of user space */
	struct ts_mr *of;		/* a window: the region that it is bound to, or NULL */
	u32 qpn;			/* of its queue pair */
	bool window;
	u16 queue_type, queue_pages[2];	/* irdma: memory of a queue, or 0 */
};

struct ts_mw {
	struct ib_mw ib;
	struct ts_mr view;
};

struct ts_cq {
	struct ib_cq ib;
	struct ts_mem buf, db_mem;
	__be32 *db;
	u32 cqn, size, cqe_size;
	u32 pi, solicited;		/* indices of the next entry, and after the last solicited one */
	u32 seen, arm_ci;		/* arm word, and the consumer index in it */
	u32 since_ci;			/* first entry that moderation delays */
	ktime_t since;			/* time of it, or 0 */
	u16 moderate_count, moderate_us;
	u64 arms, bells, events;
	bool armed, armed_solicited, overrun;
	void *shadow;			/* irdma: the indices of the process */
	u32 at;				/* irdma: the next entry, with sizes that are no powers of 2 */
	bool odd;			/* irdma: round of it */
	u32 parts[2];			/* efa: the next entry of each part */
	u8 held[32];			/* efa: an entry that changes places with the next one */
	bool holds;
	u32 ci;				/* bnxt: the entry that the doorbell has freed last */
	bool epoch;			/* bnxt: round of ci */
	u32 *toggle;			/* bnxt: a page with the number of events, or NULL */
	u32 cuts;			/* bnxt: number of changes of its size */
	u32 cut, cut_end;		/* bnxt: the former ring's size and end until the doorbell, or 0 */
	bool kernel;			/* of queue pair 1 */
	struct list_head done;		/* its completions */
};

struct ts_srq {
	struct ib_srq ib;
	struct ts_mem buf, db_mem;
	__be32 *db;
	u32 srqn, uidx, size, shift, head, max_wr, max_sge, limit;
	u32 tail;			/* pvrdma: the posted requests when the doorbell rang */
	void *shadow;			/* irdma: the index of the process */
	bool epoch;			/* bnxt: round of the tail */
	u32 unarmed;			/* bnxt: limit that waits for its doorbell */
	u32 *toggle;			/* bnxt: a page with the number of events, or NULL */
	u16 taken;
};

struct ts_conn;

struct ts_qp {
	struct ib_qp ib;
	struct ts_mem buf, db_mem;
	struct ib_xrcd *xrcd;		/* of a target of XRC */
	__be32 *db;
	void *rq, *sq;
	u32 sq_size, rq_size, rq_shift, uidx, uar;
	u16 sq_ci, rq_ci;
	u16 sq_limit, rq_limit;		/* the posted requests when the doorbell rang */
	struct ts_mem rq_mem;		/* pvrdma: the receive queue; buf is the send queue */
	u32 sq_stride;
	u64 context;			/* irdma: in completions */
	u8 phase;			/* efa: of the first round */
	u8 flushed;			/* irdma: the send queue (1), the receive queue (2); bnxt: both */
	struct {			/* bnxt: the next requests, and the ends of the posted ones */
		u32 sq_at, sq_end, rq_at, rq_end;
		bool sq_epoch, rq_epoch;	/* rounds of the ends */
		u16 seen;		/* sq_ci that sq_at follows */
		u32 done;		/* send requests so far, modulo the size of the queue */
		u64 *table;		/* of packet numbers; NULL: datagrams */
		u32 psn, next_psn, message, messages;	/* the table has this many messages, or 0 */
	} bx;
	bool sig_all;
	struct ib_qp_attr attr;
	struct ib_qp_cap cap;
	u16 dlid;
	ktime_t since;			/* the current request waits for its peer, or 0 */
	ktime_t due;			/* with a delay: when the current request starts, or 0 */
	u64 wqes, bells, stalls;
	struct list_head receives;	/* of queue pair 1 */
	struct ts_conn *conn;		/* iWARP: the connection, or NULL */
	bool waits;			/* iWARP: sends no more before the peer has */
	refcount_t refs;		/* iWARP */
	struct completion unused;
};

/* A list of pieces of memory. Only the thread has any, so they are not on its stack. */
struct ts_seg {
	u8 *p;
	u32 len;
};

struct ts_list {
	struct ts_seg seg[TS_MAX_SEGS];
	unsigned int n;
	u64 len;
};

/* A send request, read from the queue. */
struct ts_send {
	enum ib_wr_opcode op;		/* or TS_NOP */
	bool signaled, solicited;
	bool own;			/* of the driver, on iWARP */
	__be32 imm;			/* or the key to invalidate */
	u64 addr;			/* of the peer's memory, or of an atomic */
	u32 rkey;
	u64 swap_add, compare;
	u64 len;			/* of a window */
	u32 lkey, new_key;		/* of its region, and the one after the request */
	int access;
	u32 srqn;			/* of XRC */
	u32 dqpn, qkey;			/* of a datagram; bit 31 of the key: that of the queue pair */
	bool grh;
	u8 sgid_index, tclass, hop, *dgid;
	u32 flow;
	u16 dlid;
	u64 counter;			/* index or ID for its completion */
	unsigned int blocks;		/* size in the queue */
	u8 raw_op;			/* opcode of the ABI */
};

#define TS_NOP		((enum ib_wr_opcode)0xffff)
#define TS_REPLY	((enum ib_wr_opcode)0xfffe)	/* iWARP: a server's reply to the request */
#define TS_RTS		((enum ib_wr_opcode)0xfffd)	/* iWARP: the connection is complete */

/* Results of a request beside those of enum ib_wc_status. */
enum {
	TS_WAIT_RNR = -1,		/* no receive is posted: try again */
	TS_WAIT_PEER = -2,		/* nobody answers: try again */
};

/* A completion. */
struct ts_completion {
	struct ts_qp *qp;
	u32 uidx;			/* of the queue pair, or of the SRQ of XRC */
	bool recv;
	enum ib_wr_opcode op;		/* of a receive: of the peer's request */
	u8 raw_op;
	u64 counter;
	u32 len;
	__be32 imm;
	bool grh, solicited;
	u32 src_qp;
	u16 slid;
	enum ib_wc_status status;
	u8 forced_syndrome, forced_vendor; /* injected, or 0 */
};

/* A driver: its commands, and the layout of its queues. */
struct ts_abi {
	const char *name;		/* of devices, with a number */
	u8 node_type;			/* 0: IB_CA or RNIC */
	const struct ib_device_ops *ops;
	const struct uapi_definition *definitions;
	void (*query_device)(struct ib_device_attr *a);
	int (*reply_device)(struct ib_udata *udata);

	/* Commands: init maps the memory of an object, reply writes the response. */
	int (*reply_pd)(struct ts_pd *pd, struct ib_udata *udata);
	int (*init_cq)(struct ts_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata);
	int (*reply_cq)(struct ts_cq *cq, struct ib_udata *udata);
	int (*resize_cq)(struct ts_cq *cq, u32 size, struct ib_udata *udata);
	int (*init_srq)(struct ts_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
	int (*reply_srq)(struct ts_srq *srq, struct ib_udata *udata);
	int (*init_qp)(struct ts_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
	int (*reply_qp)(struct ts_qp *qp, struct ib_udata *udata);

	/*
	 * iWARP: writes the driver's own requests for a connection. False: none of them is
	 * TS_RTS.
	 */
	bool (*start_stream)(struct ts_qp *qp, bool server);

	/* The functions from here on are called by the thread only. */

	/* Reads the next send request. False: none that can start. */
	bool (*next_send)(struct ts_qp *qp, struct ts_send *s, struct ts_list *local,
			  enum ib_wc_status *status);
	/* Reports whether a receive request is posted. */
	bool (*receive_waits)(struct ts_qp *qp);
	bool (*srq_waits)(struct ts_srq *srq);
	/* Removes the next receive request. */
	enum ib_wc_status (*take_receive)(struct ts_qp *qp, struct ts_list *to,
					  u64 *index);
	enum ib_wc_status (*take_srq)(struct ts_srq *srq, struct ts_list *to,
				      u64 *index);
	/* The number of posted receive requests. */
	unsigned int (*srq_left)(struct ts_srq *srq);
	/* False: the queue is full, or was. */
	bool (*complete)(struct ts_cq *cq, const struct ts_completion *c);
	/* Looks at the request for an event. */
	void (*check_arm)(struct ts_cq *cq);
	/* Takes the doorbells that have rung. NULL: bell did. */
	bool (*hear_bells)(void);

	/*
	 * Takes a store of 4 or 8 bytes to a page that ts_trap has mapped, in the process that
	 * stores. The offset is that in the device file.
	 */
	void (*bell)(u64 offset, u64 value, unsigned int size);
};

extern const struct ts_abi ts_bnxt, ts_efa, ts_irdma, ts_mlx5, ts_pvrdma;
extern const struct ts_abi *ts_abi;	/* that of all devices */

extern int ts_strict;
extern bool ts_cm, ts_counters, ts_iwarp, ts_removed;
bool ts_needs_grh(const struct ts_dev *dev);
extern struct mutex ts_lock;
extern struct xarray ts_qps, ts_cqs, ts_srqs, ts_mrs;
extern unsigned int ts_queues;
extern wait_queue_head_t ts_idle;

#define TS_TO(name) \
	static inline struct ts_##name *to_ts_##name(struct ib_##name *ib) \
	{ return container_of(ib, struct ts_##name, ib); }
TS_TO(pd)
TS_TO(mr)
TS_TO(cq)
TS_TO(srq)
TS_TO(qp)

static inline struct ts_dev *to_ts_dev(struct ib_device *ib)
{
	return container_of(ib, struct ts_dev, ib);
}

static inline bool ts_is_xrc(const struct ts_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_XRC_INI || qp->ib.qp_type == IB_QPT_XRC_TGT;
}

/* A transport with acknowledgements. */
static inline bool ts_is_reliable(const struct ts_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_RC || ts_is_xrc(qp);
}

/* Datagrams with acknowledgements, of efa. */
static inline bool ts_is_srd(const struct ts_qp *qp)
{
	return qp->ib.qp_type == IB_QPT_DRIVER;
}

/* Counts and logs a violation of the ABI by user space. */
void ts_violation(const char *fmt, ...) __printf(1, 2);
#define ts_expect(ok, fmt, ...) \
	({ bool __ok = (ok); if (!__ok) ts_violation(fmt, ##__VA_ARGS__); __ok; })

int ts_give_id(struct xarray *xa, u32 *id, void *entry, u32 min, u32 max, u32 *next);
void ts_event_qp(struct ts_qp *qp, enum ib_event_type type);
void ts_event_cq(struct ts_cq *cq, enum ib_event_type type);
int ts_engine(void *unused);
void ts_arm(struct ts_cq *cq, bool solicited);
void ts_check_arm(struct ts_cq *cq);

void ts_unmap(struct ts_mem *m);
int ts_map(struct ib_device *dev, struct ts_mem *m, u64 addr, u64 len, int access);
void *ts_region(u32 key, u64 addr, u32 len, struct ib_pd *pd, int access);
void *ts_remote_region(u32 key, u64 addr, u32 len, struct ib_pd *pd, int access, u32 qpn);
void ts_add_seg(struct ts_list *l, void *p, u32 len);
void ts_clear(struct ts_list *l);
void ts_move(struct ts_list *to, struct ts_list *from, u64 len);
struct ib_mr *ts_reg_user_mr(struct ib_pd *pd, u64 start, u64 len, u64 iova, int access,
			     struct ib_udata *udata);
struct ib_mr *ts_reg_user_mr_dmabuf(struct ib_pd *pd, u64 offset, u64 len, u64 iova, int fd,
				    int access, struct ts_attrs *attrs);
int ts_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);
int ts_alloc_mw(struct ib_mw *ib, struct ib_udata *udata);
int ts_dealloc_mw(struct ib_mw *ib);
enum ib_wc_status ts_bind(struct ts_qp *qp, const struct ts_send *s);
enum ib_wc_status ts_invalidate(u32 key, u32 qpn, struct ib_pd *pd);

/* objects.c */
extern const struct ib_device_ops ts_object_ops;
int ts_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);

/* ah.c */
struct ts_ah *ts_find_ah(u32 id);
int ts_init_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init);
void ts_send_to(struct ts_send *s, struct ts_ah *ah);
int ts_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int ts_destroy_ah(struct ib_ah *ib, u32 flags);

/* gsi.c: queue pair 1 */
void ts_gsi_init_cq(struct ts_cq *cq);
void ts_gsi_free_cq(struct ts_cq *cq);
int ts_gsi_create_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr);
void ts_gsi_drain(struct ts_qp *qp, bool complete);
void ts_gsi_destroy_qp(struct ts_qp *qp);
extern const struct ib_device_ops ts_gsi_ops, ts_stat_ops;

/* iwarp.c: connections */
extern const struct ib_device_ops ts_iw_ops;
void ts_iw_close(struct ts_qp *qp, bool terminate);
void ts_iw_destroy_qp(struct ts_qp *qp);
void ts_iw_established(struct ts_qp *qp);
void ts_iw_run(void);
void ts_iw_init_qp(struct ts_qp *qp);
int ts_iw_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask);
void ts_iw_reply(struct ts_qp *server);

/* mlx5.c: create commands of the ABI. They map the memory of the object. */
int mlx5_init_cq(struct ts_cq *cq, const struct ib_cq_init_attr *attr, struct ib_udata *udata);
int mlx5_reply_cq(struct ts_cq *cq, struct ib_udata *udata);
int mlx5_resize_cq(struct ts_cq *cq, u32 size, struct ib_udata *udata);
int mlx5_init_srq(struct ts_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int mlx5_reply_srq(struct ts_srq *srq, struct ib_udata *udata);
int mlx5_init_qp(struct ts_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int mlx5_reply_qp(struct ts_qp *qp, struct ib_udata *udata);
int mlx5_reply_pd(struct ts_pd *pd, struct ib_udata *udata);
int mlx5_reply_device(struct ib_udata *udata);
extern const struct ib_device_ops mlx5_ops;
extern const struct uapi_definition mlx5_definitions[];

/* mlx5_queue.c */
void mlx5_put_mark(struct ts_cq *cq);
u32 mlx5_filled(struct ts_cq *cq);

/* mlx5_uar.c */
bool mlx5_uar_exists(u32 id);
bool mlx5_hear_bells(void);
int mlx5_mmap(struct ib_ucontext *uc, struct vm_area_struct *vma);
void mlx5_mmap_free(struct rdma_user_mmap_entry *entry);

/* efa.c */
void efa_free_area(u32 id);

/* trap.c: maps doorbell pages, where each store calls ts_abi->bell. x86-64 only. */
int ts_trap(struct vm_area_struct *vma);
int ts_ignore_bells(struct vm_area_struct *vma);

#endif
