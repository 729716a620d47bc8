/* SPDX-License-Identifier: MIT */
#include "injector/ptrace/preflight.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "injector/proc/groups.h"
#include "injector/proc/procfs.h"
#include "injector/proc/sharing.h"
#include "injector/proc/tracer.h"
#include "injector/ptrace/seccomp.h"

enum {
	LOOKS = 20,		/* at another tracer */
	REST = 10 * 1000 * 1000,	/* ns between them */
};

struct looked {
	pid_t pid;
	const char *what;	/* cannot be done to it */
	char comm[32];
	char user[40];		/* ", user NAME" or "" */
};

/* Of the file alone: getpwuid would want to load libraries, which a static inject
 * does not bring along. */
static const char *user_name(uid_t uid, char *buf, size_t size)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *pw = NULL;

	while (f && (pw = fgetpwent(f)) && pw->pw_uid != uid)
		;
	if (pw)
		snprintf(buf, size, "%s", pw->pw_name);
	else
		snprintf(buf, size, "%u", uid);
	if (f)
		fclose(f);
	return buf;
}

/* What it becomes after that does not matter. (Strict seccomp mode does: it forbids the
 * clock, where a kernel can.) */
#define FROM_ITS_START "such a program is traced from its start: inject -f GLOB -- COMMAND"

