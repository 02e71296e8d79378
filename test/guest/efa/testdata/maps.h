/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Notes the mappings of libefa, which has no interface for its rings and registers. */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct { uint8_t *at; size_t length; } maps[64];
static int mapped;

void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	long at = syscall(SYS_mmap, addr, length, prot, flags, fd, offset);

	if (at != -1 && fd >= 0 && flags & MAP_SHARED && mapped < 64) {
		maps[mapped].at = (uint8_t *)at;
		maps[mapped++].length = length;
	}
	return (void *)at;
}

void *mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	return mmap(addr, length, prot, flags, fd, offset);
}
