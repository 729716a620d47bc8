/* SPDX-License-Identifier: MIT */
/*
 * regs, x86-64: a signal frame made by hand, which rt_sigreturn takes. It is
 * the return address of every remote call, so that a target whose injector
 * died in the middle restores itself.
 *
 * Layout: arch/x86/include/asm/sigframe.h (struct rt_sigframe),
 * arch/x86/kernel/fpu/signal.c (the XSAVE area and its two magic numbers).
 */
#include "arch/regs.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/user.h>

#define MAGIC1 0x46505853u
#define MAGIC2 0x46505845u

enum {
	UC_FP_XSTATE_ = 1,
	UC_SIGCONTEXT_SS_ = 2,
	UC_STRICT_RESTORE_SS_ = 4,
	SW_BYTES = 464,		/* of the XSAVE area: "software reserved" */
	XSTATE_ALIGN = 64,
};

struct sigcontext_ {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t di, si, bp, bx, dx, ax, cx, sp, ip, flags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate, reserved[8];
};

struct rt_sigframe_ {
	uint64_t pretcode;
	uint64_t uc_flags, uc_link;
	struct {
		uint64_t sp;
		int32_t flags, pad;
		uint64_t size;
	} uc_stack;
	struct sigcontext_ mc;
	uint64_t sigmask;
	uint8_t info[128];
};

struct sw_bytes {
	uint32_t magic1, extended_size;
	uint64_t xfeatures;
	uint32_t xstate_size, pad[7];
};

const int frame_popped = sizeof(uint64_t);
const uint64_t frame_mark = 0;
const int frame_mark_offset = 0;
const int frame_way_offsets[REGS_WAYS] = { 0 };
const int frame_pc_offset = offsetof(struct rt_sigframe_, mc.ip);
const int frame_sp_offset = offsetof(struct rt_sigframe_, mc.sp);
const int frame_mask_offset = offsetof(struct rt_sigframe_, sigmask);

static size_t xstate_at(raddr_t base)
{
	return ALIGN_UP(base + sizeof(struct rt_sigframe_), XSTATE_ALIGN) - base;
}

/*
 * The bytes of the area that are in use. sigreturn refuses an area larger than
 * what the thread may have (a thread that has not asked for AMX has no room for
 * it), and then restores nothing but x87 and SSE. Source: CPUID leaf 0xd,
 * arch/x86/kernel/fpu/signal.c, check_xstate_in_sigframe().
 */
static uint32_t used_size(const struct xstate *xs)
{
	enum { LEAF = 0xd, LEGACY = 576, HEADER = 512 };
	uint32_t a, b, c, d, size = LEGACY;
	uint64_t present;

	memcpy(&present, xs->bytes + HEADER, sizeof(present));
	for (unsigned int i = 2; i < 63; i++)
		if (present >> i & 1 && __get_cpuid_count(LEAF, i, &a, &b, &c, &d))
			size = MAX(size, a + b);
	return (uint32_t)MIN((size_t)size, xs->size);
}

size_t frame_space(const struct xstate *xs)
{
	return sizeof(struct rt_sigframe_) + XSTATE_ALIGN + used_size(xs) + 4 + 32;
}

size_t frame_tail(const struct xstate *xs)
{
	return xs->size - used_size(xs);
}

raddr_t frame_base(raddr_t top, const struct xstate *xs)
{
	/* As at any function's entry: sp + 8 is a multiple of 16. */
	return ALIGN_DOWN(top - frame_space(xs), 16) - 8;
}

static void fill_context(struct sigcontext_ *mc, const struct user_regs_struct *u)
{
	*mc = (struct sigcontext_){
		.r8 = u->r8, .r9 = u->r9, .r10 = u->r10, .r11 = u->r11,
		.r12 = u->r12, .r13 = u->r13, .r14 = u->r14, .r15 = u->r15,
		.di = u->rdi, .si = u->rsi, .bp = u->rbp, .bx = u->rbx,
		.dx = u->rdx, .ax = u->rax, .cx = u->rcx, .sp = u->rsp,
		.ip = u->rip, .flags = u->eflags,
		.cs = u->cs, .gs = u->gs, .fs = u->fs, .ss = u->ss,
	};
}

int64_t frame_build(const struct regs *r, const struct xstate *xs, uint64_t sigmask,
		    raddr_t base, raddr_t restorer, uint8_t **ret)
{
	uint32_t used = used_size(xs);
	size_t fp = xstate_at(base), size = fp + used + 4;
	uint8_t *bytes = calloc(1, size);
	struct rt_sigframe_ *f = (void *)bytes;
	struct sw_bytes sw = { MAGIC1, used + 4, 0, used, { 0 } };
	uint32_t magic2 = MAGIC2;

	if (!bytes)
		return fail(ENOMEM, "build a signal frame");
	f->pretcode = restorer;
	f->uc_flags = UC_FP_XSTATE_ | UC_SIGCONTEXT_SS_ | UC_STRICT_RESTORE_SS_;
	/* No valid mode: do_sigaltstack() refuses it, restore_altstack()
	 * ignores that, and the thread keeps the stack that it has. */
	f->uc_stack.flags = 0x40;
	fill_context(&f->mc, (const struct user_regs_struct *)r->raw);
	f->mc.fpstate = base + fp;
	f->sigmask = sigmask;
	memcpy(bytes + fp, xs->bytes, used);
	/* ptrace leaves the enabled features where sigreturn wants them last. */
	memcpy(&sw.xfeatures, xs->bytes + SW_BYTES, sizeof(sw.xfeatures));
	memcpy(bytes + fp + SW_BYTES, &sw, sizeof(sw));
	memcpy(bytes + fp + used, &magic2, sizeof(magic2));
	*ret = bytes;
	return size;
}
