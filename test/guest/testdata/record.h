/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For programs that record work requests and rings: lines of NAME=VALUE, which package
 * verbs/internal/ringtest reads.
 */
#include <infiniband/verbs.h>
#include <stdint.h>

#include "check.h"

static inline void hex(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", ((const uint8_t *)p)[i]);
}

static inline void print_sges(const struct ibv_sge *s, int n)
{
	for (int i = 0; i < n; i++)
		printf(" sge=%lu,%u,%u", s[i].addr, s[i].length, s[i].lkey);
}

/* Without the zeros at the end. */
static inline void print_ring(const char *name, const uint8_t *ring, size_t n)
{
	while (n && !ring[n - 1])
		n--;
	printf("%s=", name);
	hex(ring, n);
}

/* Waits for a number of completions, which must succeed. */
static inline void wait_for(struct ibv_cq *cq, int completions)
{
	struct ibv_wc wc;

	while (completions) {
		int n = ibv_poll_cq(cq, 1, &wc);

		CHECK(n >= 0);
		if (n && wc.status) {
			fprintf(stderr, "status %d, vendor error %#x\n", wc.status, wc.vendor_err);
			exit(1);
		}
		completions -= n;
	}
}
