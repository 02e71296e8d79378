// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A libcuda for tests: the functions that ibkit-cuda calls, on memory of udmabuf
 * or vgem. Addresses of the device are not those of the process, memory does not begin at a
 * page, and each function needs the context of its thread, as on a GPU.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, NOT_FLUSHED = 999 };

#define PAGE		4096
#define FIRST		(1ull << 60)
#define DISTANCE	(1ull << 32)
#define CONTEXT		0x77
#define SHIFT		512	/* of memory in its first page */
#define MAX_BUFFERS	64

/* Structures and requests of <drm/drm_mode.h> and <drm/drm.h>, which libdrm-dev has. */
struct dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};

struct prime {
	uint32_t handle, flags;
	int32_t fd;
};

#define CREATE_DUMB	_IOWR('d', 0xb2, struct dumb)
#define PRIME_TO_FD	_IOWR('d', 0x2d, struct prime)

static struct buffer {
	uint8_t *bytes;
	uint64_t size;	/* 0: free */
	int fd;
} buffers[MAX_BUFFERS];

static __thread uintptr_t current;
static __thread int flushed;

/* Returns a dma-buf of whole pages: of udmabuf, or with a kernel that lacks it, of vgem. */
static int export(uint64_t size)
{
	struct dumb dumb = { .width = PAGE, .height = size / PAGE, .bpp = 8 };
	struct prime prime = { .flags = O_CLOEXEC | O_RDWR, .fd = -1 };
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = size };
	int driver = open("/dev/udmabuf", O_RDWR), fd = -1;

	if (driver >= 0) {
		create.memfd = memfd_create("fake GPU", MFD_ALLOW_SEALING);
		if (!ftruncate(create.memfd, size) && !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
			fd = ioctl(driver, UDMABUF_CREATE, &create);
		close(create.memfd);
	} else {
		driver = open("/dev/dri/card0", O_RDWR);
		if (!ioctl(driver, CREATE_DUMB, &dumb)) {
			prime.handle = dumb.handle;
			ioctl(driver, PRIME_TO_FD, &prime);
			fd = prime.fd;
		}
	}
	close(driver);
	return fd;
}

/* The bytes at an address, or NULL. They begin with the second page of the address range. */
static uint8_t *at(uint64_t address, uint64_t size)
{
	uint64_t i = (address - FIRST) / DISTANCE, offset = (address - FIRST) % DISTANCE;

	if (address < FIRST || i >= MAX_BUFFERS || offset < PAGE || offset - PAGE + size > buffers[i].size)
		return NULL;
	return buffers[i].bytes + offset - PAGE;
}

int cuInit(unsigned int flags)
{
	return flags ? INVALID_VALUE : 0;
}

int cuDeviceGet(int *device, int number)
{
	*device = number;
	return number == 0 ? 0 : INVALID_DEVICE;
}

int cuDeviceGetByPCIBusId(int *device, const char *address)
{
	*device = 0;
	return strcmp(address, "0000:3b:00.0") ? INVALID_DEVICE : 0;
}

int cuDeviceGetName(char *name, int size, int device)
{
	strncpy(name, "Fake GPU", size);
	return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = attribute == 124 && access("/root/no-dmabuf", F_OK);
	return 0;
}

int cuDevicePrimaryCtxRetain(uintptr_t *context, int device)
{
	*context = CONTEXT;
	return 0;
}

int cuCtxSetCurrent(uintptr_t context)
{
	current = context;
	return 0;
}

int cuMemAlloc_v2(uint64_t *address, size_t size)
{
	int fd, i;

	if (current != CONTEXT)
		return INVALID_CONTEXT;
	for (i = 0; i < MAX_BUFFERS && buffers[i].size; i++)
		;
	size = (size + PAGE - 1) / PAGE * PAGE;
	fd = i == MAX_BUFFERS ? -1 : export(size);
	if (fd < 0)
		return OUT_OF_MEMORY;
	buffers[i] = (struct buffer){ .size = size, .fd = fd };
	buffers[i].bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memset(buffers[i].bytes, 0xee, size);
	*address = FIRST + i * DISTANCE + SHIFT;
	return 0;
}

int cuMemFree_v2(uint64_t address)
{
	struct buffer *b = &buffers[(address - FIRST) / DISTANCE];

	if (current != CONTEXT || (address - FIRST) % DISTANCE != SHIFT || !b->size)
		return INVALID_VALUE;
	munmap(b->bytes, b->size);
	close(b->fd);
	b->size = 0;
	return 0;
}

int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t size)
{
	uint8_t *p = at(address, size);

	if (current != CONTEXT)
		return INVALID_CONTEXT;
	if (!p)
		return INVALID_VALUE;
	memset(p, value, size);
	return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size)
{
	uint8_t *p = at(to, size);

	if (current != CONTEXT)
		return INVALID_CONTEXT;
	if (!p)
		return INVALID_VALUE;
	memcpy(p, from, size);
	return 0;
}

int cuFlushGPUDirectRDMAWrites(int target, int scope)
{
	flushed = 1;
	return target == 0 && scope == 100 ? 0 : INVALID_VALUE;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
	uint8_t *p = at(from, size);

	if (current != CONTEXT)
		return INVALID_CONTEXT;
	if (!p)
		return INVALID_VALUE;
	if (!flushed)
		return NOT_FLUSHED;
	flushed = 0;
	memcpy(to, p, size);
	return 0;
}

/* The range must be the whole pages of an allocation, from the second page on. */
int cuMemGetHandleForAddressRange(int *handle, uint64_t address, size_t size, int kind, uint64_t flags)
{
	if (current != CONTEXT)
		return INVALID_CONTEXT;
	if (kind != 1 || flags || size % PAGE || (address - FIRST) % DISTANCE != PAGE || !at(address, size))
		return INVALID_VALUE;
	*handle = fcntl(buffers[(address - FIRST) / DISTANCE].fd, F_DUPFD_CLOEXEC, 0);
	return 0;
}

int cuGetErrorString(int error, const char **text)
{
	*text = error == INVALID_DEVICE ? "invalid device ordinal" : "error of the fake driver";
	return 0;
}
