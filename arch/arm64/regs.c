/* SPDX-License-Identifier: MIT */
/*
 * regs, arm64: the registers of a stopped thread.
 *
 * What a stop has done to a system call is not to be read from the registers alone. The
 * kernel has forgotten the call by the time that a tracer looks: it has set PC and x0 back to
 * where the call begins, if it restarts, and shows the first argument of one that does not
 * (orig_x0) in no register (arch/arm64/kernel/signal.c, do_signal()). So regs_get reads the
 * instructions at PC, too, regs_met is told what was known before the stop, and regs_ask_call
 * asks for that argument otherwise.
 */
#include "arch/regs.h"

#include <asm/hwcap.h>
#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "arch/leaks.h"
#include "payload/abi.h"

enum {
	HAS_SME = 1 << 23,	/* HWCAP2_SME */
	SVC = 0xd4000001,
	SVC_SIZE = 4,
	LR = 30,
	NR = 8,			/* the register that a call's number is in */
	ALL_REGS = sizeof(struct user_pt_regs) / sizeof(uint64_t),
	/* In struct regs, behind those of the kernel. */
	TP = ALL_REGS,
	CALL,			/* NT_ARM_SYSTEM_CALL */
	FIRST,			/* of the call that the thread comes back from, orig_x0; */
	KNOWN,			/* 1: it is known */
	STILL,			/* 1: it slept in that call right before the stop */
	CODE,			/* the words before PC, and at it */
	END,
	PSR_STEP = 1 << 21,
	PSR_BTYPE = 3 << 10,
};

_Static_assert(END <= sizeof(((struct regs *)0)->raw) / sizeof(uint64_t), "all have room");

static struct user_pt_regs *user(struct regs *r)
{
	return (struct user_pt_regs *)r->raw;
}

static const struct user_pt_regs *cuser(const struct regs *r)
{
	return (const struct user_pt_regs *)r->raw;
}

static int get_set(pid_t tid, int type, void *to, size_t size)
{
	struct iovec iov = { to, size };

	return regs_request(PTRACE_GETREGSET, tid, (uintptr_t)type, &iov) < 0 ? -errno :
		(int)iov.iov_len;
}

static int put_set(pid_t tid, int type, const void *from, size_t size)
{
	struct iovec iov = { (void *)(uintptr_t)from, size };

	return regs_request(PTRACE_SETREGSET, tid, (uintptr_t)type, &iov) < 0 ? -errno : 0;
}

/* Linux has the register set since 6.13, where the processor has such stacks (gcs_get() in
 * arch/arm64/kernel/ptrace.c): which of its parts the thread uses stands first. */
bool regs_has_shadow(pid_t tid)
{
	enum { CONTROL_STACK = 0x410, ENABLED = 1 };	/* NT_ARM_GCS */
	uint64_t gcs[3];

	return get_set(tid, CONTROL_STACK, gcs, sizeof(gcs)) > 0 && gcs[0] & ENABLED;
}

static int set_call(pid_t tid, int nr)
{
	return put_set(tid, NT_ARM_SYSTEM_CALL, &nr, sizeof(nr));
}

static uint32_t code_before(const struct regs *r)
{
	return (uint32_t)r->raw[CODE];
}

static uint32_t code_at(const struct regs *r)
{
	return (uint32_t)(r->raw[CODE] >> 32);
}

static bool comes_back(const struct regs *r)
{
	return (int)r->raw[CALL] < 0 && code_before(r) == SVC;
}

/* Where no thread has a thread pointer, what Go's runtime has of this one: cpu_thread_base(). */
static uint64_t thread_by_g(pid_t tid, const struct regs *r)
{
	enum { G = 28, G_M = 48 };

	errno = 0;
	uint64_t m = r->raw[G] ?
		(uint64_t)ptrace(PTRACE_PEEKDATA, tid, r->raw[G] + G_M, NULL) : 0;

	return errno ? 0 : m;
}

