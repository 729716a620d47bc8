/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "injector/proc/procfs.h"
#include "injector/ptrace/cbpf.h"

enum {
	MOST_FILTERS = 1000,	/* the kernel stops at 32768 instructions and more for each */
	ARGS = 6,
};

/* A call that we make of every thread that is borrowed, or may have to. */
struct need {
	const char *name;
	long nr;
	unsigned int known;	/* arguments, as bits */
	uint64_t args[ARGS];
	bool may_fail;
};

#define PROT(prot) { "mmap", SYS_mmap, 1 << 2, { [2] = prot }, false }
#define ADVICE(advice, fails) { "madvise", SYS_madvise, 1 << 2, { [2] = advice }, fails }

/* Memory of each kind (infect*.c, payload/loader.c), the session's memfd, and first of all
 * the way back of a thread whose inject has died meanwhile (remote.h). */
static const struct need needs[] = {
	{ "rt_sigreturn", SYS_rt_sigreturn, 0, { 0 }, false },
	/* the kernel's, of a sleep that we have interrupted, if we die */
	{ "restart_syscall", SYS_restart_syscall, 0, { 0 }, false },
	PROT(PROT_NONE), PROT(PROT_READ), PROT(PROT_READ | PROT_WRITE), PROT(PROT_READ | PROT_EXEC),
	{ "munmap", SYS_munmap, 0, { 0 }, false },
	ADVICE(MADV_DONTDUMP, false), ADVICE(MADV_WIPEONFORK, false),
	ADVICE(MADV_NOHUGEPAGE, false),
	{ "memfd_create", SYS_memfd_create, 1 << 1, { [1] = MFD_CLOEXEC | MFD_ALLOW_SEALING },
	  false },
	{ "close", SYS_close, 0, { 0 }, false },
	{ "rt_sigaction", SYS_rt_sigaction, 1 << 1, { 0 }, false },
	/* payload/hello.c, and payload/loader.c when it has mapped all */
	{ "gettid", SYS_gettid, 0, { 0 }, false },
	{ "ppoll", SYS_ppoll, 0, { 0 }, false },
	{ "prctl", SYS_prctl, 1 << 0, { PR_GET_TSC }, true },
};

bool seccomp_readable(const char **why)
{
	*why = procfs_filtered(getpid(), 0) ? "inject is under one itself" :
		!procfs_has_cap(getpid(), CAP_SYS_ADMIN) ? "that takes CAP_SYS_ADMIN; try sudo" :
		NULL;
	return !*why;
}

/* The filter of that number; the oldest is 0. -ENOENT: there is none. */
static int read_one(pid_t tid, size_t number, struct sock_fprog *ret)
{
	long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, number, NULL);

	if (n < 0)
		return -errno;
	if (n == 0 || n > BPF_MAXINSNS)
		return -EINVAL;
	struct sock_filter *code = calloc((size_t)n, sizeof(*code));
	if (!code)
		return -ENOMEM;
	if (ptrace(PTRACE_SECCOMP_GET_FILTER, tid, number, code) != n) {
		free(code);
		return -EAGAIN;
	}
	*ret = (struct sock_fprog){ (unsigned short)n, code };
	return 0;
}

int seccomp_read(pid_t tid, struct seccomp_filters *ret)
{
	int err = 0;

	*ret = (struct seccomp_filters){ .tid = tid };
	while (!err && ret->n < MOST_FILTERS) {
		struct sock_fprog *more = reallocarray(ret->v, ret->n + 1, sizeof(*more));

		if (more)
			ret->v = more;
		err = more ? read_one(tid, ret->n, &ret->v[ret->n]) : -ENOMEM;
		ret->n += !err;
	}
	if (err == -ENOENT && ret->n)
		return 0;
	seccomp_forget(ret);
	return err ? err : -E2BIG;
}

void seccomp_forget(struct seccomp_filters *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].filter);
	free(f->v);
	*f = (struct seccomp_filters){ 0 };
}

/* Of all filters' answers the kernel takes the sternest. A tracer's answer (RET_TRACE) we
 * do not give, so the call fails with ENOSYS. An error of 0 says that a call was made
 * which was not: what it would have made is not there. */
static void note_answer(void *ctx, uint32_t answer)
{
	unsigned int *may = ctx;

	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		*may |= SECCOMP_PASSES;
		break;
	case SECCOMP_RET_ERRNO:
		*may |= answer & SECCOMP_RET_DATA ? SECCOMP_DENIES : SECCOMP_HARMS;
		break;
	case SECCOMP_RET_TRACE:
		*may |= SECCOMP_DENIES;
		break;
	default:
		*may |= SECCOMP_HARMS;
	}
}

/* struct seccomp_data: number, instruction set, where from (which may be anywhere), and
 * each argument, its lower half first. */
static void lay_out(long nr, const uint64_t args[ARGS], unsigned int known, struct cbpf_data *d)
{
	*d = (struct cbpf_data){ 0 };
	d->word[0] = (struct cbpf_word){ (uint32_t)nr, true };
	d->word[1] = (struct cbpf_word){ arch_host()->audit, true };
	for (size_t i = 0; i < ARGS; i++) {
		bool is = known >> i & 1;

		d->word[4 + 2 * i] = (struct cbpf_word){ (uint32_t)args[i], is };
		d->word[5 + 2 * i] = (struct cbpf_word){ (uint32_t)(args[i] >> 32), is };
	}
}

unsigned int seccomp_ask(const struct seccomp_filters *f, long nr, const uint64_t args[ARGS],
			 unsigned int known)
{
	unsigned int may = f->n ? 0 : SECCOMP_PASSES;
	struct cbpf_data data;

	lay_out(nr, args, known, &data);
	for (size_t i = 0; i < f->n; i++)
		if (!cbpf_answers(f->v[i].filter, f->v[i].len, &data, note_answer, &may))
			may |= SECCOMP_HARMS;
	return may;
}

bool seccomp_restarts(pid_t pid, pid_t tid)
{
	static const uint64_t none[ARGS];
	struct seccomp_filters f;
	int err = seccomp_read(tid, &f);

	/* It has none, or the kernel cannot tell. /proc can, but takes its time, and there
	 * may be thousands of threads. */
	if (err == -EINVAL && !procfs_filtered(pid, tid))
		return true;
	if (err)
		return false;
	bool passes = seccomp_ask(&f, SYS_restart_syscall, none, 0) == SECCOMP_PASSES;
	seccomp_forget(&f);
	return passes;
}

bool seccomp_lends(const struct seccomp_filters *f, const char **call, bool *harm)
{
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		unsigned int may = seccomp_ask(f, needs[i].nr, needs[i].args, needs[i].known);

		*call = needs[i].name;
		*harm = may & SECCOMP_HARMS;
		if (*harm || (may & SECCOMP_DENIES && !needs[i].may_fail))
			return false;
	}
	return true;
}
