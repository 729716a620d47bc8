/* SPDX-License-Identifier: MIT */
/* regs, x86-64: the registers of a stopped thread. */
#include "arch/regs.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "arch/leaks.h"

/* Kernel-internal results that ptrace can see: include/linux/errno.h. */
enum {
	ERESTARTSYS_ = 512,
	ERESTARTNOINTR_ = 513,
	ERESTARTNOHAND_ = 514,
	ERESTART_RESTARTBLOCK_ = 516,
};

_Static_assert(sizeof(struct user_regs_struct) <= sizeof(((struct regs *)0)->raw),
	       "struct regs holds NT_PRSTATUS");

static struct user_regs_struct *user(struct regs *r)
{
	return (struct user_regs_struct *)r->raw;
}

static const struct user_regs_struct *cuser(const struct regs *r)
{
	return (const struct user_regs_struct *)r->raw;
}

int regs_get(pid_t tid, struct regs *ret)
{
	struct iovec iov = { ret->raw, sizeof(ret->raw) };

	if (regs_request(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov) < 0)
		return fail(errno, "read the registers of thread %d", tid);
	ret->size = iov.iov_len;
	if (ret->size < sizeof(struct user_regs_struct))
		return fail(ENOEXEC, "thread %d runs 32-bit code", tid);
	return 0;
}

int regs_set(pid_t tid, const struct regs *r)
{
	struct iovec iov = { (void *)r->raw, r->size };

	if (regs_request(PTRACE_SETREGSET, tid, NT_PRSTATUS, &iov) < 0)
		return fail(errno, "set the registers of thread %d", tid);
	return 0;
}

/* Linux has the register set since 6.6, and gives it of threads that have such a stack
 * (ssp_get() in arch/x86/kernel/fpu/regset.c). */
bool regs_has_shadow(pid_t tid)
{
	enum { SHADOW_STACK = 0x204 };	/* NT_X86_SHSTK */
	uint64_t ssp;
	struct iovec iov = { &ssp, sizeof(ssp) };

	return regs_request(PTRACE_GETREGSET, tid, SHADOW_STACK, &iov) == 0;
}

int xstate_get(pid_t tid, struct xstate *ret)
{
	enum { MOST = 64 << 10 };
	struct iovec iov = { malloc(MOST), MOST };

	if (!iov.iov_base)
		return fail(ENOMEM, "save the vector state of thread %d", tid);
	if (regs_request(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &iov) < 0) {
		int err = errno;

		free(iov.iov_base);
		return fail(err, "save the vector state of thread %d", tid);
	}
	ret->bytes = iov.iov_base;
	ret->size = iov.iov_len;
	return 0;
}

int xstate_set(pid_t tid, const struct xstate *xs)
{
	struct iovec iov = { xs->bytes, xs->size };

	if (regs_request(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &iov) < 0)
		return fail(errno, "restore the vector state of thread %d", tid);
	return 0;
}

void xstate_clear(struct xstate *xs)
{
	free(xs->bytes);
	xs->bytes = NULL;
}

raddr_t regs_pc(const struct regs *r)
{
	return cuser(r)->rip;
}

void regs_set_pc(struct regs *r, raddr_t pc)
{
	user(r)->rip = pc;
}

raddr_t regs_sp(const struct regs *r)
{
	return cuser(r)->rsp;
}

raddr_t regs_tp(const struct regs *r)
{
	return cuser(r)->fs_base;
}

/* They are on the stack. */
const size_t regs_nways = 0;

void regs_ways(const struct regs *r, raddr_t ret[REGS_WAYS])
{
	(void)r, (void)ret;
}

uint64_t regs_result(const struct regs *r)
{
	return cuser(r)->rax;
}

long regs_syscall(const struct regs *r, uint64_t *first_arg)
{
	*first_arg = cuser(r)->rdi;
	return (long)cuser(r)->orig_rax >= 0 ? (long)cuser(r)->orig_rax : -1;
}

void regs_call_state(const struct regs *r, struct regs_call_state *ret)
{
	const struct user_regs_struct *u = cuser(r);

	*ret = (struct regs_call_state){
		.nr = (long)u->orig_rax >= 0 ? (long)u->orig_rax : -1,
		.arg = { u->rdi, u->rsi, u->rdx, u->r10, u->r8, u->r9 },
		.result = (int64_t)u->rax,
	};
}

void regs_forget_call(struct regs *r)
{
	user(r)->orig_rax = -1;
}

enum interrupted regs_interrupted(const struct regs *r)
{
	const struct user_regs_struct *u = cuser(r);
	long nr = (long)u->orig_rax, res = (long)u->rax;
	struct regs_call_state call;

	if (nr < 0)
		return INTERRUPTED_NONE;
	switch (-res) {
	case ERESTARTSYS_: case ERESTARTNOINTR_: case ERESTARTNOHAND_:
		return INTERRUPTED_RESTARTS;
	case ERESTART_RESTARTBLOCK_:
		return INTERRUPTED_BLOCK;
	case EINTR:
		regs_call_state(r, &call);
		return leaks_eintr(nr, call.arg) ? INTERRUPTED_EINTR : INTERRUPTED_NONE;
	}
	return INTERRUPTED_NONE;
}

void regs_repair(struct regs *r)
{
	user(r)->rax = -ERESTARTNOHAND_;
}

raddr_t regs_call_site(const struct regs *r)
{
	enum { SYSCALL_SIZE = 2 };

	return cuser(r)->rip - SYSCALL_SIZE;
}