int regs_get(pid_t tid, struct regs *ret)
{
	int call = -1, n = get_set(tid, NT_PRSTATUS, ret->raw, sizeof(*cuser(ret)));
	uint64_t tp[2] = { 0 };

	if (n < 0)
		return fail(-n, "read the registers of thread %d", tid);
	if ((size_t)n < sizeof(*cuser(ret)))
		return fail(ENOEXEC, "thread %d runs 32-bit code", tid);
	ret->size = sizeof(*cuser(ret));
	n = get_set(tid, NT_ARM_TLS, tp, sizeof(tp));
	n = n < 0 ? n : get_set(tid, NT_ARM_SYSTEM_CALL, &call, sizeof(call));
	if (n < 0)
		return fail(-n, "read the thread pointer and system call of thread %d", tid);
	ret->raw[TP] = tp[0] ? tp[0] : thread_by_g(tid, ret);
	ret->raw[CALL] = (uint64_t)(int64_t)call;
	ret->raw[FIRST] = ret->raw[KNOWN] = ret->raw[STILL] = 0;
	errno = 0;
	ret->raw[CODE] = (uint64_t)ptrace(PTRACE_PEEKTEXT, tid, cuser(ret)->pc - SVC_SIZE, NULL);
	if (errno)
		ret->raw[CODE] = 0;
	return 0;
}

int regs_set(pid_t tid, const struct regs *r)
{
	int err = put_set(tid, NT_PRSTATUS, r->raw, r->size);

	err = err ? err : set_call(tid, (int)r->raw[CALL]);
	return err ? fail(-err, "set the registers of thread %d", tid) : 0;
}

raddr_t regs_pc(const struct regs *r)
{
	return cuser(r)->pc;
}

void regs_set_pc(struct regs *r, raddr_t pc)
{
	user(r)->pc = pc;
	user(r)->pstate &= ~(uint64_t)PSR_BTYPE;
	r->raw[CODE] = 0;
}

raddr_t regs_sp(const struct regs *r)
{
	return cuser(r)->sp;
}

raddr_t regs_tp(const struct regs *r)
{
	return r->raw[TP];
}

uint64_t regs_result(const struct regs *r)
{
	return r->raw[0];
}

const size_t regs_nways = 2;

/* x16 until an unwinder's question is on the stack: slow_find. */
void regs_ways(const struct regs *r, raddr_t ret[REGS_WAYS])
{
	ret[0] = r->raw[LR];
	ret[1] = r->raw[16];
}

long regs_syscall(const struct regs *r, uint64_t *first_arg)
{
	*first_arg = r->raw[0];
	return (int)r->raw[CALL];
}

void regs_call_state(const struct regs *r, struct regs_call_state *ret)
{
	bool back = comes_back(r) && r->raw[KNOWN];

	*ret = (struct regs_call_state){
		.nr = back ? (long)r->raw[NR] : -1,
		.arg = { r->raw[FIRST], r->raw[1], r->raw[2], r->raw[3], r->raw[4], r->raw[5] },
		.result = (int64_t)r->raw[0],
	};
}

/* The next stop is told by the instruction before PC again: there is nothing to forget. */
void regs_forget_call(struct regs *r)
{
	r->raw[CODE] = 0;
}

enum interrupted regs_interrupted(const struct regs *r)
{
	if ((int)r->raw[CALL] >= 0)
		return INTERRUPTED_NONE;
	if (code_at(r) == SVC)
		return regs_restarts((long)r->raw[NR]) == RESTARTS_BLOCK ? INTERRUPTED_BLOCK :
			INTERRUPTED_RESTARTS;
	if (comes_back(r) && (int64_t)r->raw[0] == -EINTR && r->raw[KNOWN] &&
	    leaks_eintr((long)r->raw[NR], r->raw))
		return INTERRUPTED_EINTR;
	return INTERRUPTED_NONE;
}

raddr_t regs_call_site(const struct regs *r)
{
	return code_at(r) == SVC ? cuser(r)->pc : cuser(r)->pc - SVC_SIZE;
}

/* mov x8, #nr, or w8: movz. */
static bool sets_number(uint32_t word, uint32_t *nr)
{
	*nr = word >> 5 & 0xffff;
	return (word & 0x7fe0001f) == 0x52800008;
}

/*
 * One that leaks EINTR: from its start. One with a restart block the kernel would
 * go on with by restart_syscall, if the PC is on the call; so it is put on the instruction
 * before, if that gives the call its number, and the kernel leaves the thread alone.
 */
