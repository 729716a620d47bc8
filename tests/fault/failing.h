/* SPDX-License-Identifier: MIT */
/*
 * failing: what if the n-th system call of this program failed, or the program
 * died right before it?
 *
 * Runs a command under ptrace with all its threads, and children unless it is to
 * trace them itself. System calls
 * are counted over all of them in the order in which they begin, from 1, the
 * first one after the exec. The n-th does not happen and returns -errno, or its
 * process is killed with SIGKILL before it, or another one is. From then on nothing is counted,
 * and the rest of the run is not slowed down any more.
 *
 * A process that the command itself traces stays its tracee: none of that is
 * followed here.
 */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine.h"

enum { FAILING_COUNT = 0, FAILING_FIRST = -1, FAILING_NONE = -2 };	/* for n */

/* Seconds for an end, an answer, progress: PATIENCE times as many where all is slow (tests/run). */
static inline int failing_patience(void)
{
	const char *times = getenv("PATIENCE");

	return 60 * (times && atoi(times) > 0 ? atoi(times) : 1);
}

struct failing_want {
	const char *text;	/* a call whose path contains it is noted */
	bool from_text;		/* and counting begins with that one */
	bool from_thread;	/* it begins with the command's second thread, and what
				 * is before is not slowed down, nor noted */
	long n;			/* which one; or none, with or without a count */
	long nr;		/* FAILING_FIRST: the first with this number */
	long only;		/* calls of this number count, no others; 0: all */
	long first;		/* and of these those with this first argument; 0: all */
	const char *meanwhile;	/* a command of the shell, for which the n-th waits, to be
				 * made then as it is; or NULL */
	int err;		/* positive */
	bool do_kill;
	pid_t other;		/* ends before it, which is not touched; or 0 */
	bool alone;		/* without its children */
	void (*waits)(void);	/* called once, when it first waits by ppoll; or NULL */
	int out, errors;	/* descriptors of the command; -1: ours */
	int seconds;		/* until it is killed; 0: any number */
};

struct failing_run {
	long count;		/* calls up to the n-th, or all of them */
	long number;		/* what the n-th was; -1: there was none */
	bool noted;		/* a path had contained `text` by then */
	bool endless;		/* killed, for it did not end in time */
	int status;		/* of the main process, as wait gives it */
	/* Only while it runs: */
	const struct failing_want *want;
	pid_t main, failing;	/* the latter's exit stop sets the result */
	bool begun, done;	/* counting has begun; the n-th is behind us */
	bool threaded;		/* there has been a second thread */
	bool waited;		/* want->waits was called */
	int waited_for;		/* what came of want->meanwhile */
};

/* Calls of one number alone are asked for: a filter stops at these, and the thousands of others
 * are made without two stops each. (A command that this one starts and traces has the filter, too,
 * and no tracer that knows of it, so that these calls fail there.) */
static bool failing_is_filtered(const struct failing_want *w)
{
	return w->only && !w->text && !w->waits;
}

static bool failing_filter(long nr)
{
	struct sock_filter code[] = {
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)nr },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRACE },
		{ BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Entry and exit stops look the same but for PTRACE_GET_SYSCALL_INFO; what the filter stops at has
 * the number and the arguments where an entry has them. */
static bool failing_is_entry(pid_t tid, struct __ptrace_syscall_info *info)
{
	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(*info), info) > 0 &&
		(info->op == PTRACE_SYSCALL_INFO_ENTRY || info->op == PTRACE_SYSCALL_INFO_SECCOMP);
}