void regs_rewind(struct regs *r)
{
	enum interrupted how = regs_interrupted(r);
	struct user_regs_struct *u = user(r);

	if (how == INTERRUPTED_RESTARTS || how == INTERRUPTED_BLOCK ||
	    how == INTERRUPTED_EINTR) {
		u->rax = u->orig_rax;
		u->rip = regs_call_site(r);
	}
	u->orig_rax = -1;
}

bool regs_is_restarted(const struct regs *r)
{
	return cuser(r)->orig_rax == SYS_restart_syscall &&
		regs_interrupted(r) == INTERRUPTED_BLOCK;
}

/* docs/attach.md has how this was measured. */
enum restarts regs_restarts(long nr)
{
	switch (nr) {
	case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_poll:
	case SYS_restart_syscall:
		return RESTARTS_BLOCK;
	case SYS_futex: case SYS_wait4: case SYS_waitid: case SYS_select:
	case SYS_pselect6: case SYS_ppoll: case SYS_pause: case SYS_flock:
		return RESTARTS_ITSELF;
	case SYS_vfork:
		return RESTARTS_CHILD;
	default:
		return RESTARTS_LEAKS;
	}
}

static bool has_restart_block(uint32_t nr)
{
	return nr == SYS_nanosleep || nr == SYS_clock_nanosleep || nr == SYS_poll ||
		nr == SYS_futex;
}

void regs_name_restarted(struct regs *r, const uint8_t *code, size_t n)
{
	enum { MOV_EAX = 0xb8, MOV_SIZE = 5 };

	for (size_t i = n - MOV_SIZE + 1; i-- > 0;) {
		uint32_t nr;

		memcpy(&nr, code + i + 1, sizeof(nr));
		if (code[i] == MOV_EAX && has_restart_block(nr)) {
			user(r)->orig_rax = nr;
			return;
		}
	}
}

const bool regs_hide_call = false;

bool regs_hides_call(const struct regs *r)
{
	(void)r;
	return false;
}

void regs_met(struct regs *r, const struct asleep *before, bool still)
{
	(void)r, (void)before, (void)still;
}

void regs_ask_call(pid_t tid, struct regs *r)
{
	(void)tid, (void)r;
}

/* The kernel remembers it by the registers that it gets back. */
bool regs_goes_on(struct regs *r)
{
	(void)r;
	return true;
}

/* DF is clear at every call; the kernel would rewind a system call that it
 * believes interrupted, so there must be none: orig_rax is -1 and rax is 0. */
static void regs_prepare(struct user_regs_struct *u, raddr_t pc, raddr_t sp)
{
	u->rip = pc;
	u->rsp = sp;
	u->orig_rax = -1;
	u->rax = 0;
	u->eflags &= ~(uint64_t)(1 << 10 | 1 << 8);	/* DF, TF */
}

void regs_call(struct regs *r, raddr_t fn, const uint64_t *args, size_t nargs,
	       raddr_t sp, raddr_t back)
{
	struct user_regs_struct *u = user(r);
	unsigned long long *to[] = { (void *)&u->rdi, (void *)&u->rsi, (void *)&u->rdx,
				     (void *)&u->rcx, (void *)&u->r8, (void *)&u->r9 };

	(void)back;
	regs_prepare(u, fn, sp);
	for (size_t i = 0; i < nargs && i < ARRAY_SIZE(to); i++)
		*to[i] = args[i];
}

void regs_replace_call(struct regs *r, long nr)
{
	user(r)->orig_rax = nr;
}

void regs_call_syscall(struct regs *r, raddr_t gadget, long nr,
		       const uint64_t args[6], raddr_t sp, raddr_t back)
{
	struct user_regs_struct *u = user(r);

	(void)back;
	regs_prepare(u, gadget, sp);
	u->rax = nr;
	u->rdi = args[0];
	u->rsi = args[1];
	u->rdx = args[2];
	u->r10 = args[3];
	u->r8 = args[4];
	u->r9 = args[5];
}

const long regs_nr_set_tp = SYS_arch_prctl;

static const uint8_t syscall_ret[] = { 0x0f, 0x05, 0xc3 };
/* mov $15,%rax; syscall: what glibc's restorer has been since it exists, for
 * gdb and libgcc recognize a signal frame by these bytes. */
static const uint8_t mov15_syscall[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

static const uint8_t int3[] = { 0xcc };

/* pop %rax; ret: at the end of every C library's _init, for one. */
static const uint8_t pop_rax_ret[] = { 0x58, 0xc3 };

const struct gadget gadget_syscall_ret = { syscall_ret, sizeof(syscall_ret) };
/* arch/x86/include/uapi/asm/sigcontext.h: behind 40 bytes of struct ucontext. */
const struct frame_registers frame_registers = { 160, 168, 120, 0 };
const struct gadget gadget_sigreturn = { mov15_syscall, sizeof(mov15_syscall) };
const struct gadget gadget_pop_number = { pop_rax_ret, sizeof(pop_rax_ret) };
const struct gadget gadget_trap = { int3, sizeof(int3) };

/* The PC of the signal stands behind it. */
raddr_t regs_trapped_at(const struct regs *r)
{
	return cuser(r)->rip - sizeof(int3);
}

/* The kernel keeps all of them: System V ABI, AMD64, A.2.1. */
uint32_t regs_call_changes(void)
{
	return 0;
}

/* eflags, and %cs of 64-bit code of a user. */
bool regs_is_saved_pc(const uint64_t words[3])
{
	const uint64_t flags = 0x3f7fd7, fixed = 2, cs = 0x33;

	return !(words[1] & ~flags) && words[1] & fixed && (words[2] & 0xffff) == cs;
}