void regs_repair(struct regs *r)
{
	uint32_t nr;

	if (regs_interrupted(r) == INTERRUPTED_EINTR) {
		user(r)->pc -= SVC_SIZE;
		r->raw[0] = r->raw[FIRST];
	} else if (sets_number(code_before(r), &nr) && nr == r->raw[NR]) {
		user(r)->pc -= SVC_SIZE;
	}
	r->raw[CODE] = 0;
}

/* Any other call the kernel has rewound already. */
void regs_rewind(struct regs *r)
{
	if (regs_interrupted(r) == INTERRUPTED_EINTR)
		regs_repair(r);
	r->raw[CALL] = -1ull;
}

bool regs_is_restarted(const struct regs *r)
{
	return r->raw[NR] == SYS_restart_syscall &&
		regs_interrupted(r) == INTERRUPTED_BLOCK;
}

/* docs/attach.md has how this was measured. */
enum restarts regs_restarts(long nr)
{
	switch (nr) {
	case SYS_nanosleep: case SYS_clock_nanosleep: case SYS_restart_syscall:
		return RESTARTS_BLOCK;
	case SYS_futex: case SYS_wait4: case SYS_waitid:
	case SYS_pselect6: case SYS_ppoll: case SYS_flock: case SYS_rt_sigsuspend:
		return RESTARTS_ITSELF;
	case SYS_clone: case SYS_clone3:	/* as vfork */
		return RESTARTS_CHILD;
	default:
		return RESTARTS_LEAKS;
	}
}

static bool has_restart_block(uint32_t nr)
{
	return nr == SYS_nanosleep || nr == SYS_clock_nanosleep || nr == SYS_futex;
}

void regs_name_restarted(struct regs *r, const uint8_t *code, size_t n)
{
	for (size_t i = n / 4; i-- > 0;) {
		uint32_t word, nr;

		memcpy(&word, code + i * 4, sizeof(word));
		if (sets_number(word, &nr) && has_restart_block(nr)) {
			r->raw[NR] = nr;
			return;
		}
	}
}

const bool regs_hide_call = true;

/* One that failed, or has done a part of what it was asked to. */
bool regs_hides_call(const struct regs *r)
{
	return comes_back(r) && ((int64_t)r->raw[0] == -EINTR || (int64_t)r->raw[0] > 0);
}

/* A thread that has woken up since may be in another call of the same place. */
void regs_met(struct regs *r, const struct asleep *before, bool still)
{
	raddr_t pc = code_at(r) == SVC ? cuser(r)->pc + SVC_SIZE : cuser(r)->pc;

	if (!before->sp || before->nr != (long)r->raw[NR] || before->sp != cuser(r)->sp ||
	    before->pc != pc)
		return;
	r->raw[STILL] = r->raw[KNOWN] = still;
	r->raw[FIRST] = before->arg;
}

/*
 * Has a handler returned to right there as the stop came? The kernel has another call's argument
 * then, and EINTR is the program's own. What the handler returned by lies below the stack pointer
 * still, but for one that ran on a stack of its own. If that is left over from an earlier
 * handler, the program has met EINTR there before.
 */
static bool left_by_handler(pid_t tid, const struct regs *r)
{
	/* A frame is of 4.6 KiB, and of 13 with all of SVE. */
	enum { PIECE = 4096, PIECES = 4 };
	uint64_t words[PIECES * PIECE / 8] = { 0 };
	struct iovec to[PIECES], from[PIECES];
	const uint64_t sp = cuser(r)->sp, pc = cuser(r)->pc;

	/* From the top on, for what is further down may not be there. */
	for (size_t i = 0; i < PIECES; i++) {
		to[i] = (struct iovec){ words + (PIECES - 1 - i) * (PIECE / 8), PIECE };
		from[i] = (struct iovec){ (void *)(sp - (i + 1) * PIECE), PIECE };
	}
	ssize_t got = process_vm_readv(tid, to, PIECES, from, PIECES, 0);
	size_t n = got > 0 ? (size_t)got / 8 : 0, end = ARRAY_SIZE(words);

	for (size_t i = end - n; i + 1 < end; i++)
		if (words[i] == sp && words[i + 1] == pc)
			return true;
	return false;
}

/*
 * The kernel has orig_x0 still, but tells of it in stops at a call alone (PTRACE_GET_SYSCALL_INFO).
 * So what it has noted for tracers of this stop says for a moment that it is one of these. No
 * other stop is called so, for a signal's note is what the thread gets with the signal.
 */