/* A string of the tracee; false if it cannot be read. */
static bool failing_string(pid_t tid, uint64_t at, char *out, size_t size)
{
	struct iovec to = { out, size - 1 };
	struct iovec from = { (void *)(uintptr_t)at, size - 1 };
	ssize_t got;

	/* Not across the page's end, behind which nothing may be. */
	if (from.iov_len > 4096 - at % 4096)
		from.iov_len = 4096 - at % 4096;
	got = process_vm_readv(tid, &to, 1, &from, 1, 0);
	out[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static bool failing_names(pid_t tid, const struct __ptrace_syscall_info *info,
			  const char *what)
{
	uint64_t path;
	char text[512];

	switch (info->entry.nr) {
#ifdef SYS_open			/* newer instruction sets have none of these */
	case SYS_open: case SYS_stat: case SYS_lstat: case SYS_readlink:
	case SYS_access:
		path = info->entry.args[0];
		break;
#endif
	case SYS_openat: case SYS_newfstatat: case SYS_readlinkat:
	case SYS_faccessat: case SYS_faccessat2: case SYS_statx:
		path = info->entry.args[1];
		break;
	default:
		return false;
	}
	return failing_string(tid, path, text, sizeof(text)) &&
		strstr(text, what);
}

/* These cannot fail: a program that ends, or returns from a handler; brk,
 * whose result is an address, so that a C library would take any error for one,
 * and use memory that is not there; and what the threads of a program wait for each
 * other by, in its own memory: a C library does not ask whether it has woken one. */
static bool failing_cannot(uint64_t nr)
{
	return nr == SYS_exit || nr == SYS_exit_group || nr == SYS_rt_sigreturn ||
		nr == SYS_brk || nr == SYS_futex;
}

static pid_t failing_process(pid_t tid)
{
	char path[64], line[128];
	pid_t pid = tid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static void failing_skip(struct failing_run *r, pid_t tid)
{
	if (machine_skip_call(tid))
		r->failing = tid;
}

static bool failing_is_it(const struct failing_run *r, uint64_t nr)
{
	return r->want->n == FAILING_FIRST ? (long)nr == r->want->nr :
		r->count == r->want->n;
}

/* Killed, and its memory gone: it cannot be read any more. */
static void failing_end(pid_t pid)
{
	struct timespec moment = { 0, 1000000 };
	char path[64], byte;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	kill(pid, SIGKILL);
	for (int i = 0; i < 20000 && fd >= 0 && pread(fd, &byte, 1, 0) != 0; i++)
		nanosleep(&moment, NULL);
	close(fd);
}

/* Nothing is to be seen yet. */
static bool failing_is_early(const struct failing_run *r)
{
	return r->want->from_thread && !r->threaded;
}

static void failing_entry(struct failing_run *r, pid_t tid,
			  const struct __ptrace_syscall_info *info)
{
	const struct failing_want *w = r->want;

	if (w->text && !r->noted && failing_names(tid, info, w->text))
		r->noted = true;
	if (w->waits && !r->waited && info->entry.nr == SYS_ppoll) {
		r->waited = true;
		w->waits();
	}
	if (!r->begun || (w->from_text && !r->noted) || failing_is_early(r) || r->done ||
	    failing_cannot(info->entry.nr) ||
	    (w->only && (uint64_t)w->only != info->entry.nr) ||
	    (w->first && (uint64_t)w->first != info->entry.args[0]))
		return;
	r->count++;
	if (!failing_is_it(r, info->entry.nr))
		return;
	r->number = info->entry.nr;
	r->done = true;
	if (w->meanwhile)
		r->waited_for = system(w->meanwhile);
	else if (w->other)
		failing_end(w->other);
	else if (w->do_kill)
		kill(failing_process(tid), SIGKILL);
	else
		failing_skip(r, tid);
}

static void failing_exit(struct failing_run *r, pid_t tid)
{
	if (tid != r->failing)
		return;
	r->failing = 0;
	machine_set_result(tid, -(long)r->want->err);
}

/* Nothing is left to be seen. */
static bool failing_is_over(const struct failing_run *r)
{
	return r->done && !r->failing && (!r->want->waits || r->waited);
}

/* One stop of one thread; goes on from it. */
static void failing_stop(struct failing_run *r, pid_t tid, int status)
{
	struct __ptrace_syscall_info info;
	int request, event = status >> 16, sig = event ? 0 : WSTOPSIG(status);

	if (sig == (SIGTRAP | 0x80) || event == PTRACE_EVENT_SECCOMP) {
		sig = 0;
		if (failing_is_entry(tid, &info))
			failing_entry(r, tid, &info);
		else
			failing_exit(r, tid);
	}
	r->begun |= event == PTRACE_EVENT_EXEC;
	/* The new one may be seen before its birth is. */
	r->threaded |= event == PTRACE_EVENT_CLONE || tid != r->main;
	/* A group stop: stay stopped, but listen. */
	if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP)
		request = PTRACE_LISTEN;
	else
		request = failing_is_over(r) || failing_is_early(r) ||
			(failing_is_filtered(r->want) && tid != r->failing) ?
			PTRACE_CONT : PTRACE_SYSCALL;
	ptrace(request, tid, 0, sig);
}

static void failing_tick(int sig)
{
	(void)sig;
}

/* Waits are interrupted every second, so that a deadline is seen. */
static void failing_clock(bool on)
{
	struct itimerval each = { { on, 0 }, { on, 0 } };
	struct sigaction act = { .sa_handler = failing_tick };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
}

static void failing_follow(struct failing_run *r)
{
	time_t end = time(NULL) + r->want->seconds;

	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (r->want->seconds && !r->endless && time(NULL) > end) {
			r->endless = true;
			kill(r->main, SIGKILL);
		}
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return;
		if (WIFSTOPPED(status))
			failing_stop(r, tid, status);
		else if (tid == r->main)
			r->status = status;
		/* Children that we have besides may live on. */
		if (tid == r->main && !WIFSTOPPED(status))
			return;
	}
}

/* Sanitizers need memory of their own, and end a program for which such a call fails, or
 * hang in telling so. To the target that is any other death of its tracer. */
static inline bool failing_sanitizer_gave_up(const char *said)
{
	return strstr(said, "ERROR: AddressSanitizer failed to ") ||
		strstr(said, "Sanitizer: CHECK failed") ||
		strstr(said, "allocator is out of memory");
}

/* Has one something to say of inject? */
static inline bool failing_sanitizer_found(const char *said)
{
	return !failing_sanitizer_gave_up(said) && (strstr(said, ": runtime error: ") ||
		strstr(said, "ERROR: AddressSanitizer: ") || strstr(said, "LeakSanitizer: "));
}

/* A process that outlives the main one stays our tracee: it goes on, and is reaped. */
static inline void failing_rest(void)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, tid, 0,
			       status >> 16 || WSTOPSIG(status) & 0x80 ? 0 : WSTOPSIG(status));
}

