/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* For programs that violate the ABI on purpose: the module's count and description. */
#include "check.h"

#define PARAMETERS	"/sys/module/verbstest/parameters/"

static inline unsigned long violations(void)
{
	FILE *f = CHECK(fopen(PARAMETERS "violations", "r"));
	unsigned long n;

	CHECK(fscanf(f, "%lu", &n) == 1);
	fclose(f);
	return n;
}

/* Makes the module describe the next violation. */
static inline void clear_violation(void)
{
	FILE *f = CHECK(fopen(PARAMETERS "violation", "w"));

	fputs("\n", f);
	ZERO(fclose(f));
}