void regs_ask_call(pid_t tid, struct regs *r)
{
	struct __ptrace_syscall_info call = { 0 };
	siginfo_t stop, at_call;

	if (r->raw[KNOWN] || !comes_back(r) || (int64_t)r->raw[0] != -EINTR ||
	    !leaks_eintr((long)r->raw[NR], r->raw) || left_by_handler(tid, r) ||
	    regs_request(PTRACE_GETSIGINFO, tid, 0, &stop) < 0 ||
	    stop.si_code >> 8 != PTRACE_EVENT_STOP)
		return;
	at_call = stop;
	at_call.si_code = SIGTRAP | PTRACE_EVENT_SECCOMP << 8;
	if (regs_request(PTRACE_SETSIGINFO, tid, 0, &at_call) < 0)
		return;
	if (regs_request(PTRACE_GET_SYSCALL_INFO, tid, sizeof(call), &call) == 0 &&
	    call.op == PTRACE_SYSCALL_INFO_SECCOMP) {
		r->raw[FIRST] = call.seccomp.args[0];
		r->raw[KNOWN] = 1;
	}
	regs_request(PTRACE_SETSIGINFO, tid, 0, &stop);
}

/* By the number that the kernel itself would give it. */
bool regs_goes_on(struct regs *r)
{
	if (!r->raw[STILL])
		return false;
	r->raw[NR] = SYS_restart_syscall;
	return true;
}

static void regs_prepare(struct regs *r, raddr_t pc, raddr_t sp, raddr_t back)
{
	struct user_pt_regs *u = user(r);

	u->pc = pc;
	u->sp = sp;
	u->regs[LR] = back;
	u->pstate &= ~(uint64_t)(PSR_BTYPE | PSR_STEP);
	r->raw[CALL] = -1ull;
	r->raw[CODE] = 0;
}

void regs_call(struct regs *r, raddr_t fn, const uint64_t *args, size_t nargs,
	       raddr_t sp, raddr_t back)
{
	enum { ARGS = 6 };	/* not x7, which a tracer cannot set at a system call */

	regs_prepare(r, fn, sp, back);
	for (size_t i = 0; i < nargs && i < ARGS; i++)
		r->raw[i] = args[i];
}

void regs_replace_call(struct regs *r, long nr)
{
	r->raw[CALL] = (uint64_t)nr;
}

void regs_call_syscall(struct regs *r, raddr_t gadget, long nr,
		       const uint64_t args[6], raddr_t sp, raddr_t back)
{
	regs_call(r, gadget, args, 6, sp, back);
	r->raw[NR] = (uint64_t)nr;
}

/* The register is set without one. */
const long regs_nr_set_tp = -1;

static const uint8_t svc_ret[] = { 0x01, 0, 0, 0xd4, 0xc0, 0x03, 0x5f, 0xd6 };
/* mov x8, #139; svc #0: the vdso's, to which the kernel lets every handler return. gdb and
 * libgcc recognize a signal frame by these bytes. */
static const uint8_t mov139_svc[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
static const uint8_t brk0[] = { 0, 0, 0x20, 0xd4 };

const struct gadget gadget_syscall_ret = { svc_ret, sizeof(svc_ret) };
/* arch/arm64/include/uapi/asm/sigcontext.h: behind a siginfo and 176 bytes of struct ucontext. */
const struct frame_registers frame_registers = { 560, 568, 544, 552 };
const struct gadget gadget_sigreturn = { mov139_svc, sizeof(mov139_svc) };
const struct gadget gadget_pop_number = { NULL, 0 };
const struct gadget gadget_trap = { brk0, sizeof(brk0) };

/* The PC of the signal stands on it. */
raddr_t regs_trapped_at(const struct regs *r)
{
	return cuser(r)->pc;
}

/* Documentation/arch/arm64/sve.rst and sme.rst of the kernel, "System call behaviour". */
uint32_t regs_call_changes(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_SVE ? CALL_CHANGES_LONG : 0) |
		(getauxval(AT_HWCAP2) & HAS_SME ? CALL_CHANGES_MODE : 0);
}

/* pstate of 64-bit code of a user: the mode and the masks of interrupts are 0. */
bool regs_is_saved_pc(const uint64_t words[3])
{
	const uint64_t flags = 0xf3e01c00;

	return !(words[1] & ~flags);
}