static void failing_child(const struct failing_want *w, int go, char **command)
{
	char c;

	if (w->out >= 0)
		dup2(w->out, STDOUT_FILENO);
	if (w->errors >= 0)
		dup2(w->errors, STDERR_FILENO);
	if (failing_is_filtered(w) && !failing_filter(w->only))
		perror("filter");
	else if (read(go, &c, 1) == 1)
		execvp(command[0], command);
	_exit(127);
}

/* 0, or -1 with errno if the command could not be started under ptrace. */
static int failing_run(const struct failing_want *w, char **command,
		       struct failing_run *ret)
{
	int go[2];
	char c = 0;

	*ret = (struct failing_run){ .want = w, .number = -1,
		.done = w->n == FAILING_NONE };
	if (pipe2(go, O_CLOEXEC))
		return -1;
	ret->main = fork();
	if (ret->main == 0)
		failing_child(w, go[0], command);
	/* After an interrupt system calls are reported. */
	bool ready = ret->main > 0 &&
		ptrace(PTRACE_SEIZE, ret->main, 0, PTRACE_O_TRACESYSGOOD |
		       PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL |
		       (failing_is_filtered(w) ? PTRACE_O_TRACESECCOMP : 0) |
		       (w->alone ? 0 : PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)) == 0 &&
		ptrace(PTRACE_INTERRUPT, ret->main, 0, 0) == 0 &&
		write(go[1], &c, 1) == 1;
	close(go[0]);
	close(go[1]);
	if (!ready && ret->main > 0)
		kill(ret->main, SIGKILL);
	if (ret->main < 0)
		return -1;
	failing_clock(true);
	failing_follow(ret);
	failing_clock(false);
	return ready ? 0 : -1;
}

#endif