#define REFUSE(l, err, fmt, ...) \
	fail_as(err, "cannot %s %d (%s%s): " fmt, (l)->what, (l)->pid, (l)->comm, \
		(l)->user, ##__VA_ARGS__)
/* fail() without strerror's text, but with an errno of its own. */
#define fail_as(err, ...) (fail(0, __VA_ARGS__), -(err))

static int exists(struct looked *l)
{
	struct stat st;
	char path[64], owner[32];

	snprintf(path, sizeof(path), "/proc/%d", l->pid);
	if (stat(path, &st) < 0 && errno == ENOENT)
		return fail_as(ESRCH, "cannot %s %d: no such process", l->what, l->pid);
	if (stat(path, &st) < 0 || !procfs_state(l->pid, 0))
		return fail(errno, "cannot %s %d: look at %s", l->what, l->pid, path);
	procfs_comm(l->pid, l->comm, sizeof(l->comm));
	if (st.st_uid != geteuid())
		snprintf(l->user, sizeof(l->user), ", user %s",
			 user_name(st.st_uid, owner, sizeof(owner)));
	int64_t tgid = procfs_status(l->pid, 0, "Tgid", 10, l->pid);
	if (tgid != l->pid)
		return REFUSE(l, EINVAL, "that is a thread of process %d; try -p %d",
			      (int)tgid, (int)tgid);
	return 0;
}

static int has_memory(const struct looked *l)
{
	char state = procfs_state(l->pid, 0);

	if (state == 'X' || (state == 'Z' && !procfs_live_thread(l->pid)))
		return REFUSE(l, ESRCH, "it has ended and waits for its parent (zombie)");
	if (procfs_is_kernel(l->pid))
		return REFUSE(l, EINVAL, "it is a kernel thread; ftrace and perf trace the "
			      "kernel");
	return 0;
}

/* Yama's kernel.yama.ptrace_scope; 0: as if it were not there. */
static uint64_t yama_scope(void)
{
	uint64_t scope;

	return procfs_number("/proc/sys/kernel/yama/ptrace_scope", &scope) ? scope : 0;
}

static int not_permitted(const struct looked *l)
{
	uint64_t scope = yama_scope();
	char name[32];

	if (scope == 3)
		return REFUSE(l, EPERM, "kernel.yama.ptrace_scope is 3: tracing is forbidden until "
			      "this machine starts anew");
	if (geteuid() == 0)
		return REFUSE(l, EPERM, "not permitted for root here: it has capabilities that "
			      "inject lacks, or a security module forbids it");
	/* The files are the user's own: to trace them is one right, to open them another. */
	if (procfs_has_cap(getpid(), CAP_SYS_PTRACE) && l->user[0])
		return REFUSE(l, EPERM, "CAP_SYS_PTRACE is not enough for another user's "
			      "process; CAP_DAC_OVERRIDE is needed, too");
	user_name(geteuid(), name, sizeof(name));
	/* One's own process, but not one's child. */
	if (scope == 1 && !l->user[0])
		return REFUSE(l, EPERM, "not permitted for %s, for kernel.yama.ptrace_scope is 1; "
			      "try sudo, or start it: inject -f GLOB -- COMMAND", name);
	return REFUSE(l, EPERM, "not permitted for %s; try sudo", name);
}

/* A file of /proc that can be opened only with the right to trace. */
static int can_open(const struct looked *l, const char *name, int flags)
{
	char path[80], dir[64], byte;

	procfs_dir(l->pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	auto_close int fd = open(path, flags | O_CLOEXEC);
	int err = fd < 0 || pread(fd, &byte, 0, 0) < 0 ? errno : 0;
	if (fd < 0 && (err == EACCES || err == EPERM))
		return not_permitted(l);
	return err ? REFUSE(l, err, "%s", strerror(err)) : 0;
}

static int right_state(const struct looked *l)
{
	int err = has_memory(l);

	if (err)
		return err;
	if (l->pid == getpid())
		return REFUSE(l, EINVAL, "that is inject itself");
	pid_t tracer = tracer_of(l->pid);
	/* It may be letting go of one thread after the other. */
	for (int i = 0; tracer && i < LOOKS; i++) {
		nanosleep(&(struct timespec){ 0, REST }, NULL);
		tracer = tracer_of(l->pid);
	}
	if (tracer) {
		char name[32];

		procfs_comm(tracer, name, sizeof(name));
		return REFUSE(l, EBUSY, "already traced by %s (pid %d); that has to detach "
			      "first", name, tracer);
	}
	return can_open(l, "mem", O_RDWR);
}

/* None of its threads could be borrowed. To remove probes is possible. */
static int is_running(const struct looked *l)
{
	char state = procfs_state(l->pid, procfs_front(l->pid));

	if (state == 'T' || state == 't')
		return REFUSE(l, EBUSY, "it is stopped; continue it first (kill -CONT %d)",
			      l->pid);
	return 0;
}

/* Here, before anything is mapped; one that comes later is seen when all are stopped. */
static int has_own_memory(const struct looked *l)
{
	pid_t other = sharing_process(l->pid);
	char name[32];

	if (!other)
		return 0;
	procfs_comm(other, name, sizeof(name));
	return REFUSE(l, EAGAIN, "process %d (%s), of vfork or clone, shares the memory of %d "
		      "and cannot be stopped with it; try again when it has ended or executed "
		      "a program", other, name, l->pid);
}

static int right_machine(const struct looked *l)
{
	char path[80], dir[64];
	Elf64_Ehdr eh;

	procfs_dir(l->pid, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/exe", dir);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0)
		return REFUSE(l, ENOEXEC, "its executable cannot be read");
	if (eh.e_ident[EI_CLASS] != ELFCLASS64)
		return REFUSE(l, ENOEXEC, "it is a 32-bit process; inject traces 64-bit ones");
	if (eh.e_machine != arch_host()->machine)
		return REFUSE(l, ENOEXEC, "it runs another instruction set (ELF machine %u); "
			      "an inject that is built for that may do", eh.e_machine);
	return 0;
}

/* Each thread has a mode of its own. That of the main thread, unless there is
 * one that is not confined: then that one can be borrowed. */
static int64_t seccomp_mode(pid_t pid)
{
	return procfs_all_filtered(pid) ? procfs_status(pid, 0, "Seccomp", 10, 0) : 0;
}

static int right_seccomp(const struct looked *l)
{
	const char *why;

	switch (seccomp_mode(l->pid)) {
	case 1:
		return REFUSE(l, EPERM, "it is in strict seccomp mode: any system call that "
			      "loading needs would kill it");
	case 2:
		if (seccomp_readable(&why))
			return 0;
		return REFUSE(l, EPERM, "it has a seccomp filter, which might kill it for the "
			      "system calls that loading needs, and cannot be read: %s; or "
			      FROM_ITS_START, why);
	default:
		return 0;
	}
}

int preflight_refuse_filter(pid_t pid, const char *call, bool harm)
{
	struct looked l = { .pid = pid, .what = "attach to" };

	procfs_comm(pid, l.comm, sizeof(l.comm));
	if (!call)
		return REFUSE(&l, EPERM, "its seccomp filter cannot be read; " FROM_ITS_START);
	return REFUSE(&l, EPERM, "its seccomp filter %s %s, which loading needs; " FROM_ITS_START,
		      harm ? "may kill it for" : "does not allow", call);
}

/* Its memory goes before its state says so. */
static bool has_ended(pid_t pid)
{
	return procfs_status(pid, procfs_front(pid), "VmSize", 10, -1) < 0 &&
		!procfs_is_kernel(pid);
}

/* Of a process that ends while we look nothing is as it must be. */
static int unless_ended(const struct looked *l, int err)
{
	if (!err || err == -ESRCH || !has_ended(l->pid))
		return err;
	fail_clear();
	return REFUSE(l, ESRCH, "it has ended");
}

static int not_frozen(const struct looked *l)
{
	if (groups_frozen(l->pid))
		return REFUSE(l, EBUSY, "its control group is frozen; thaw that first");
	return 0;
}

static int look_basic(struct looked *l)
{
	int err = exists(l);

	err = err ? err : right_state(l);
	err = err ? err : not_frozen(l);
	return err ? err : right_machine(l);
}

int preflight_stop(pid_t pid)
{
	struct looked l = { .pid = pid, .what = "attach to" };

	return unless_ended(&l, look_basic(&l));
}

int preflight(pid_t pid)
{
	struct looked l = { .pid = pid, .what = "attach to" };
	int err = look_basic(&l);

	err = err ? err : is_running(&l);
	err = err ? err : has_own_memory(&l);
	err = err ? err : right_seccomp(&l);
	return unless_ended(&l, err);
}

int preflight_list(pid_t pid)
{
	struct looked l = { .pid = pid, .what = "list" };
	int err = exists(&l);

	err = err ? err : has_memory(&l);
	err = err ? err : can_open(&l, "maps", O_RDONLY);
	return unless_ended(&l, err);
}

int preflight_session(pid_t pid)
{
	struct looked l = { .pid = pid, .what = "look at" };
	int err = exists(&l);

	err = err ? err : has_memory(&l);
	err = err ? err : can_open(&l, "mem", O_RDWR);
	return unless_ended(&l, err);
}

int preflight_again(int (*check)(pid_t), pid_t pid, int err)
{
	struct looked l = { .pid = pid, .what = "look at" };
	struct cause cause = fail_keep();
	int now = check(pid);

	if (!now && err)
		now = exists(&l);
	/* Its memory goes before it has ended. */
	if (!now && err == -ESRCH && (has_ended(pid) || procfs_is_ending(pid)))
		now = REFUSE(&l, ESRCH, "it has ended");
	else if (!now && err != -ESRCH)
		now = unless_ended(&l, err);
	if (now == -ESRCH)
		return now;
	fail_give_back(&cause);
	if (!err)
		fail_clear();
	return err;
}

int preflight_started(pid_t pid)
{
	struct looked l = { .pid = pid, .what = "attach to" };
	int err = preflight_stop(pid);

	procfs_comm(pid, l.comm, sizeof(l.comm));
	return err ? err : right_seccomp(&l);
}
