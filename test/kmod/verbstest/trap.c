// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Doorbell pages that see each store, as an adapter does: they are never present, and the
 * fault handler decodes the store instruction, calls the driver and skips the instruction.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "engine.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define vm_flags_set(vma, flags)	((vma)->vm_flags |= (flags))
#endif

#ifdef CONFIG_X86_64
/* A decoded store: instruction length, value, and its size in bytes. */
struct store {
	unsigned int length, size;
	u64 value;
};

static u64 get_register(const struct pt_regs *regs, unsigned int n)
{
	const unsigned long all[16] = {
		regs->ax, regs->cx, regs->dx, regs->bx, regs->sp, regs->bp, regs->si, regs->di,
		regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15,
	};

	return all[n];
}

/* The length of the displacement behind a ModRM byte, with the SIB byte in front. */
static unsigned int address_length(u8 modrm, u8 sib)
{
	u8 mod = modrm >> 6, rm = modrm & 7;
	unsigned int n = rm == 4;

	if (mod == 1)
		return n + 1;
	if (mod == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		return n + 4;
	return n;
}

/*
 * Decodes mov, movnti and xchg from a general register, and mov of a constant, with 32 or
 * 64 bits (Intel's manual, volume 2, 2.1). The result of an exchange is not stored.
 */
static bool decode(const struct pt_regs *regs, const u8 *code, struct store *s)
{
	unsigned int i = 0, rex = 0;
	u8 op, modrm;

	if ((code[i] & 0xf0) == 0x40)
		rex = code[i++];
	op = code[i++];
	if (op == 0x0f && code[i++] != 0xc3)
		return false;
	modrm = code[i++];
	if ((op != 0x89 && op != 0x87 && op != 0xc7 && op != 0x0f) || modrm >> 6 == 3)
		return false;
	i += address_length(modrm, code[i]);
	s->size = rex & 8 ? 8 : 4;
	if (op == 0xc7) {
		s32 constant;

		memcpy(&constant, code + i, 4);
		s->value = (s64)constant;
		i += 4;
	} else {
		s->value = get_register(regs, (modrm >> 3 & 7) | (rex & 4) << 1);
	}
	if (s->size == 4)
		s->value = (u32)s->value;
	s->length = i;
	return true;
}

static vm_fault_t fault(struct vm_fault *vmf)
{
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT | (vmf->real_address & ~PAGE_MASK);
	struct pt_regs *regs = task_pt_regs(current);
	struct store s;
	u8 code[16];
	unsigned long left;

	if (!(vmf->flags & FAULT_FLAG_WRITE) || !(vmf->flags & FAULT_FLAG_USER))
		return VM_FAULT_SIGBUS;
	pagefault_disable();
	left = __copy_from_user_inatomic(code, (void __user *)regs->ip, sizeof(code));
	pagefault_enable();
	if (left || !decode(regs, code, &s) || !IS_ALIGNED(offset, s.size)) {
		ts_violation("access to the doorbells with the instruction %16ph", code);
		return VM_FAULT_SIGBUS;
	}
	mutex_lock(&ts_lock);
	if (!READ_ONCE(ts_removed))
		ts_abi->bell(offset, s.value, s.size);
	mutex_unlock(&ts_lock);
	regs->ip += s.length;
	return VM_FAULT_NOPAGE;
}
#else
static vm_fault_t fault(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}
#endif

/* The mapping may outlive its device and the file, but not the handler. */
static void open(struct vm_area_struct *vma)
{
	__module_get(THIS_MODULE);
}

static void close(struct vm_area_struct *vma)
{
	module_put(THIS_MODULE);
}

static const struct vm_operations_struct trap_ops = { .open = open, .close = close, .fault = fault };

int ts_trap(struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	open(vma);
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTCOPY);
	vma->vm_ops = &trap_ops;
	return 0;
}

/* Doorbells without an effect, for a driver that finds requests by their valid bits. */
int ts_ignore_bells(struct vm_area_struct *vma)
{
	static u8 page[PAGE_SIZE] __aligned(PAGE_SIZE);

	return vm_insert_page(vma, vma->vm_start, vmalloc_to_page(page));
}
