/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Calls that end a test program if they fail: CHECK wants a value, ZERO wants 0. */
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x) ({ \
	__auto_type v_ = (x); \
	if (!v_) { \
		perror(#x); \
		exit(1); \
	} \
	v_; })
#define ZERO(x) CHECK((x) == 0)
