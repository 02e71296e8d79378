// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The doorbell page of vmw_pvrdma. A hypervisor sees each write to it. So does this: the
 * page is never present, and the handler of the fault carries out the store instruction.
 */
#include <linux/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "engine.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#define vm_flags_set(vma, flags)	((vma)->vm_flags |= (flags))
#endif

#ifdef CONFIG_X86_64
/* A decoded store of 32 bits. */
struct store {
	unsigned int length;
	u32 value;
};

static u32 get_register(const struct pt_regs *regs, unsigned int n)
{
	const unsigned long all[16] = {
		regs->ax, regs->cx, regs->dx, regs->bx, regs->sp, regs->bp, regs->si, regs->di,
		regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15,
	};

	return all[n];
}

/*
 * Decodes "mov %r32, mem", "mov $imm32, mem" and "xchg %r32, mem" (Intel's manual,
 * volume 2, 2.1). The result of an exchange is not stored.
 */
static bool decode(const struct pt_regs *regs, const u8 *code, struct store *s)
{
	unsigned int i = 0, rex = 0;
	u8 op, modrm, mod, rm;

	if ((code[i] & 0xf0) == 0x40)
		rex = code[i++];
	op = code[i++];
	modrm = code[i++];
	mod = modrm >> 6;
	rm = modrm & 7;
	if ((op != 0x89 && op != 0x87 && op != 0xc7) || rex & 8 || mod == 3)
		return false;
	if (rm == 4) {
		u8 sib = code[i++];

		if (!mod && (sib & 7) == 5)
			i += 4;
	}
	if (mod == 1)
		i += 1;
	else if (mod == 2 || (!mod && rm == 5))
		i += 4;
	if (op == 0xc7) {
		memcpy(&s->value, code + i, 4);
		i += 4;
	} else {
		s->value = get_register(regs, (modrm >> 3 & 7) | (rex & 4) << 1);
	}
	s->length = i;
	return true;
}

static vm_fault_t fault(struct vm_fault *vmf)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct store s;
	u8 code[16];
	unsigned long left;

	if (!(vmf->flags & FAULT_FLAG_WRITE) || !(vmf->flags & FAULT_FLAG_USER))
		return VM_FAULT_SIGBUS;
	pagefault_disable();
	left = __copy_from_user_inatomic(code, (void __user *)regs->ip, sizeof(code));
	pagefault_enable();
	if (left || !decode(regs, code, &s)) {
		ts_violation("access to the doorbells with the instruction %16ph", code);
		return VM_FAULT_SIGBUS;
	}
	pvrdma_bell(vmf->real_address & ~PAGE_MASK, s.value);
	regs->ip += s.length;
	return VM_FAULT_NOPAGE;
}
#else
static vm_fault_t fault(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}
#endif

static const struct vm_operations_struct uar_ops = { .fault = fault };

int pvrdma_mmap(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff)
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTCOPY);
	vma->vm_ops = &uar_ops;
	return 0;
}
