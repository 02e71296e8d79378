// SPDX-License-Identifier: MIT OR GPL-2.0
/* Shows a parameter in /sys/module and does nothing. It needs a symbol of
 * ib_core, so that it loads only where what it was built for runs. */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static char *greeting = "hello";
module_param(greeting, charp, 0444);

static int __init guesttest_init(void)
{
	pr_info("guesttest: %s\n", ib_wc_status_msg(IB_WC_SUCCESS));
	return 0;
}

static void __exit guesttest_exit(void)
{
}

module_init(guesttest_init);
module_exit(guesttest_exit);
MODULE_DESCRIPTION("test of a test");
MODULE_LICENSE("Dual MIT/GPL");
